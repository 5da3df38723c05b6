import Heartwood

extension DocumentModel {
  /// The model as the `model` section of a file. Default values are omitted.
  var json: JSONValue {
    .object(
      JSONObject([("entities", .object(JSONObject(entities.map { ($0.name, $0.json) })))] + rest.written))
  }
}

extension DocumentEntity {
  fileprivate var json: JSONValue {
    var members: [(String, JSONValue)] = []
    if let renamed { members.append(("renamed", .string(renamed))) }
    if let superentity { members.append(("superentity", .string(superentity))) }
    if isAbstract { members.append(("abstract", .bool(true))) }
    if !attributes.isEmpty {
      members.append(("attributes", .object(JSONObject(attributes.map { ($0.name, $0.json) }))))
    }
    if !relationships.isEmpty {
      members.append(("relationships", .object(JSONObject(relationships.map { ($0.name, $0.json) }))))
    }
    let groups = [
      ("uniquenessConstraints", uniquenessConstraints), ("indexes", indexes),
      ("rangeIndexes", rangeIndexes),
    ]
    members += groups.filter { !$0.1.isEmpty }.map { name, groups in
      (name, .array(groups.map { .array($0.map { .string($0) }) }))
    }
    if !partialIndexes.isEmpty { members.append(("partialIndexes", .array(partialIndexes.map(\.json)))) }
    return .object(JSONObject(members + rest.written))
  }
}

extension DocumentPartialIndex {
  fileprivate var json: JSONValue {
    var members: [(String, JSONValue)] = [
      ("properties", .array(properties.map { .string($0) })), ("where", .string(condition)),
    ]
    if kind != .values { members.append(("kind", .string(kind.rawValue))) }
    return .object(JSONObject(members))
  }
}

extension DocumentAttribute {
  fileprivate var json: JSONValue {
    var members: [(String, JSONValue)] = [("type", .string(type.rawValue))]
    if let renamed { members.append(("renamed", .string(renamed))) }
    let flags = [
      ("optional", isOptional), ("unique", isUnique), ("indexed", isIndexed),
      ("fullText", hasFullTextIndex),
      ("preservesValueInHistoryOnDeletion", preservesValueInHistoryOnDeletion),
      ("preservesValueInHistoryOnUpdate", preservesValueInHistoryOnUpdate),
      ("transient", isTransient), ("allowsExternalStorage", allowsExternalStorage),
    ]
    members += flags.filter { $0.1 }.map { ($0.0, .bool(true)) }
    if let transformer { members.append(("transformer", .string(transformer))) }
    if let valueClass { members.append(("valueClass", .string(valueClass))) }
    if let derivation { members.append(("derived", .string(derivation))) }
    if let defaultValue { members.append(("default", defaultValue)) }
    if !elements.isEmpty {
      members.append(("elements", .object(JSONObject(elements.map { ($0.name, $0.json) }))))
    }
    return .object(JSONObject(members + rest.written))
  }
}

extension DocumentRelationship {
  fileprivate var json: JSONValue {
    var members: [(String, JSONValue)] = [("destination", .string(destination))]
    if let renamed { members.append(("renamed", .string(renamed))) }
    if isToMany { members.append(("toMany", .bool(true))) }
    if isOrdered { members.append(("ordered", .bool(true))) }
    if !isOptional { members.append(("optional", .bool(false))) }
    if minimumCount > 0 { members.append(("min", .integer(Int64(minimumCount)))) }
    if maximumCount > 0 { members.append(("max", .integer(Int64(maximumCount)))) }
    if let inverse { members.append(("inverse", .string(inverse))) }
    if deleteRule != .nullify { members.append(("deleteRule", .string(deleteRule.rawValue))) }
    if isTransient { members.append(("transient", .bool(true))) }
    return .object(JSONObject(members + rest.written))
  }
}

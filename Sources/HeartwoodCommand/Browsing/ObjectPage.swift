import Foundation
import Heartwood

/// One object with its values, what it refers to, and what refers to it.
struct ObjectPage {
  let store: BrowsedStore

  private static let longestText = 20_000

  func json(_ query: PageQuery) throws(CommandFailure) -> JSONValue {
    let name = try query.required("id")
    return try store.reading(at: query.generation()) { reader in
      let object = try Selection.object(named: name, in: reader)
      let entity = object.entity.name ?? ""
      let lineage = store.model.lineage(of: entity)
      let relationships = lineage.reversed().flatMap(\.relationships)
      return .object(
        JSONObject([
          ("id", .string(ObjectName.text(object.objectID))), ("entity", .string(entity)),
          ("uri", .string(object.objectID.uriRepresentation().absoluteString)),
          ("label", PageCell.label(object)),
          ("lineage", .array(lineage.map { .string($0.name) })),
          (
            "values",
            .array(PageColumns.attributes(of: lineage).map { Self.value($0, object) })
          ),
          ("toOne", .array(relationships.filter { !$0.isToMany }.map { Self.toOne($0, object) })),
          ("toMany", .array(relationships.filter(\.isToMany).map { Self.toMany($0, object) })),
        ]))
    }
  }

  private static func value(_ column: PageColumns.Column, _ object: ManagedObject) -> JSONValue {
    let cell = CellValue(column.name, of: object)
    var members: [(String, JSONValue)] = [
      ("name", .string(column.name)), ("type", .string(column.type)),
      ("value", PageCell.json(cell, longest: longestText)),
    ]
    if case .date(let date) = cell { members.append(("exact", .string(CellValue.date(date).plain))) }
    return .object(JSONObject(members))
  }

  private static func toOne(_ relationship: DocumentRelationship, _ object: ManagedObject) -> JSONValue {
    let target = Related.objects(object, relationship.name, isOrdered: true).first
    return .object(
      JSONObject([
        ("name", .string(relationship.name)), ("destination", .string(relationship.destination)),
        ("target", target.map(PageCell.reference) ?? .null),
      ]))
  }

  private static func toMany(_ relationship: DocumentRelationship, _ object: ManagedObject) -> JSONValue {
    let count = object.objectIDs(forRelationshipNamed: relationship.name).count
    return .object(
      JSONObject([
        ("name", .string(relationship.name)), ("destination", .string(relationship.destination)),
        ("count", .integer(Int64(count))), ("isOrdered", .bool(relationship.isOrdered)),
      ]))
  }
}

/// The destinations of a to-many relationship of an object, and the objects that refer to one without being
/// known to it.
struct RelatedPage {
  let store: BrowsedStore

  /// A page of a to-many relationship, in its order or in that of identifiers.
  func related(_ query: PageQuery) throws(CommandFailure) -> JSONValue {
    let (name, property) = (try query.required("id"), try query.required("name"))
    let offset = try query.number("offset") ?? 0
    let limit = try query.number("limit", default: 50, most: RowsPage.greatestLength)
    return try store.reading(at: query.generation()) { reader in
      let object = try Selection.object(named: name, in: reader)
      guard let relationship = object.entity.relationshipsByName[property], relationship.isToMany else {
        throw CommandFailure.usage("\(name) has no to-many relationship \"\(property)\"")
      }
      let all = object.objectIDs(forRelationshipNamed: property)
      let ordered = relationship.isOrdered ? all : all.sorted { $0.key < $1.key }
      let columns = PageColumns(of: relationship.destinationEntity?.name ?? "", in: store.model)
      let rows = try ordered.dropFirst(offset).prefix(limit).map {
        try columns.labelledRow(of: reader.context.object(with: $0))
      }
      return .object(
        JSONObject([
          ("columns", columns.json), ("rows", .array(rows)), ("offset", .integer(Int64(offset))),
          ("total", .integer(Int64(all.count))), ("hasMore", .bool(offset + rows.count < all.count)),
        ]))
    }
  }

  /// How many objects refer to an object by each relationship that has no inverse.
  func referrers(_ query: PageQuery) throws(CommandFailure) -> JSONValue {
    let name = try query.required("id")
    return try store.reading(at: query.generation()) { reader in
      let object = try Selection.object(named: name, in: reader)
      let found = try Self.relationships(to: object.entity, store.model).map { entity, relationship in
        let rows = try RowsRequest(
          PageQuery(["entity": entity, "by": relationship, "of": ObjectName.text(object.objectID)]))
        let count = try reader.context.count(for: rows.fetch(in: reader))
        return JSONValue.object(
          JSONObject([
            ("entity", .string(entity)), ("relationship", .string(relationship)),
            ("count", .integer(Int64(count))),
          ]))
      }
      return .object(JSONObject([("referrers", .array(found))]))
    }
  }

  /// The relationships without an inverse that can lead to an entity, with the entities that have them.
  private static func relationships(
    to entity: EntityDescription, _ model: DocumentModel
  ) -> [(entity: String, relationship: String)] {
    model.entities.flatMap { owner in
      owner.relationships.filter {
        $0.inverse == nil && !$0.isTransient && model.isKind(entity.name ?? "", of: $0.destination)
      }
      .map { (owner.name, $0.name) }
    }
  }
}

extension Selection {
  /// The object that a short name or a URI denotes.
  static func object(named word: String, in store: CommandStore) throws -> ManagedObject {
    let selection = try Selection(word, where: nil, in: store)
    guard ObjectName.isObject(word), let object = selection.objects.first else {
      throw CommandFailure.usage("\"\(word)\" is no object; write Entity/p1, or a whole URI")
    }
    return object
  }
}

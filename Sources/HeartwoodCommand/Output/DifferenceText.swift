import Heartwood

/// A difference of two generations as text or JSON.
enum DifferenceText {
  /// `updated  City/p12`, and a line for each value: `    name  Lyon → Lyons`.
  static func text(_ difference: ObjectDifference) -> String {
    var lines = ["\(word(difference.kind))  \(ObjectName.text(difference.objectID))"]
    let (former, values) = (difference.formerValues, difference.values)
    for name in difference.changedValues.sorted() {
      let (before, after) = (shown(former[name]), shown(values[name]))
      switch difference.kind {
      case .inserted: lines.append("    \(name)  \(after)")
      case .deleted: lines.append("    \(name)  \(before)")
      case .updated: lines.append("    \(name)  \(before) → \(after)")
      }
    }
    let (added, removed) = (difference.addedObjects, difference.removedObjects)
    for name in Set(added.keys).union(removed.keys).sorted() {
      let parts =
        (removed[name] ?? []).map { "-\(ObjectName.text($0))" }
        + (added[name] ?? []).map { "+\(ObjectName.text($0))" }
      lines.append("    \(name)  \(parts.joined(separator: " "))")
    }
    for name in difference.reorderedRelationships.sorted() { lines.append("    \(name)  in another order") }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func word(_ kind: ObjectDifference.Kind) -> String {
    switch kind {
    case .inserted: "inserted"
    case .updated: "updated "
    case .deleted: "deleted "
    }
  }

  private static func shown(_ value: Any?) -> String {
    if let data = value as? ObjectDifference.LargeData { return "(\(Amount.text(data.byteCount, "byte")))" }
    return cell(value).display.escapingControls
  }

  private static func cell(_ value: Any?) -> CellValue {
    if let identifier = value as? ManagedObjectID { return .reference(ObjectName.text(identifier)) }
    return CellValue(attribute: value)
  }

  /// As in an export; data that is stored outside its row has its size, as an object, which no data is.
  private static func json(_ value: Any?, _ name: String, of entity: EntityDescription) -> JSONValue {
    if let data = value as? ObjectDifference.LargeData {
      return .object(JSONObject([("byteCount", .integer(Int64(clamping: data.byteCount)))]))
    }
    var cell = cell(value)
    if let slot = entity.slot(named: name) { cell.addNulls(at: slot, of: entity) }
    return cell.json
  }

  static func json(_ difference: ObjectDifference) -> JSONValue {
    let (former, values) = (difference.formerValues, difference.values)
    let (names, entity) = (difference.changedValues.sorted(), difference.objectID.entity)
    func object(_ values: [String: Any]) -> JSONValue {
      .object(JSONObject(names.map { ($0, json(values[$0], $0, of: entity)) }))
    }
    func lists(_ lists: [String: [ManagedObjectID]]) -> JSONValue {
      .object(
        JSONObject(
          lists.sorted { $0.key < $1.key }.map { name, identifiers in
            (name, .array(identifiers.map { .string(ObjectName.text($0)) }))
          }))
    }
    var members: [(String, JSONValue)] = [
      ("object", .string(ObjectName.text(difference.objectID))),
      ("change", .string(difference.kind.rawValue)),
    ]
    if difference.kind != .inserted { members.append(("former", object(former))) }
    if difference.kind != .deleted { members.append(("values", object(values))) }
    if !difference.addedObjects.isEmpty { members.append(("added", lists(difference.addedObjects))) }
    if !difference.removedObjects.isEmpty { members.append(("removed", lists(difference.removedObjects))) }
    let reordered = difference.reorderedRelationships.sorted()
    if !reordered.isEmpty { members.append(("reordered", .array(reordered.map(JSONValue.string)))) }
    return .object(JSONObject(members))
  }
}

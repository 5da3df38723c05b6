import Heartwood

/// A transaction of the history as text or JSON.
enum HistoryText {
  static func text(_ transaction: PersistentHistoryTransaction, listing limit: Int) -> String {
    let changes = transaction.changes ?? []
    let by = transaction.author.map { "by \($0.escapingControls)" }
    let context = transaction.contextName.map { "in \($0.escapingControls)" }
    let heading = [
      "\(transaction.transactionNumber)", CellValue.text(transaction.timestamp), by, context,
      summary(changes),
    ]
    var lines = [heading.compactMap { $0 }.joined(separator: "  ")]
    let listed = listed(changes, limit).map { "    " + line($0) }
    lines += listed
    if listed.count < changes.count {
      let rest = changes.count - listed.count
      lines.append("    \(listed.isEmpty ? "\(rest) changes" : "and \(rest) more") (--changes 0 lists all)")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The changes to list of a long transaction: deletes before updates. Inserts are only counted.
  private static func listed(
    _ changes: [PersistentHistoryChange], _ limit: Int
  ) -> ArraySlice<PersistentHistoryChange> {
    guard changes.count > limit else { return changes[...] }
    let deletes = changes.filter { $0.changeType == .delete }
    return (deletes + changes.filter { $0.changeType == .update }).prefix(limit)
  }

  /// `inserted 5 Country; deleted 1 City`.
  static func summary(_ changes: [PersistentHistoryChange]) -> String {
    let kinds: [(PersistentHistoryChange.ChangeType, String)] = [
      (.insert, "inserted"), (.update, "updated"), (.delete, "deleted"),
    ]
    let parts = kinds.compactMap { type, word -> String? in
      let names = changes.filter { $0.changeType == type }.map { $0.changedObjectID.entity.name ?? "" }
      return names.isEmpty ? nil : "\(word) \(Amount.byEntity(names))"
    }
    return parts.isEmpty ? "no changes" : parts.joined(separator: "; ")
  }

  private static func line(_ change: PersistentHistoryChange) -> String {
    let name = ObjectName.text(change.changedObjectID)
    switch change.changeType {
    case .insert: return "inserted \(name)"
    case .update:
      let (former, new) = (change.formerValues, change.newValues)
      let parts = updatedNames(change).map { property in
        guard former[property] != nil || new[property] != nil else { return property }
        let values = [former[property], new[property]].map {
          CellValue(attribute: $0).display.escapingControls
        }
        return "\(property) \(values.joined(separator: " → "))"
      }
      return "updated  \(name)  \(parts.joined(separator: ", "))"
    case .delete:
      let values = tombstone(change).map { "\($0.name) \($0.value.display.escapingControls)" }
      return values.isEmpty ? "deleted  \(name)" : "deleted  \(name)  was \(values.joined(separator: ", "))"
    }
  }

  private static func updatedNames(_ change: PersistentHistoryChange) -> [String] {
    (change.updatedProperties ?? []).map(\.name).sorted()
  }

  private static func tombstone(_ change: PersistentHistoryChange) -> [(name: String, value: CellValue)] {
    (change.tombstone ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, CellValue(attribute: $0.value)) }
  }

  static func json(_ transaction: PersistentHistoryTransaction) -> JSONValue {
    .object(
      JSONObject([
        ("number", .integer(transaction.transactionNumber)),
        ("date", .string(DateText.text(transaction.timestamp))),
        ("author", transaction.author.map(JSONValue.string) ?? .null),
        ("context", transaction.contextName.map(JSONValue.string) ?? .null),
        ("changes", .array((transaction.changes ?? []).map(json))),
      ]))
  }

  static func word(_ type: PersistentHistoryChange.ChangeType) -> String {
    switch type {
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    }
  }

  private static func json(_ values: [String: Any]) -> JSONValue {
    .object(
      JSONObject(values.sorted { $0.key < $1.key }.map { ($0.key, CellValue(attribute: $0.value).json) }))
  }

  private static func json(_ change: PersistentHistoryChange) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("object", .string(ObjectName.text(change.changedObjectID))),
      ("change", .string(word(change.changeType))),
    ]
    switch change.changeType {
    case .insert: break
    case .update:
      members.append(("properties", .array(updatedNames(change).map(JSONValue.string))))
      if !change.formerValues.isEmpty || !change.newValues.isEmpty {
        members.append(("former", json(change.formerValues)))
        members.append(("values", json(change.newValues)))
      }
    case .delete:
      let values = tombstone(change).map { ($0.name, $0.value.json) }
      members.append(("tombstone", .object(JSONObject(values))))
    }
    return .object(JSONObject(members))
  }
}

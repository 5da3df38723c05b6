import Foundation
import Heartwood
import HeartwoodEngine

/// The history of a store: transactions, the generations that can be read, and the differences between two of them.
struct HistoryPage {
  let store: BrowsedStore

  /// How many numbers of transactions a page looks at.
  private static let window: UInt64 = 100
  /// How many changes of a transaction are listed.
  private static let mostChanges = 100
  private static let mostDifferences = 300
  /// How many generations the slider has at a time.
  var mostGenerations = 5000

  /// Transactions, newest first, from one number down.
  func transactions(_ query: PageQuery) throws(CommandFailure) -> JSONValue {
    guard store.hasGenerations else { return Self.none }
    let end = try query.number("before").map(UInt64.init) ?? (store.newest ?? 0) + 1
    let start = end > Self.window + 1 ? end - Self.window - 1 : 0
    let object = query.text("object")
    let found = try store.reading { reader in
      let uri = try object.map {
        try ObjectName.identifier($0, in: reader).uriRepresentation().absoluteString
      }
      return try Self.transactions(after: start, before: end, of: uri, reader)
    }
    return .object(
      JSONObject([
        ("transactions", .array(found.reversed().map(Self.transaction))),
        ("before", start == 0 ? .null : .integer(Int64(clamping: start + 1))),
      ]))
  }

  private static let none = JSONValue.object(
    JSONObject([("transactions", .array([])), ("generations", .array([])), ("before", .null)]))

  private static func transactions(
    after start: UInt64, before end: UInt64, of object: String?, _ reader: CommandStore
  ) throws -> [PersistentHistoryTransaction] {
    try reader.history(after: reader.position(after: start)) {
      $0.transactionPredicate = try FormatPredicate(
        "transactionNumber > %@ AND transactionNumber < %@", Int64(clamping: start), Int64(clamping: end))
      $0.changePredicate = try object.map { try FormatPredicate("changedObjectURI == %@", $0) }
    }
  }

  private static func transaction(_ transaction: PersistentHistoryTransaction) -> JSONValue {
    let changes = transaction.changes ?? []
    // Deletions say most, and insertions least.
    let order: [PersistentHistoryChange.ChangeType] = [.delete, .update, .insert]
    let listed = order.lazy.flatMap { type in changes.lazy.filter { $0.changeType == type } }
    return .object(
      JSONObject([
        ("number", .integer(transaction.transactionNumber)),
        ("date", .string(CellValue.text(transaction.timestamp))),
        ("author", transaction.author.map(JSONValue.string) ?? .null),
        ("summary", .string(HistoryText.summary(changes))), ("count", .integer(Int64(changes.count))),
        ("changes", .array(listed.prefix(mostChanges).map(change))),
      ]))
  }

  private static func change(_ change: PersistentHistoryChange) -> JSONValue {
    return .object(
      JSONObject([
        ("object", .string(ObjectName.text(change.changedObjectID))),
        ("change", .string(HistoryText.word(change.changeType))),
        ("properties", .array((change.updatedProperties ?? []).map(\.name).sorted().map(JSONValue.string))),
      ]))
  }

  /// The generations that can be read, oldest first: those around one, and how many there are before and after them.
  func generations(_ query: PageQuery) throws(CommandFailure) -> JSONValue {
    guard store.hasGenerations else { return Self.none }
    let wanted = try query.generation()
    let records = try GraphFailure.catching(store.path) { try store.coordinator.generations() }
    let own = records.filter { !$0.isInternal }
    let place = wanted.flatMap { wanted in own.firstIndex { $0.generation.rawValue >= wanted } } ?? own.count
    let start = max(0, min(place - mostGenerations / 2, own.count - mostGenerations))
    let shown = own[start...].prefix(mostGenerations)
    return .object(
      JSONObject([
        ("before", .integer(Int64(start))), ("after", .integer(Int64(own.endIndex - shown.endIndex))),
        (
          "generations",
          .array(
            shown.map { record in
              .array([
                .integer(Int64(clamping: record.generation.rawValue)),
                .string(CellValue.text(ofTime: record.time)), .integer(record.bytes),
              ])
            })
        ),
      ]))
  }

  /// The differences between two generations.
  func differences(_ query: PageQuery) throws(CommandFailure) -> JSONValue {
    guard store.hasGenerations, let from = try query.number("from") else {
      throw .usage("this needs two generations")
    }
    let to = try query.number("to").map(UInt64.init)
    let entity = query.text("entity")
    let found = try GraphFailure.catching(store.path) {
      try store.coordinator.differences(from: UInt64(from), to: to).filter { difference in
        entity.map { store.model.isKind(difference.objectID.entity.name ?? "", of: $0) } ?? true
      }
    }
    let shown = found.prefix(Self.mostDifferences)
    let labels = try labels(of: shown, from: UInt64(from), to: to)
    return .object(
      JSONObject([
        ("count", .integer(Int64(found.count))),
        ("differences", .array(shown.map { Self.difference($0, labels) })),
      ]))
  }

  private static func difference(
    _ difference: ObjectDifference, _ labels: [ManagedObjectID: JSONValue]
  ) -> JSONValue {
    guard case .object(var object) = DifferenceText.json(difference) else { return .null }
    for place in object.members.indices where ["former", "values"].contains(object.members[place].name) {
      guard case .object(let values) = object.members[place].value else { continue }
      object.members[place].value = .object(
        JSONObject(values.members.map { ($0.name, exact($0.value)) }))
    }
    object.members.append(
      JSONObject.Member(name: "label", value: labels[difference.objectID] ?? .null))
    return .object(object)
  }

  /// A value whose numbers are text: a page would round long ones.
  private static func exact(_ value: JSONValue) -> JSONValue {
    switch value {
    case .null, .bool, .string: return value
    case .object(let object) where object["@ref"] != nil: return value
    default: return .string(JSONWriter.line(value))
    }
  }

  /// The labels of the objects in the later generation, and in the earlier one of those that it has no more.
  private func labels(
    of differences: ArraySlice<ObjectDifference>, from former: UInt64, to present: UInt64?
  ) throws(CommandFailure) -> [ManagedObjectID: JSONValue] {
    var labels: [ManagedObjectID: JSONValue] = [:]
    for (generation, isFormer) in [(former as UInt64?, true), (present, false)] {
      let asked = differences.filter { ($0.kind == .deleted) == isFormer }.map(\.objectID)
      guard !asked.isEmpty else { continue }
      try store.reading(at: generation) { reader in
        for id in asked { labels[id] = try reader.existingObject(id).map(PageCell.label) ?? .null }
      }
    }
    return labels
  }
}

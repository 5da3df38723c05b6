import Foundation
import HeartwoodBytes

/// The predicates of a history request. They are those of fetches, on rows that are made of transactions and changes.
struct HistoryFilter {
  private let transactions: CompiledPredicate?
  private let changes: CompiledPredicate?

  var readsChanges: Bool { changes != nil }

  init(_ request: PersistentHistoryChangeRequest) throws {
    transactions = try request.transactionPredicate.map {
      try CompiledPredicate($0, entity: HistoryEntities.shared.transaction)
    }
    changes = try request.changePredicate.map {
      try CompiledPredicate($0, entity: HistoryEntities.shared.change)
    }
  }

  /// The changes that may satisfy the predicate, by the equalities in it.
  var selection: HistorySelection {
    var selection = HistorySelection.all
    for conjunct in changes?.conjuncts ?? [] {
      guard let (slot, texts) = conjunct.texts else { continue }
      switch HistoryEntities.shared.change.property(at: slot).name {
      case "entityName": selection.restrict(toEntities: Set(texts))
      case "changedObjectURI":
        let parts = texts.compactMap { URL(string: $0).flatMap(ManagedObjectID.parts) }
        selection.restrict(
          toObjects: Dictionary(grouping: parts, by: \.entityName).mapValues { Set($0.map(\.key)) })
      default: break
      }
    }
    return selection
  }

  /// The transaction of a record with the changes that satisfy the predicates; nil if it does not satisfy them.
  func transaction(
    _ record: HistoryRecord, _ identity: StoreIdentity, withChanges: Bool
  ) throws -> PersistentHistoryTransaction? {
    let made = try PersistentHistoryTransaction(record, identity, withChanges: withChanges, where: accepts)
    guard try accepts(made), !readsChanges || made.changes?.isEmpty == false else { return nil }
    return made
  }

  private func accepts(_ transaction: PersistentHistoryTransaction) throws -> Bool {
    guard let transactions else { return true }
    return try matches(
      transactions,
      [
        "author": transaction.author.map(Value.string),
        "contextName": transaction.contextName.map(Value.string),
        "timestamp": .date(transaction.timestamp.timeIntervalSinceReferenceDate),
        "transactionNumber": .int(transaction.transactionNumber), "storeID": .string(transaction.storeID),
        "bundleID": transaction.bundleID.map(Value.string),
        "processID": transaction.processID.map(Value.string),
      ])
  }

  private func accepts(_ change: PersistentHistoryChange) throws -> Bool {
    guard let changes else { return true }
    return try matches(
      changes,
      [
        "changeID": .int(change.changeID), "changeType": .int(Int64(change.changeType.rawValue)),
        "entityName": .string(change.changedObjectID.entity.displayName),
        "changedObjectURI": .string("\(change.changedObjectID)"),
        "updatedPropertyNames": change.updatedNames.map(Value.string),
      ])
  }

  private func matches(_ predicate: CompiledPredicate, _ values: [String: Value?]) throws -> Bool {
    let entity = predicate.entity
    var writer = RowWriter(entity.layout, version: 1)
    for column in entity.layout.columns {
      let value = values[entity.property(at: Int(column.slot)).name] ?? nil
      writer.write(value ?? .null, column)
    }
    return try writer.row.withUnsafeBytes { bytes in
      try predicate.matches(RowView(unchecked: bytes), key: 1, in: NoRows.shared)
    }
  }
}

extension Conjunct {
  /// The texts of which an attribute has to have one, with its slot.
  fileprivate var texts: (slot: Int, texts: [String])? {
    switch self {
    case .equal(let slot, .string(let text)): return (slot, [text])
    case .isIn(let slot, let values):
      let texts = values.compactMap { value in
        if case .string(let text) = value { text } else { nil as String? }
      }
      return texts.count == values.count ? (slot, texts) : nil
    default: return nil
    }
  }
}

extension PersistentHistoryChange {
  /// The names of the updated properties, in alphabetical order, separated and surrounded by commas; nil if there are none.
  fileprivate var updatedNames: String? {
    guard let names = updatedProperties?.map(\.name).sorted(), !names.isEmpty else { return nil }
    return ",\(names.joined(separator: ",")),"
  }
}

/// The entities of transactions and changes, in a model of their own.
final class HistoryEntities: Sendable {
  static let shared = HistoryEntities()

  let transaction: EntityDescription
  let change: EntityDescription

  private init() {
    transaction = EntityDescription(name: "Transaction")
    transaction.properties = [
      AttributeDescription(name: "author", type: .string),
      AttributeDescription(name: "contextName", type: .string),
      AttributeDescription(name: "timestamp", type: .date),
      AttributeDescription(name: "transactionNumber", type: .integer64),
      AttributeDescription(name: "storeID", type: .string),
      AttributeDescription(name: "bundleID", type: .string),
      AttributeDescription(name: "processID", type: .string), Self.named("token"),
    ]
    change = EntityDescription(name: "Change")
    change.properties = [
      AttributeDescription(name: "changeID", type: .integer64),
      AttributeDescription(name: "changeType", type: .integer64),
      AttributeDescription(name: "entityName", type: .string),
      AttributeDescription(name: "changedObjectURI", type: .string),
      AttributeDescription(name: "updatedPropertyNames", type: .string), Self.named("changedObjectID"),
      Self.named("changedEntity"),
    ]
    let model = ManagedObjectModel(entities: [transaction, change])
    do {
      try model.freeze()
    } catch {
      programError(error.message)
    }
  }

  /// An attribute that Core Data's entities have, and that has two columns or is a text here: `token` is `transactionNumber` and `storeID`,
  /// `changedObjectID` is `changedObjectURI`, `changedEntity` is `entityName`. Predicates of the module `CoreData` may name it.
  private static func named(_ name: String) -> AttributeDescription {
    let attribute = AttributeDescription(name: name, type: .undefined)
    attribute.isTransient = true
    return attribute
  }
}

import Foundation
import SwiftData

/// Keeps a list of titles in step with the store, by its history.
@ModelActor
public actor SearchIndexer {
  private var token: DefaultHistoryToken?
  private var titles: [PersistentIdentifier: String] = [:]
  private(set) var deletedCooks: [String] = []

  public var allTitles: [String] { titles.values.sorted() }

  public func update() throws -> Int {
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    if let token { descriptor.predicate = #Predicate { $0.token > token } }
    let transactions = try modelContext.fetchHistory(descriptor)
    for transaction in transactions {
      for change in transaction.changes { try apply(change) }
    }
    token = transactions.last?.token ?? token
    return transactions.count
  }

  private func apply(_ change: HistoryChange) throws {
    let id = change.changedPersistentIdentifier
    switch change {
    case .insert(_ as DefaultHistoryInsert<Recipe>): titles[id] = try title(of: id)
    case .update(let update as DefaultHistoryUpdate<Recipe>):
      if update.updatedAttributes.contains(\.title) { titles[id] = try title(of: id) }
    case .delete(_ as DefaultHistoryDelete<Recipe>): titles[id] = nil
    case .delete(let delete as DefaultHistoryDelete<Cook>):
      if let name = delete.tombstone[\.fullName] { deletedCooks.append(name) }
    default: break
    }
  }

  private func title(of id: PersistentIdentifier) throws -> String? {
    let descriptor = FetchDescriptor<Recipe>(predicate: #Predicate { $0.persistentModelID == id })
    return try modelContext.fetch(descriptor).first?.title
  }
}

import Foundation
import SwiftData

private func transactions() {
  hashed(DefaultHistoryTransaction.self)
  sent(DefaultHistoryTransaction.self)
  read(\DefaultHistoryTransaction.id, Int64.self)
  let _: Int64.Type = DefaultHistoryTransaction.TransactionIdentifier.self
  coded(DefaultHistoryToken.self)
  read(\DefaultHistoryToken.tokenValue, [String: Int64]?.self)
  read(\DefaultHistoryToken.id, Int.self)
  let _: [String: Int64].Type = DefaultHistoryToken.TokenType.self
}

private func changes(_ update: DefaultHistoryUpdate<Book>, _ delete: DefaultHistoryDelete<Book>) {
  hashed(DefaultHistoryInsert<Book>.self)
  hashed(DefaultHistoryUpdate<Book>.self)
  hashed(DefaultHistoryDelete<Book>.self)
  let _: Int64.Type = DefaultHistoryInsert<Book>.ChangeIdentifier.self
  let _: [any DefaultHistoryUpdate<Book>.PropertyUpdate] = update.updatedAttributes
  let _: (any Sendable)? = delete.tombstone[\Book.title as PartialKeyPath<Book>]
}

/// The history of something that is no store.
private struct Chronicle: HistoryProviding {
  static let historyType = DefaultHistoryTransaction.self
  func fetchHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) -> [DefaultHistoryTransaction]
  {
    []
  }
  func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) {}
}

/// A change that is not `Identifiable`.
private struct Insertion: HistoryInsert {
  typealias Model = Book
  var transactionIdentifier: Int
  var changeIdentifier: Int
  var changedPersistentIdentifier: PersistentIdentifier
}

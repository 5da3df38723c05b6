import Foundation
import Heartwood
import HeartwoodAppleStores
import Testing

/// The history of stores, as requests read it.
struct HistoryTests {
  @Test(arguments: ["history", "oldhistory"])
  func `transactions have their numbers, authors and changes`(_ name: String) throws {
    let open = try StoreFixture(name).open()
    try open.read { context in
      let transactions = try context.execute(.fetchHistory(after: nil as PersistentHistoryToken?))
        .transactions
      #expect(transactions.map(\.transactionNumber) == [1, 2, 3, 4])
      #expect(transactions.map(\.author) == ["app", "app", nil, "import"])
      #expect(
        transactions.map(\.bundleID) == ["com.example.app", "com.example.app", "com.example.app.widget", nil])
      #expect(transactions.map(\.processID) == ["App", "App", "Widget", nil])
      #expect(transactions.map(\.contextName) == ["view", nil, nil, nil])
      let times = transactions.map { $0.timestamp.timeIntervalSinceReferenceDate }
      #expect(
        zip(times, [700000000.25, 700000001.5, 700000100, 700001000]).allSatisfy { abs($0 - $1) < 1e-6 })
      #expect(transactions.map { $0.changes?.count } == [8, 2, 2, 0])
      let updates = try #require(transactions[1].changes)
      #expect(Set(updates[0].updatedProperties?.map(\.name) ?? []) == ["amount", "note"])
      #expect(Set(updates[1].updatedProperties?.map(\.name) ?? []) == ["account"])
      let deletion = try #require(transactions[2].changes?.first)
      #expect(deletion.changeType == .delete)
      #expect(deletion.tombstone?["amount"] as? Int64 == 44)
      #expect(deletion.tombstone?["id"] as? String == "account 4")
      #expect("\(deletion.changedObjectID)".hasSuffix("/Account/p4"))
    }
  }

  @Test func `a history goes on after a token, and its predicates select`() throws {
    let open = try StoreFixture("history").open()
    try open.read { context in
      let first = try context.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions[0]
      let rest = try context.execute(.fetchHistory(after: first.token)).transactions
      #expect(rest.map(\.transactionNumber) == [2, 3, 4])
      let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
      request.transactionPredicate = try FormatPredicate("author == 'app'")
      #expect(try context.execute(request).count == 2)
      let token = try #require(open.coordinator.currentPersistentHistoryToken())
      #expect(try context.execute(.fetchHistory(after: token)).transactions.isEmpty)
      #expect(throws: HeartwoodError.self) { try context.execute(.deleteHistory(before: token)) }
    }
  }

  @Test func `a store without history says so`() throws {
    let open = try StoreFixture("library").open()
    let error = #expect(throws: HeartwoodError.self) {
      try open.read { try $0.execute(.fetchHistory(after: nil as PersistentHistoryToken?)) }
    }
    #expect(error?.message.hasSuffix("has no history: no program has recorded one in it") == true)
  }
}

import Foundation
import Heartwood
import HeartwoodAppleStores
import TestSupport
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

  @Test(arguments: [
    ("Z_PK INTEGER PRIMARY KEY) WITHOUT ROWID", "is one WITHOUT ROWID"),
    ("Z_PK INT PRIMARY KEY)", "has no Z_PK that is an INTEGER PRIMARY KEY"),
    ("Z_PK INTEGER PRIMARY KEY DESC)", "has no Z_PK that is an INTEGER PRIMARY KEY"),
    ("Z_PK INTEGER)", "has no Z_PK that is an INTEGER PRIMARY KEY"),
    ("ZID INTEGER PRIMARY KEY, Z_PK INTEGER)", "has no Z_PK that is an INTEGER PRIMARY KEY"),
  ])
  func `a table whose keys are no rowids is refused when the store is opened`(
    _ columns: String, _ reason: String
  )
    throws
  {
    let fixture = try StoreFixture("history")
    let script =
      "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.executescript(sys.argv[2]); d.commit(); d.close()"
    try Python.run([
      "-c", script, fixture.url.path, "ALTER TABLE ZACCOUNT RENAME TO OLD; CREATE TABLE ZACCOUNT (\(columns)",
    ])
    let error = #expect(throws: HeartwoodError.self) { _ = try fixture.open() }
    #expect(error?.code == .persistentStoreOpen)
    #expect(error?.message.contains("its table ZACCOUNT \(reason), which") == true, "\(error?.message ?? "")")
  }

  /// A history that programs other than Core Data may have written: any is read, or left out with a note.
  @Test(
    arguments: [
      ("DELETE FROM ATRANSACTIONSTRING", "is not in the table of texts"),
      ("UPDATE ATRANSACTION SET ZAUTHORTS = 99", "is not in the table of texts"),
      ("UPDATE ATRANSACTION SET ZTIMESTAMP = NULL", "has no time"),
      ("UPDATE ATRANSACTION SET ZTIMESTAMP = 9e999", "between the years 1677 and 2262"),
      ("UPDATE ATRANSACTION SET ZTIMESTAMP = -9e999", "between the years 1677 and 2262"),
      ("UPDATE ACHANGE SET ZENTITY = 999", "entity number 999"),
      ("UPDATE ACHANGE SET ZENTITY = NULL", "cannot be read"),
      ("UPDATE ACHANGE SET ZENTITYPK = NULL", "cannot be read"),
      ("UPDATE ACHANGE SET ZENTITYPK = -5", "primary key"),
      ("UPDATE ACHANGE SET ZENTITYPK = 9223372036854775807", "primary key"),
      ("UPDATE ACHANGE SET ZCHANGETYPE = 7", "cannot be read"),
      ("UPDATE ACHANGE SET ZCHANGETYPE = 'x'", "cannot be read"),
      ("UPDATE ACHANGE SET ZCHANGETYPE = 9223372036854775807", "cannot be read"),
      ("UPDATE ACHANGE SET ZCOLUMNS = zeroblob(3) || x'FF'", "property that the model does not have"),
      ("UPDATE ACHANGE SET ZCOLUMNS = randomblob(3000000)", "property that the model does not have"),
      ("UPDATE ACHANGE SET ZTOMBSTONE0 = randomblob(3000000)", nil),
      (
        "ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE77 BLOB; UPDATE ACHANGE SET ZTOMBSTONE77 = 1",
        "no attribute"
      ),
      ("DROP TABLE ATRANSACTION", "there is no table ATRANSACTION"),
      ("DROP TABLE ACHANGE", "there is no table ACHANGE"),
      (
        "DROP INDEX ACHANGE_ZTRANSACTIONID_INDEX; ALTER TABLE ACHANGE RENAME COLUMN ZTRANSACTIONID TO ZOTHER",
        "ZTRANSACTIONID"
      ),
      ("DROP TABLE ATRANSACTIONSTRING", "is not in the table of texts"),
      ("DELETE FROM ACHANGE", nil), ("UPDATE ACHANGE SET ZTRANSACTIONID = 5 - ZTRANSACTIONID", nil),
      (
        "UPDATE ATRANSACTION SET Z_PK = -Z_PK",
        "a transaction of the history has a primary key that none can have, and is left out (4 times)"
      ),
      (
        "UPDATE ATRANSACTION SET Z_PK = 0 WHERE Z_PK = 4", "a primary key that none can have, and is left out"
      ),
      (
        "UPDATE ATRANSACTION SET Z_PK = 9223372036854775800 + Z_PK",
        "of a transaction that the history does not have, and is left out (12 times)"
      ),
      (
        "DELETE FROM ATRANSACTION WHERE Z_PK = 2",
        "of a transaction that the history does not have, and is left out (2 times)"
      ),
      ("UPDATE ACHANGE SET ZTRANSACTIONID = NULL WHERE Z_PK = 1", "that the history does not have"),
      ("UPDATE ATRANSACTION SET ZTIMESTAMP = 'soon'", "has no time"),
      ("UPDATE ATRANSACTION SET ZTIMESTAMP = x'00'", "has no time"),
      (
        "ALTER TABLE ATRANSACTION RENAME TO T; CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER) WITHOUT ROWID",
        "its table ATRANSACTION is one WITHOUT ROWID"
      ),
      (
        "ALTER TABLE ACHANGE RENAME TO T; CREATE TABLE ACHANGE (Z_PK INT PRIMARY KEY, ZTRANSACTIONID INTEGER)",
        "its table ACHANGE has no Z_PK that is an INTEGER PRIMARY KEY"
      ),
      ("DROP INDEX ACHANGE_ZTRANSACTIONID_INDEX", nil),
      ("UPDATE ATRANSACTION SET ZTIMESTAMP = -ZTIMESTAMP", nil),
      ("UPDATE ATRANSACTION SET ZAUTHOR = x'FF', ZCONTEXTNAME = 5", nil),
      ("UPDATE ATRANSACTIONSTRING SET ZNAME = randomblob(100000)", "is not in the table of texts"),
    ] as [(String, String?)])
  func `what no history has is read, or left out with a note`(_ change: String, _ note: String?) throws {
    let fixture = try StoreFixture("history")
    try Python.run([
      "-c",
      "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.executescript(sys.argv[2]); d.commit(); d.close()",
      fixture.url.path, change,
    ])
    let open = try fixture.open()
    try open.read { context in
      do {
        let transactions = try context.execute(.fetchHistory(after: nil as PersistentHistoryToken?))
          .transactions
        for transaction in transactions {
          _ = try context.execute(.fetchHistory(after: transaction.token)).transactions
          for change in transaction.changes ?? [] { _ = (change.tombstone, change.updatedProperties) }
        }
      } catch let error as HeartwoodError {
        #expect(note.map(error.message.contains) ?? false, "\(change): \(error)")
      }
    }
    let notes = open.store.notes.filter { $0.contains("history") }
    #expect(notes.isEmpty == (note == nil), "\(change): \(notes)")
    if let note { #expect(notes.contains { $0.contains(note) }, "\(change): \(notes)") }
  }
}

import Foundation
import Heartwood
import HeartwoodAppleStores
import HeartwoodSQLite
import TestSupport
import Testing

/// Files of which an index is damaged, and the tables are whole.
struct IndexDamageTests {
  /// Changes a byte of a file.
  private static func put(_ byte: UInt8, at place: Int, in url: URL) throws {
    var bytes = try Data(contentsOf: url)
    bytes[place] = byte
    try bytes.write(to: url)
  }

  private static func isNote(_ note: String) -> Bool { note.hasPrefix("the index ") }

  /// One person was linked to six wishes by her own index, and by that of the wishes' side to five: the copy had findings. In the other file both
  /// sides came from the damaged index, and a follower became another one in a copy that was sound.
  @Test(arguments: [("pages", 6582, 12), ("library", 94_200, 6)] as [(String, Int, UInt8)])
  func `a copy of a file with a damaged index has the links of its tables, and a note says why`(
    _ name: String, _ place: Int, _ byte: UInt8
  ) throws {
    let sound = try StoreFixture(name).open().read { try ContextDump($0).entities }
    let fixture = try StoreFixture(name)
    try Self.put(byte, at: place, in: fixture.url)
    #expect(try fixture.open().read { try ContextDump($0).entities } == sound)
    let open = try fixture.open()
    try open.store.readAll()
    #expect(open.store.notes.filter(Self.isNote).count == 1, "\(open.store.notes)")
    let copy = try open.coordinator.migratePersistentStore(
      open.store, to: fixture.folder.url.appending(path: "copy"))
    #expect(try open.coordinator.verify(copy).findings.isEmpty)
    let context = ManagedObjectContext(.privateQueue, coordinator: open.coordinator)
    #expect(try context.performAndWait { try ContextDump(context).entities } == sound)
  }

  @Test(arguments: ["pages", "library", "history"])
  func `whatever a page of an index has, the links and the history are those of the tables`(_ name: String)
    throws
  {
    let fixture = try StoreFixture(name)
    let original = try Data(contentsOf: fixture.url)
    func read() throws -> (entities: [String: [String: StoreDump.Row]], history: [String], notes: [String]) {
      let open = try fixture.open()
      try open.store.readAll()
      return try open.read { context in
        let history = try? context.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions
        let changes = (history ?? []).map { "\(($0.changes ?? []).map(\.changedObjectID))" }
        return (try ContextDump(context).entities, changes, open.store.notes)
      }
    }
    let sound = try read()
    #expect(!sound.notes.contains(where: Self.isNote))
    let database = try SQLiteDatabase(contentsOf: fixture.url)
    let roots = database.indexes.map(\.rootPage)
    let seed: UInt64 = 59
    var random = SplitMix64(state: seed)
    var notes = 0
    for _ in 0..<25 {
      let page = Int(roots[Int(random.next() % UInt64(roots.count))] - 1) * database.pageSize
      let places = [0, 3, 8, 9, 10, 11, database.pageSize - 1 - Int(random.next() % 40)]
      let place = page + places[Int(random.next() % UInt64(places.count))]
      let byte = original[place] ^ UInt8(1 << (random.next() % 8))
      try original.write(to: fixture.url)
      try Self.put(byte, at: place, in: fixture.url)
      let found = try read()
      #expect(
        found.entities == sound.entities, "seed \(seed), byte \(place) = \(byte): \(found.notes)")
      #expect(found.history == sound.history, "seed \(seed), byte \(place) = \(byte)")
      notes += found.notes.filter(Self.isNote).count
    }
    #expect(notes > 0)
  }
}

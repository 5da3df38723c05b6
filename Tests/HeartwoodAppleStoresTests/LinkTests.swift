import Foundation
import Heartwood
import HeartwoodAppleStores
import TestSupport
import Testing

/// Links that lead nowhere, and such that two places of a file have differently.
struct LinkTests {
  private static func pairs(_ statements: [String]) throws -> StoreFixture {
    try StoreFixture(
      making: """
        store = Store(path, Model([
            E('P', [A('n', 'string'), R('d', 'D', 'o'), R('spouse', 'P', 'spouse')]), E('D', [A('n', 'string'), R('o', 'P', 'd')])]))
        store.write([Object('P', {'n': str(n)}) for n in range(4)] + [Object('D', {'n': str(n)}) for n in range(4)])
        for statement in \(statements):
            store.db.execute(statement)
        store.close()
        """)
  }

  /// The links of a context: `P1.d 1`.
  private func links(_ context: ManagedObjectContext) throws -> [String] {
    try ContextDump(context).entities.flatMap { name, rows in
      rows.flatMap { key, row in
        row.links.flatMap { link, keys in keys.map { "\(name)\(key).\(link) \($0)" } }
      }
    }.sorted()
  }

  @Test(.comparesWithPython, arguments: [false, true])
  func `many links are copied in several transactions, as the memory for one is bounded`(isOrdered: Bool)
    throws
  {
    let fixture = try StoreFixture(
      making: """
        store = Store(path, Model([
            E('P', [A('n', 'int32'), R('tags', 'T', 'people', many=True, ordered=\(isOrdered ? "True" : "False"))]),
            E('T', [R('people', 'P', 'tags', many=True)])]))
        db, place = store.db, store.layout.columns['P', 'tags']
        db.execute('BEGIN')
        db.executemany('INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (?, 1, 1, ?)', ((n, n) for n in range(1, 41)))
        db.executemany('INSERT INTO ZT (Z_PK, Z_ENT, Z_OPT) VALUES (?, 2, 1)', ((n,) for n in range(1, 1001)))
        db.executemany(f'INSERT INTO {place["join"]} ({place["own"]}, {place["other"]}) VALUES (?, ?)',
                       ((p, t) for p in range(1, 41) for t in range(1, 1001)))
        db.execute('COMMIT')
        store.close()
        """)
    let open = try fixture.open()
    let copy = try open.coordinator.migratePersistentStore(
      open.store, to: fixture.folder.url.appending(path: "copy"))
    // The rows of two entities, and 40,000 links at about 10,000 a transaction.
    #expect(try open.coordinator.statistics().generation.rawValue >= 7)
    #expect(try open.coordinator.verify(copy).findings.isEmpty)
    let context = ManagedObjectContext(.privateQueue, coordinator: open.coordinator)
    try context.performAndWait {
      for person in try context.fetch(FetchRequest<ManagedObject>(entityName: "P")) {
        #expect(person.objectIDs(forRelationshipNamed: "tags").count == 1000)
      }
    }
  }

  @Test(
    .comparesWithPython,
    arguments: [
      (["UPDATE ZP SET ZD = 1 WHERE Z_PK = 1"], ["D1.o 1", "P1.d 1"], 0),
      (["UPDATE ZD SET ZO = 2 WHERE Z_PK = 1"], ["D1.o 2", "P2.d 1"], 0),
      (["UPDATE ZP SET ZD = 1"], ["D1.o 1", "P1.d 1"], 3),
      (["UPDATE ZP SET ZD = 1", "UPDATE ZD SET ZO = 3 WHERE Z_PK = 1"], ["D1.o 3", "P3.d 1"], 3),
      (
        ["UPDATE ZP SET ZD = 1 WHERE Z_PK = 1", "UPDATE ZD SET ZO = 2 WHERE Z_PK = 1"],
        ["D1.o 2", "P2.d 1"], 1
      ),
      (
        ["UPDATE ZP SET ZSPOUSE = 2 WHERE Z_PK = 1", "UPDATE ZP SET ZSPOUSE = 3 WHERE Z_PK = 2"],
        ["P2.spouse 3", "P3.spouse 2"], 1
      ),
      (["UPDATE ZP SET ZSPOUSE = Z_PK WHERE Z_PK = 4"], ["P4.spouse 4"], 0),
    ])
  func `both sides of a one-to-one link are the same`(
    _ statements: [String], _ expected: [String], _ leftOut: Int
  ) throws {
    let fixture = try Self.pairs(statements)
    let open = try fixture.open()
    #expect(try open.read { try links($0) } == expected)
    let notes = open.store.notes
    #expect(notes.count == min(leftOut, 1), "\(notes)")
    #expect(
      notes.allSatisfy {
        $0.components(separatedBy: " to D/p").count + $0.components(separatedBy: " to P/p").count == leftOut
          + 2
      })
    for type in [PersistentStore.StoreType.log, .json, .binary, .xml] {
      let open = try fixture.open()
      let place = fixture.folder.url.appending(path: "copy.\(type.rawValue)")
      _ = try open.coordinator.migratePersistentStore(open.store, to: place, type: type)
      let context = ManagedObjectContext(.privateQueue, coordinator: open.coordinator)
      #expect(try context.performAndWait { try links(context) } == expected, "\(type)")
      if type == .log { #expect(try open.coordinator.verify().findings.isEmpty) }
      try open.coordinator.close()
      let again = try PersistentStoreCoordinator(checking: fixture.model())
      try again.addPersistentStore(type: type, at: place)
      try again.close()
    }
  }

  @Test(.comparesWithPython, arguments: ["marks, marks2", "marks2, marks"])
  func `a relationship does not take the column of one whose name is longer by digits`(_ order: String) throws
  {
    let fixture = try StoreFixture(
      making: """
        names = '\(order)'.split(', ')
        store = Store(path, Model([
            E('M', [A('n', 'string')]), E('P', [A('n', 'string')] + [R(name, 'M', None, many=True) for name in names])]))
        marks = [Object('M', {'n': str(n)}) for n in range(5)]
        store.write([Object('P', marks=marks[:2], marks2=marks[3:])] + marks)
        store.close()
        """)
    let open = try fixture.open()
    #expect(
      try open.read { try links($0) } == ["P1.marks 1", "P1.marks 2", "P1.marks2 4", "P1.marks2 5"])
  }

  @Test(.comparesWithPython) func `references that are no keys of objects are left out and noted`() throws {
    let fixture = try StoreFixture(
      making: """
        store = Store(path, Model([
            E('P', [A('n', 'string'), R('its', 'I', 'p', many=True)]), E('I', [A('n', 'string'), R('p', 'P', 'its')])]))
        p = Object('P')
        store.write([p] + [Object('I', p=p) for n in range(5)])
        for key, value in ((1, 'abc'), (2, 1.5), (3, -7), (4, 5000000000000000000)):
            store.db.execute('UPDATE ZI SET ZP = ? WHERE Z_PK = ?', (value, key))
        store.close()
        """)
    let open = try fixture.open()
    #expect(try open.read { try links($0) } == ["I5.p 1", "P1.its 5"])
    #expect(
      open.store.notes == [
        "a reference of I.p is no key of an object, and is left out (2 times)",
        "a reference of I.p leads to an object that is not there, and is left out (2 times)",
      ])
  }

  @Test(.comparesWithPython, arguments: ["", " WITHOUT ROWID"])
  func `a table of links may have rows twice, rows that lead nowhere, and no rowids`(_ kind: String) throws {
    let fixture = try StoreFixture(
      making: """
        store = Store(path, Model([
            E('P', [A('n', 'string'), R('ts', 'T', 'ps', many=True)]), E('T', [A('n', 'string'), R('ps', 'P', 'ts', many=True)])]))
        ts = [Object('T') for n in range(2)]
        store.write([Object('P', ts=ts)] + ts)
        run, without = store.db.execute, '\(kind)'
        run('ALTER TABLE Z_1TS RENAME TO old')
        key = ', PRIMARY KEY (Z_1PS, Z_2TS)' if without else ''
        run('CREATE TABLE Z_1TS (Z_1PS INTEGER, Z_2TS INTEGER' + key + ')' + without)
        run('INSERT INTO Z_1TS SELECT * FROM old')
        if not without:
            run('INSERT INTO Z_1TS SELECT * FROM old')
        run('DROP TABLE old')
        run('INSERT INTO Z_1TS VALUES (1, 77), (88, 1)')
        store.close()
        """)
    let open = try fixture.open()
    #expect(try open.read { try links($0) } == ["P1.ts 1", "P1.ts 2", "T1.ps 1", "T2.ps 1"])
    try open.store.checkLinks()
    #expect(
      open.store.notes == [
        "a link of P.ts in Z_1TS leads to an object that is not there, and is left out (2 times)"
      ])
  }

  @Test(.comparesWithPython)
  func `a second model that cannot be read does not matter, and a damaged one is said`() throws {
    let fixture = try StoreFixture("library")
    let script = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      db.execute(sys.argv[2])
      db.commit()
      """
    try Python.run(["-c", script, fixture.url.path, "INSERT INTO Z_MODELCACHE VALUES (x'00')"])
    #expect(try fixture.open().store.notes == [])
    try Python.run(["-c", script, fixture.url.path, "UPDATE Z_MODELCACHE SET Z_CONTENT = x'00'"])
    let error = try #require(throws: HeartwoodError.self) { try fixture.model() }
    #expect(error.message.contains("Z_MODELCACHE, is damaged") && error.message.contains("--model"))
  }

  @Test(.comparesWithPython)
  func `a file whose log another process copies into it meanwhile is not called damaged`() throws {
    let fixture = try StoreFixture(
      making: """
        store = Store(path, Model([E('P', [A('n', 'string')])]), journal='wal')
        store.write([Object('P', {'n': 'x' * 500}) for n in range(200)])
        store.close()
        """)
    let open = try fixture.open()
    let script = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1], isolation_level=None)
      db.execute("UPDATE ZP SET ZN = 'y'")
      db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
      """
    try Python.run(["-c", script, fixture.url.path])
    let error = try #require(throws: HeartwoodError.self) { try open.store.readAll() }
    #expect(error.code == .persistentStoreChanged && error.message.contains("read it again"), "\(error)")
  }
}

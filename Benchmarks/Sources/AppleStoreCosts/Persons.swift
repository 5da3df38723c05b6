import CSQLite
import Foundation
import Heartwood

/// Persons of companies, a thousand to each, with the same values wherever they are written.
struct Persons {
  let count: Int

  private var companies: Int { (count + 999) / 1000 }

  private func name(_ number: Int) -> String {
    "Person \(number) of the long name \(number &* 7919 % 100_003)"
  }
  private func email(_ number: Int) -> String { "person.\(number)@example-\(number % 977).org" }
  private func score(_ number: Int) -> Double { Double(number &* 31 % 1009) / 8 }
  private func note(_ number: Int) -> String { String(repeating: "note ", count: number % 20) }

  static func model() -> ManagedObjectModel {
    let company = EntityDescription(
      name: "Company", properties: [AttributeDescription(name: "name", type: .string, isOptional: true)])
    let person = EntityDescription(
      name: "Person",
      properties: [
        ("number", AttributeType.integer64), ("name", .string), ("email", .string), ("age", .integer16),
        ("score", .double), ("joined", .date), ("isMember", .boolean), ("note", .string),
      ].map { AttributeDescription(name: $0, type: $1, isOptional: true) })
    let employer = RelationshipDescription(name: "employer", destination: company, isToMany: false)
    let staff = RelationshipDescription(name: "staff", destination: person, isToMany: true)
    (employer.inverseRelationship, staff.inverseRelationship) = (staff, employer)
    company.ownProperties.append(staff)
    person.ownProperties.append(employer)
    return ManagedObjectModel(entities: [company, person])
  }

  /// Makes the file as Core Data does, without a model in it.
  func writeStore(to url: URL) throws {
    let database = try Database(url.path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    try database.run(
      """
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;
      CREATE TABLE ZCOMPANY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
      CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, ZISMEMBER INTEGER,
        ZNUMBER INTEGER, ZEMPLOYER INTEGER, ZJOINED TIMESTAMP, ZSCORE FLOAT, ZEMAIL VARCHAR, ZNAME VARCHAR, ZNOTE VARCHAR);
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Company', 0, \(companies)), (2, 'Person', 0, \(count));
      INSERT INTO Z_METADATA VALUES (1, '\(UUID().uuidString)', NULL);
      """)
    for number in 0..<companies {
      try database.run("INSERT INTO ZCOMPANY VALUES (\(number + 1), 1, 1, 'Company \(number)')")
    }
    let insert = try database.statement("INSERT INTO ZPERSON VALUES (?,?,?,?,?,?,?,?,?,?,?,?)")
    for number in 0..<count {
      for (place, value) in [number + 1, 2, 1, number % 90, number % 2, number, number / 1000 + 1]
        .enumerated()
      {
        sqlite3_bind_int64(insert, Int32(place + 1), Int64(value))
      }
      sqlite3_bind_double(insert, 8, Double(number))
      sqlite3_bind_double(insert, 9, score(number))
      for (place, text) in [email(number), name(number), note(number)].enumerated() {
        sqlite3_bind_text(
          insert, Int32(place + 10), text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
      }
      try database.step(insert)
    }
    sqlite3_finalize(insert)
    try database.run("CREATE INDEX ZPERSON_ZEMPLOYER_INDEX ON ZPERSON (ZEMPLOYER); COMMIT")
  }

  /// Reads every cell with SQLite, texts as Swift's.
  func scanWithSQLite(_ url: URL) throws -> Int {
    let database = try Database(url.path, SQLITE_OPEN_READONLY)
    let select = try database.statement("SELECT * FROM ZPERSON")
    defer { sqlite3_finalize(select) }
    var sum = 0
    while try database.step(select) {
      for column in 0..<sqlite3_column_count(select) {
        switch sqlite3_column_type(select, column) {
        case SQLITE_INTEGER: sum &+= Int(sqlite3_column_int64(select, column))
        case SQLITE_FLOAT: sum &+= Int(sqlite3_column_double(select, column))
        case SQLITE_TEXT: sum &+= String(cString: sqlite3_column_text(select, column)).utf8.count
        default: sum &+= 1
        }
      }
    }
    return sum
  }

  /// Inserts the same objects with two batch requests.
  func batchInsert(at url: URL) throws {
    let coordinator = try PersistentStoreCoordinator(checking: Self.model())
    try coordinator.addPersistentStore(type: .log, at: url)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try context.performAndWait {
      let names = (0..<companies).map { ["name": "Company \($0)"] }
      let request = BatchInsertRequest(entityName: "Company", objects: names)
      request.resultType = .objectIDs
      let made = try context.execute(request)
      let employers = (made.result as? [ManagedObjectID]) ?? []
      var number = 0
      try context.execute(
        BatchInsertRequest(
          entityName: "Person",
          dictionaryHandler: { row in
            guard number < count else { return true }
            row["number"] = number
            row["age"] = number % 90
            row["isMember"] = number % 2 == 1
            row["joined"] = Date(timeIntervalSinceReferenceDate: Double(number))
            row["score"] = score(number)
            row["email"] = email(number)
            row["name"] = name(number)
            row["note"] = note(number)
            row["employer"] = employers[number / 1000]
            number += 1
            return false
          }))
    }
    try coordinator.close()
  }

  /// A sum of what a store has.
  static func sum(at url: URL) throws -> Int {
    let coordinator = try PersistentStoreCoordinator(checking: model())
    try coordinator.addPersistentStore(type: .log, at: url)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    defer { try? coordinator.close() }
    return try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Person")
      request.fetchBatchSize = 1000
      var sum = 0
      for object in try context.fetch(request) {
        sum &+= (object.value(forKey: "number") as? Int64).map { Int($0) } ?? 0
        sum &+= (object.value(forKey: "name") as? String)?.utf8.count ?? 0
        sum &+= (object.value(forKey: "note") as? String)?.utf8.count ?? 0
        sum &+= object.value(forKey: "employer") == nil ? 0 : 1
      }
      return sum
    }
  }
}

/// A connection to SQLite.
private final class Database {
  private var handle: OpaquePointer?

  init(_ path: String, _ flags: Int32) throws {
    try check(sqlite3_open_v2(path, &handle, flags, nil))
  }

  deinit { sqlite3_close_v2(handle) }

  func run(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

  func statement(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
    return statement
  }

  /// - Returns: Whether there is a row. A statement that has none is reset.
  @discardableResult func step(_ statement: OpaquePointer?) throws -> Bool {
    let code = sqlite3_step(statement)
    if code == SQLITE_ROW { return true }
    try check(code == SQLITE_DONE ? sqlite3_reset(statement) : code)
    return false
  }

  private func check(_ code: Int32) throws {
    guard code != SQLITE_OK else { return }
    throw CocoaError(
      .fileReadUnknown, userInfo: [NSLocalizedDescriptionKey: String(cString: sqlite3_errmsg(handle))])
  }
}

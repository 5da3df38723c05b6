import BenchmarkHarness
import CSQLite
import Foundation

/// SQLite by hand: the C API, statements prepared once, numbers as keys with the identities in an index beside them, rows
/// into structs, an index that fits each row.
final class SQLitePublishedPeer: PublishedPeer {
  private let database: OpaquePointer
  private let statement: SQLiteStatements

  init(directory: String) throws {
    database = try SQLiteStatement.open(directory + "/published.sqlite")
    statement = SQLiteStatements(on: database)
    for command in Self.settings { try SQLiteStatement.run(command, on: database) }
  }

  private static let settings = [
    "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA cache_size = -1000000",
    "PRAGMA mmap_size = 4000000000", "PRAGMA foreign_keys = ON",
    """
    CREATE TABLE user (
      id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, firstName TEXT NOT NULL, surname TEXT NOT NULL,
      age INTEGER NOT NULL)
    """,
    """
    CREATE TABLE school (
      id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, name TEXT NOT NULL, location TEXT NOT NULL,
      kind TEXT NOT NULL)
    """,
    "CREATE INDEX schoolByName ON school (name)",
    """
    CREATE TABLE student (
      id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, firstName TEXT NOT NULL, surname TEXT NOT NULL,
      age INTEGER NOT NULL, school INTEGER NOT NULL REFERENCES school ON DELETE CASCADE)
    """,
    "CREATE INDEX studentBySchool ON student (school)",
    """
    CREATE TABLE grade (
      id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, subject TEXT NOT NULL, grade TEXT NOT NULL,
      board TEXT NOT NULL, student INTEGER NOT NULL REFERENCES student ON DELETE CASCADE)
    """,
    "CREATE INDEX gradeByStudent ON grade (student)",
    "CREATE INDEX gradeBySubject ON grade (subject, student)",
    "CREATE INDEX gradeByGrade ON grade (grade, student)",
    """
    CREATE TABLE orders (
      number INTEGER PRIMARY KEY, customer TEXT NOT NULL, employee INTEGER NOT NULL, ordered TEXT NOT NULL,
      required TEXT NOT NULL, shipped TEXT, shipper INTEGER NOT NULL, freight REAL NOT NULL, name TEXT NOT NULL,
      address TEXT NOT NULL, city TEXT NOT NULL, region TEXT, postalCode TEXT NOT NULL, country TEXT NOT NULL)
    """,
  ]

  func insert(_ users: [PublishedData.User]) throws {
    try inTransaction {
      let insert = try statement("INSERT INTO user (identity, firstName, surname, age) VALUES (?, ?, ?, ?)")
      for user in users {
        try Self.withBytes(of: user.identity) { identity in
          insert.bind(identity, at: 1)
          insert.bind(user.firstName, at: 2)
          insert.bind(user.surname, at: 3)
          insert.bind(Int(user.age), at: 4)
          try insert.run()
        }
      }
    }
  }

  func users(named name: String) throws -> UInt64 {
    var digest = ReadDigest()
    for user in try users("WHERE firstName = ? ORDER BY age", name) {
      digest.add(UInt64(bitPattern: user.age))
    }
    return digest.value
  }

  private func users(_ condition: String, _ name: String?) throws -> [SQLiteUser] {
    let query = try statement("SELECT id, identity, firstName, surname, age FROM user " + condition)
    if let name { query.bind(name, at: 1) }
    return try rows(query) { SQLiteUser($0) }
  }

  func rename(_ name: String, to other: String) throws {
    try inTransaction {
      let update = try statement("UPDATE user SET firstName = ? WHERE id = ?")
      for user in try users("WHERE firstName = ?", name) {
        update.bind(other, at: 1)
        update.bind(Int(user.id), at: 2)
        try update.run()
      }
    }
  }

  func insert(_ schools: [PublishedData.School]) throws {
    try inTransaction {
      let insert = try statement("INSERT INTO school (identity, name, location, kind) VALUES (?, ?, ?, ?)")
      for school in schools {
        try Self.withBytes(of: school.identity) { identity in
          insert.bind(identity, at: 1)
          insert.bind(school.name, at: 2)
          insert.bind(school.location, at: 3)
          insert.bind(school.kind, at: 4)
          try insert.run()
        }
        try self.insert(school.students, of: Int(sqlite3_last_insert_rowid(database)))
      }
    }
  }

  private func insert(_ students: [PublishedData.Student], of school: Int) throws {
    let insert = try statement(
      "INSERT INTO student (identity, firstName, surname, age, school) VALUES (?, ?, ?, ?, ?)")
    for student in students {
      try Self.withBytes(of: student.identity) { identity in
        insert.bind(identity, at: 1)
        insert.bind(student.firstName, at: 2)
        insert.bind(student.surname, at: 3)
        insert.bind(Int(student.age), at: 4)
        insert.bind(school, at: 5)
        try insert.run()
      }
      try self.insert(student.grades, of: Int(sqlite3_last_insert_rowid(database)))
    }
  }

  private func insert(_ grades: [PublishedData.Grade], of student: Int) throws {
    let insert = try statement(
      "INSERT INTO grade (identity, subject, grade, board, student) VALUES (?, ?, ?, ?, ?)")
    for grade in grades {
      try Self.withBytes(of: grade.identity) { identity in
        insert.bind(identity, at: 1)
        insert.bind(grade.subject, at: 2)
        insert.bind(grade.grade, at: 3)
        insert.bind(grade.board, at: 4)
        insert.bind(student, at: 5)
        try insert.run()
      }
    }
  }

  func students(in subject: String, with grade: String) throws -> UInt64 {
    let query = try statement(
      """
      SELECT id, identity, firstName, surname, age FROM student WHERE id IN (SELECT student FROM grade WHERE subject = ?)
      AND id IN (SELECT student FROM grade WHERE grade = ?)
      """)
    query.bind(subject, at: 1)
    query.bind(grade, at: 2)
    var digest = UnorderedDigest()
    for student in try rows(query, { SQLiteUser($0) }) { digest.add(student.surname, 0) }
    return digest.value
  }

  func insert(_ orders: [PublishedData.Order]) throws {
    try inTransaction {
      let insert = try statement("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      for order in orders {
        insert.bind(Int(order.number), at: 1)
        insert.bind(Int(order.employee), at: 3)
        insert.bind(Int(order.shipper), at: 7)
        insert.bind(order.freight, at: 8)
        let texts: [(Int32, String?)] = [
          (2, order.customer), (4, order.ordered), (5, order.required), (6, order.shipped), (9, order.name),
          (10, order.address), (11, order.city), (12, order.region), (13, order.postalCode),
          (14, order.country),
        ]
        for (place, text) in texts {
          if let text { insert.bind(text, at: place) } else { insert.bindNull(at: place) }
        }
        try insert.run()
      }
    }
  }

  func loadOrders() throws -> UInt64 {
    let query = try statement("SELECT * FROM orders ORDER BY number")
    var digest = ReadDigest()
    for order in try rows(query, { PublishedData.Order($0) }) {
      digest.add(
        (order.number, order.employee, order.shipper), order.freight,
        (order.customer, order.ordered, order.required, order.name, order.address),
        (order.city, order.postalCode, order.country), (order.shipped, order.region))
    }
    return digest.value
  }

  func digestOfAll() throws -> UInt64 {
    var digest = UnorderedDigest()
    for user in try users("", nil) {
      digest.add(user.identity.uuidString + user.firstName + user.surname, user.age)
    }
    let students = try statement(
      """
      SELECT student.id, student.identity, firstName, name, age FROM student
      JOIN school ON school.id = student.school
      """)
    for student in try rows(students, { SQLiteUser($0) }) {
      digest.add(student.identity.uuidString + student.firstName + student.surname, student.age)
    }
    let grades = try statement(
      """
      SELECT grade.id, grade.identity, subject || grade, board, age FROM grade
      JOIN student ON student.id = grade.student
      """)
    for grade in try rows(grades, { SQLiteUser($0) }) {
      digest.add(grade.identity.uuidString + grade.firstName + grade.surname, grade.age)
    }
    return digest.value
  }

  func close() throws {
    statement.finalize()
    guard sqlite3_close(database) == SQLITE_OK else { throw SQLiteStatement.failure(of: database) }
  }

  /// A failure ends the run, so nothing is rolled back.
  private func inTransaction(_ body: () throws -> Void) throws {
    try statement("BEGIN").run()
    try body()
    try statement("COMMIT").run()
  }

  private func rows<Row>(_ query: SQLiteStatement, _ make: (SQLiteStatement) -> Row) throws -> [Row] {
    var rows: [Row] = []
    while try query.step() { rows.append(make(query)) }
    query.reset()
    return rows
  }

  private static func withBytes(
    of identity: UUID, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    try withUnsafeBytes(of: identity.uuid, body)
  }
}

/// An identity, two texts and a number: a user, a student, and what the digest of all compares.
private struct SQLiteUser {
  let id: Int64
  let identity: UUID
  let firstName, surname: String
  let age: Int64

  init(_ row: SQLiteStatement) {
    id = Int64(row.integer(0))
    let bytes = row.blob(1)
    identity = UUID(uuid: bytes.count < 16 ? UUID().uuid : bytes.loadUnaligned(as: uuid_t.self))
    firstName = row.text(2)
    surname = row.text(3)
    age = Int64(row.integer(4))
  }
}

extension PublishedData.Order {
  fileprivate init(_ row: SQLiteStatement) {
    self.init(
      number: Int64(row.integer(0)), customer: row.text(1), employee: Int64(row.integer(2)),
      ordered: row.text(3),
      required: row.text(4), shipped: row.optionalText(5), shipper: Int64(row.integer(6)),
      freight: row.double(7),
      name: row.text(8), address: row.text(9), city: row.text(10), region: row.optionalText(11),
      postalCode: row.text(12), country: row.text(13))
  }
}

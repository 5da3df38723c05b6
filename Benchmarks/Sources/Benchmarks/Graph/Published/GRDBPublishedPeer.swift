import BenchmarkHarness
import Foundation
import GRDB

/// GRDB with plain records: a pool in WAL mode, identities as keys, indexes on what the published benchmarks index.
final class GRDBPublishedPeer: PublishedPeer {
  private let pool: DatabasePool

  init(directory: String) throws {
    pool = try GRDBTables.durablePool(directory + "/published.sqlite")
    try pool.write { try Self.makeTables($0) }
  }

  private static func makeTables(_ database: Database) throws {
    for name in ["user", "student"] {
      try database.create(table: name) { table in
        table.primaryKey("identity", .blob)
        table.column("firstName", .text).notNull()
        table.column("surname", .text).notNull()
        table.column("age", .integer).notNull()
        if name == "student" { table.column("school", .blob).notNull().indexed() }
      }
    }
    try database.create(table: "school") { table in
      table.primaryKey("identity", .blob)
      table.column("name", .text).notNull().indexed()
      table.column("location", .text).notNull()
      table.column("kind", .text).notNull()
    }
    try database.create(table: "grade") { table in
      table.primaryKey("identity", .blob)
      table.column("subject", .text).notNull().indexed()
      table.column("grade", .text).notNull().indexed()
      table.column("board", .text).notNull()
      table.column("student", .blob).notNull().indexed()
        .references("student", onDelete: .cascade)
    }
    try database.create(table: "orders") { table in
      table.primaryKey("number", .integer)
      for name in OrderRecord.texts { table.column(name, .text).notNull() }
      for name in ["shipped", "region"] { table.column(name, .text) }
      for name in ["employee", "shipper"] { table.column(name, .integer).notNull() }
      table.column("freight", .double).notNull()
    }
  }

  func insert(_ users: [PublishedData.User]) throws {
    try pool.write { database in
      for user in users { try UserRecord(user).insert(database) }
    }
  }

  func users(named name: String) throws -> UInt64 {
    let users = try pool.read { database in
      try UserRecord.filter(Column("firstName") == name).order(Column("age")).fetchAll(database)
    }
    var digest = ReadDigest()
    for user in users { digest.add(UInt64(bitPattern: user.age)) }
    return digest.value
  }

  func rename(_ name: String, to other: String) throws {
    try pool.write { database in
      for var user in try UserRecord.filter(Column("firstName") == name).fetchAll(database) {
        user.firstName = other
        try user.update(database, columns: ["firstName"])
      }
    }
  }

  func insert(_ schools: [PublishedData.School]) throws {
    try pool.write { database in
      for school in schools {
        try SchoolRecord(school).insert(database)
        for student in school.students {
          try StudentRecord(student, of: school).insert(database)
          for grade in student.grades { try GradeRecord(grade, of: student).insert(database) }
        }
      }
    }
  }

  func students(in subject: String, with grade: String) throws -> UInt64 {
    let students = try pool.read { database in
      let ofSubject = GradeRecord.filter(Column("subject") == subject).select(Column("student"))
      let ofGrade = GradeRecord.filter(Column("grade") == grade).select(Column("student"))
      return try StudentRecord.filter(
        ofSubject.contains(Column("identity")) && ofGrade.contains(Column("identity"))
      ).fetchAll(database)
    }
    var digest = UnorderedDigest()
    for student in students { digest.add(student.surname, 0) }
    return digest.value
  }

  func insert(_ orders: [PublishedData.Order]) throws {
    try pool.write { database in
      for order in orders { try OrderRecord(order: order).insert(database) }
    }
  }

  func loadOrders() throws -> UInt64 {
    let records = try pool.read { try OrderRecord.order(Column("number")).fetchAll($0) }
    var digest = ReadDigest()
    for order in records.lazy.map(\.order) {
      digest.add(
        (order.number, order.employee, order.shipper), order.freight,
        (order.customer, order.ordered, order.required, order.name, order.address),
        (order.city, order.postalCode, order.country), (order.shipped, order.region))
    }
    return digest.value
  }

  func digestOfAll() throws -> UInt64 {
    try pool.read { database in
      var digest = UnorderedDigest()
      for user in try UserRecord.fetchAll(database) {
        digest.add(user.identity.uuidString + user.firstName + user.surname, user.age)
      }
      let names = Dictionary(
        uniqueKeysWithValues: try SchoolRecord.fetchAll(database).map { ($0.identity, $0.name) })
      var ages: [UUID: Int64] = [:]
      for student in try StudentRecord.fetchAll(database) {
        ages[student.identity] = student.age
        digest.add(
          student.identity.uuidString + student.firstName + (names[student.school] ?? ""), student.age)
      }
      for grade in try GradeRecord.fetchAll(database) {
        digest.add(
          grade.identity.uuidString + grade.subject + grade.grade + grade.board, ages[grade.student] ?? -1)
      }
      return digest.value
    }
  }

  func close() throws { try pool.close() }
}

private struct UserRecord: FetchableRecord, PersistableRecord {
  let identity: UUID
  var firstName: String
  let surname: String
  let age: Int64

  static let databaseTableName = "user"

  init(_ data: PublishedData.User) {
    (identity, firstName, surname, age) = (data.identity, data.firstName, data.surname, data.age)
  }

  init(row: Row) {
    (identity, firstName, surname, age) = (row["identity"], row["firstName"], row["surname"], row["age"])
  }

  func encode(to container: inout PersistenceContainer) {
    container["identity"] = identity
    container["firstName"] = firstName
    container["surname"] = surname
    container["age"] = age
  }
}

private struct SchoolRecord: FetchableRecord, PersistableRecord {
  let identity: UUID
  let name, location, kind: String

  static let databaseTableName = "school"

  init(_ data: PublishedData.School) {
    (identity, name, location, kind) = (data.identity, data.name, data.location, data.kind)
  }

  init(row: Row) {
    (identity, name, location, kind) = (row["identity"], row["name"], row["location"], row["kind"])
  }

  func encode(to container: inout PersistenceContainer) {
    container["identity"] = identity
    container["name"] = name
    container["location"] = location
    container["kind"] = kind
  }
}

private struct StudentRecord: FetchableRecord, PersistableRecord {
  let identity: UUID
  let firstName, surname: String
  let age: Int64
  let school: UUID

  static let databaseTableName = "student"

  init(_ data: PublishedData.Student, of school: PublishedData.School) {
    (identity, firstName, surname, age) = (data.identity, data.firstName, data.surname, data.age)
    self.school = school.identity
  }

  init(row: Row) {
    (identity, firstName, surname, age) = (row["identity"], row["firstName"], row["surname"], row["age"])
    school = row["school"]
  }

  func encode(to container: inout PersistenceContainer) {
    container["identity"] = identity
    container["firstName"] = firstName
    container["surname"] = surname
    container["age"] = age
    container["school"] = school
  }
}

private struct GradeRecord: FetchableRecord, PersistableRecord {
  let identity: UUID
  let subject, grade, board: String
  let student: UUID

  static let databaseTableName = "grade"

  init(_ data: PublishedData.Grade, of student: PublishedData.Student) {
    (identity, subject, grade, board) = (data.identity, data.subject, data.grade, data.board)
    self.student = student.identity
  }

  init(row: Row) {
    (identity, subject, grade, board) = (row["identity"], row["subject"], row["grade"], row["board"])
    student = row["student"]
  }

  func encode(to container: inout PersistenceContainer) {
    container["identity"] = identity
    container["subject"] = subject
    container["grade"] = grade
    container["board"] = board
    container["student"] = student
  }
}

/// An order, whose columns are decoded by index.
private struct OrderRecord: FetchableRecord, PersistableRecord {
  let order: PublishedData.Order

  static let databaseTableName = "orders"
  static let texts = ["customer", "ordered", "required", "name", "address", "city", "postalCode", "country"]
  static var databaseSelection: [any SQLSelectable] {
    (["number"] + texts + ["shipped", "region", "employee", "shipper", "freight"]).map { Column($0) }
  }

  init(order: PublishedData.Order) { self.order = order }

  init(row: Row) {
    order = PublishedData.Order(
      number: row[0], customer: row[1], employee: row[11], ordered: row[2], required: row[3], shipped: row[9],
      shipper: row[12], freight: row[13], name: row[4], address: row[5], city: row[6], region: row[10],
      postalCode: row[7], country: row[8])
  }

  func encode(to container: inout PersistenceContainer) {
    container["number"] = order.number
    container["customer"] = order.customer
    container["ordered"] = order.ordered
    container["required"] = order.required
    container["name"] = order.name
    container["address"] = order.address
    container["city"] = order.city
    container["postalCode"] = order.postalCode
    container["country"] = order.country
    container["shipped"] = order.shipped
    container["region"] = order.region
    container["employee"] = order.employee
    container["shipper"] = order.shipper
    container["freight"] = order.freight
  }
}

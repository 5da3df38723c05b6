import BenchmarkHarness
import GRDB

/// GRDB as its guide to performance advises: statements are prepared once and kept with the connection, rows are decoded
/// by the index of their columns.
final class GRDBTunedPeer: GraphPeer {
  let pool: DatabasePool

  init(directory: String) throws {
    pool = try GRDBTables.open(directory + "/people.sqlite")
  }

  func insert(_ people: People) throws {
    try pool.write { database in
      let statement = try database.cachedStatement(sql: "INSERT INTO company VALUES (?, ?, ?, ?)")
      for company in people.companies {
        try statement.execute(arguments: [company.number + 1, company.number, company.name, company.city])
      }
      try Self.insert(people.persons[...], into: database)
    }
  }

  private static func insert(_ persons: ArraySlice<People.PersonData>, into database: Database) throws {
    let statement = try database.cachedStatement(sql: "INSERT INTO person VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
    for person in persons {
      statement.setUncheckedArguments([
        person.number + 1, person.number, person.email, person.name, person.age, person.score, person.joined,
        person.team, Int64(person.company) + 1,
      ])
      try statement.execute()
    }
  }

  func noteIdentifiers() {}

  func touchAll() throws -> UInt64 {
    var digest = UnorderedDigest()
    for person in try pool.read({ try Self.persons($0, "", []) }) { digest.add(person.name, person.age) }
    return digest.value
  }

  func lookUp(_ emails: [String]) throws -> UInt64 { try one(emails, "WHERE email = ?") }

  func load(_ persons: [Int]) throws -> UInt64 { try one(persons.map { Int64($0) + 1 }, "WHERE id = ?") }

  private func one(_ keys: [some DatabaseValueConvertible & Sendable], _ condition: String) throws -> UInt64 {
    try pool.read { database in
      var digest = ReadDigest()
      for key in keys {
        let person = try Self.persons(database, condition, [key]).first
        guard let person else { throw missingKey("GRDB tuned") }
        digest.add(person.name)
      }
      return digest.value
    }
  }

  func agedByName(_ ages: [Range<Int64>]) throws -> UInt64 { try aged(ages, by: "name") }

  func agedByScore(_ ages: [Range<Int64>]) throws -> UInt64 { try aged(ages, by: "score") }

  private func aged(_ ages: [Range<Int64>], by column: String) throws -> UInt64 {
    try pool.read { database in
      var persons: [TunedPerson] = []
      for range in ages {
        persons += try Self.persons(
          database, "WHERE age >= ? AND age < ? ORDER BY \(column), number LIMIT 100",
          [range.lowerBound, range.upperBound])
      }
      return Self.digest(persons)
    }
  }

  func joinedSince(_ days: [Int64]) throws -> UInt64 {
    try pool.read { database in
      var persons: [TunedPerson] = []
      for day in days {
        persons += try Self.persons(
          database, "WHERE joined >= ? AND score > 50 ORDER BY joined LIMIT 20", [day])
      }
      return Self.digest(persons)
    }
  }

  private static func digest(_ persons: [TunedPerson]) -> UInt64 {
    var digest = ReadDigest()
    for person in persons {
      digest.add(person.name)
      digest.add(UInt64(bitPattern: person.number))
    }
    return digest.value
  }

  func walkCompanies() throws -> UInt64 {
    try pool.read { database in
      var digest = ReadDigest()
      let companies = try database.cachedStatement(sql: "SELECT id, name FROM company ORDER BY number")
      for company in try Row.fetchAll(companies) {
        let (id, name) = (company[0] as Int64, company[1] as String)
        let persons = try Self.persons(database, "WHERE companyId = ?", [id])
        digest.add(name)
        digest.add(UInt64(bitPattern: persons.reduce(0) { $0 + $1.age }))
      }
      return digest.value
    }
  }

  func raiseScores(team: Int64) throws {
    try pool.write { database in
      let statement = try database.cachedStatement(sql: "UPDATE person SET score = ? WHERE id = ?")
      for person in try Self.persons(database, "WHERE team = ?", [team]) {
        statement.setUncheckedArguments([person.score + 1, person.id])
        try statement.execute()
      }
    }
  }

  func insertLate(_ people: People) throws {
    for part in people.lateParts { try pool.write { try Self.insert(part, into: $0) } }
  }

  func deleteCompanies(_ numbers: [Int64]) throws {
    try pool.write { database in
      let statement = try database.cachedStatement(sql: "DELETE FROM company WHERE number = ?")
      for number in numbers { try statement.execute(arguments: [number]) }
    }
  }

  func digestOfAll() throws -> UInt64 { try pool.read { try GRDBTables.digestOfAll($0) } }

  func close() throws { try pool.close() }

  private static func persons(
    _ database: Database, _ condition: String, _ arguments: StatementArguments
  ) throws -> [TunedPerson] {
    let statement = try database.cachedStatement(
      sql: "SELECT id, number, email, name, age, score, joined, team, companyId FROM person " + condition)
    return try TunedPerson.fetchAll(statement, arguments: arguments)
  }
}

/// A person whose columns are decoded by index.
struct TunedPerson: FetchableRecord {
  let id, number: Int64
  let email, name: String
  let age: Int64
  let score: Double
  let joined, team, companyId: Int64

  init(row: Row) {
    id = row[0]
    number = row[1]
    email = row[2]
    name = row[3]
    age = row[4]
    score = row[5]
    joined = row[6]
    team = row[7]
    companyId = row[8]
  }
}

import BenchmarkHarness
import CSQLite

/// SQLite by hand: the C API, statements prepared once, rows into structs, an index that fits each row.
final class SQLiteGraphPeer: GraphPeer {
  private let database: OpaquePointer
  private let begin, commit, insertCompany, insertPerson: SQLiteStatement
  private let companies, all, byEmail, byIdentifier, byName, byScore, since, ofCompany,
    ofTeam: SQLiteStatement
  private let update, delete: SQLiteStatement
  /// Statements of further rows.
  let statement: SQLiteStatements

  init(directory: String) throws {
    let database = try SQLiteStatement.open(directory + "/people.sqlite")
    for command in Self.settings { try SQLiteStatement.run(command, on: database) }
    func statement(_ text: String) throws -> SQLiteStatement { try SQLiteStatement(text, on: database) }
    func persons(_ condition: String) throws -> SQLiteStatement {
      try statement("SELECT \(Self.columns) FROM person \(condition)")
    }
    self.database = database
    self.statement = SQLiteStatements(on: database)
    begin = try statement("BEGIN")
    commit = try statement("COMMIT")
    insertCompany = try statement("INSERT INTO company VALUES (?, ?, ?, ?)")
    insertPerson = try statement("INSERT INTO person VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
    companies = try statement("SELECT id, number, name, city FROM company ORDER BY number")
    all = try persons("")
    byEmail = try persons("WHERE email = ?")
    byIdentifier = try persons("WHERE id = ?")
    byName = try persons("WHERE age >= ? AND age < ? ORDER BY name, number LIMIT 100")
    byScore = try persons("WHERE age >= ? AND age < ? ORDER BY score, number LIMIT 100")
    since = try persons("WHERE joined >= ? AND score > 50 ORDER BY joined LIMIT 20")
    ofCompany = try persons("WHERE company = ?")
    ofTeam = try persons("WHERE team = ?")
    update = try statement("UPDATE person SET score = ? WHERE id = ?")
    delete = try statement("DELETE FROM company WHERE number = ?")
  }

  private static let columns = "id, number, email, name, age, score, joined, team, company"
  private static let settings = [
    "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA cache_size = -1000000",
    "PRAGMA mmap_size = 4000000000", "PRAGMA foreign_keys = ON",
    """
    CREATE TABLE IF NOT EXISTS company (
      id INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE, name TEXT NOT NULL, city TEXT NOT NULL)
    """,
    """
    CREATE TABLE IF NOT EXISTS person (
      id INTEGER PRIMARY KEY, number INTEGER NOT NULL, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
      age INTEGER NOT NULL, score REAL NOT NULL, joined INTEGER NOT NULL, team INTEGER NOT NULL,
      company INTEGER NOT NULL REFERENCES company ON DELETE CASCADE)
    """,
    "CREATE INDEX IF NOT EXISTS personByName ON person (name, number)",
    "CREATE INDEX IF NOT EXISTS personByJoined ON person (joined)",
    "CREATE INDEX IF NOT EXISTS personByCompany ON person (company)",
  ]

  func insert(_ people: People) throws {
    try inTransaction {
      for company in people.companies {
        insertCompany.bind(Int(company.number) + 1, at: 1)
        insertCompany.bind(Int(company.number), at: 2)
        insertCompany.bind(company.name, at: 3)
        insertCompany.bind(company.city, at: 4)
        try insertCompany.run()
      }
      try insert(people.persons[...])
    }
  }

  private func insert(_ persons: ArraySlice<People.PersonData>) throws {
    for person in persons {
      insertPerson.bind(Int(person.number) + 1, at: 1)
      insertPerson.bind(Int(person.number), at: 2)
      insertPerson.bind(person.email, at: 3)
      insertPerson.bind(person.name, at: 4)
      insertPerson.bind(Int(person.age), at: 5)
      insertPerson.bind(person.score, at: 6)
      insertPerson.bind(Int(person.joined), at: 7)
      insertPerson.bind(Int(person.team), at: 8)
      insertPerson.bind(person.company + 1, at: 9)
      try insertPerson.run()
    }
  }

  func noteIdentifiers() {}

  func touchAll() throws -> UInt64 {
    var digest = UnorderedDigest()
    for person in try persons(all) { digest.add(person.name, person.age) }
    return digest.value
  }

  func lookUp(_ emails: [String]) throws -> UInt64 {
    try inTransaction {
      var digest = ReadDigest()
      for email in emails {
        byEmail.bind(email, at: 1)
        digest.add(try one(byEmail).name)
      }
      return digest.value
    }
  }

  func load(_ persons: [Int]) throws -> UInt64 {
    try inTransaction {
      var digest = ReadDigest()
      for person in persons {
        byIdentifier.bind(person + 1, at: 1)
        digest.add(try one(byIdentifier).name)
      }
      return digest.value
    }
  }

  func agedByName(_ ages: [Range<Int64>]) throws -> UInt64 { try aged(ages, byName) }

  func agedByScore(_ ages: [Range<Int64>]) throws -> UInt64 { try aged(ages, byScore) }

  private func aged(_ ages: [Range<Int64>], _ statement: SQLiteStatement) throws -> UInt64 {
    try inTransaction {
      var found: [SQLitePerson] = []
      for range in ages {
        statement.bind(Int(range.lowerBound), at: 1)
        statement.bind(Int(range.upperBound), at: 2)
        found += try persons(statement)
      }
      return Self.digest(found)
    }
  }

  func joinedSince(_ days: [Int64]) throws -> UInt64 {
    try inTransaction {
      var found: [SQLitePerson] = []
      for day in days {
        since.bind(Int(day), at: 1)
        found += try persons(since)
      }
      return Self.digest(found)
    }
  }

  private static func digest(_ persons: [SQLitePerson]) -> UInt64 {
    var digest = ReadDigest()
    for person in persons {
      digest.add(person.name)
      digest.add(UInt64(bitPattern: person.number))
    }
    return digest.value
  }

  func walkCompanies() throws -> UInt64 {
    try inTransaction {
      var digest = ReadDigest()
      for company in try allCompanies() {
        ofCompany.bind(Int(company.id), at: 1)
        digest.add(company.name)
        digest.add(UInt64(bitPattern: try persons(ofCompany).reduce(0) { $0 + $1.age }))
      }
      return digest.value
    }
  }

  func raiseScores(team: Int64) throws {
    try inTransaction {
      ofTeam.bind(Int(team), at: 1)
      for person in try persons(ofTeam) {
        update.bind(person.score + 1, at: 1)
        update.bind(Int(person.id), at: 2)
        try update.run()
      }
    }
  }

  func insertLate(_ people: People) throws {
    for part in people.lateParts { try inTransaction { try insert(part) } }
  }

  func deleteCompanies(_ numbers: [Int64]) throws {
    try inTransaction {
      for number in numbers {
        delete.bind(Int(number), at: 1)
        try delete.run()
      }
    }
  }

  func digestOfAll() throws -> UInt64 {
    var digest = UnorderedDigest()
    for company in try allCompanies() { digest.add(company.name, company.number) }
    for person in try persons(all) {
      digest.add(person.email + person.name, person.number)
      digest.add("\(person.score)", person.company - 1)
    }
    return digest.value
  }

  func close() throws {
    let statements = [
      begin, commit, insertCompany, insertPerson, companies, all, byEmail, byIdentifier, byName, byScore,
      since,
      ofCompany, ofTeam, update, delete,
    ]
    for statement in statements { statement.finalize() }
    statement.finalize()
    guard sqlite3_close(database) == SQLITE_OK else { throw SQLiteStatement.failure(of: database) }
  }

  /// A failure ends the run, so nothing is rolled back.
  private func inTransaction<Result>(_ body: () throws -> Result) throws -> Result {
    try begin.run()
    let result = try body()
    try commit.run()
    return result
  }

  private func persons(_ statement: SQLiteStatement) throws -> [SQLitePerson] {
    var persons: [SQLitePerson] = []
    while try statement.step() { persons.append(SQLitePerson(statement)) }
    statement.reset()
    return persons
  }

  private func one(_ statement: SQLiteStatement) throws -> SQLitePerson {
    guard try statement.step() else { throw missingKey("SQLite") }
    defer { statement.reset() }
    return SQLitePerson(statement)
  }

  private func allCompanies() throws -> [SQLiteCompany] {
    var found: [SQLiteCompany] = []
    while try companies.step() { found.append(SQLiteCompany(companies)) }
    companies.reset()
    return found
  }
}

private struct SQLiteCompany {
  let id, number: Int64
  let name, city: String

  init(_ row: SQLiteStatement) {
    id = Int64(row.integer(0))
    number = Int64(row.integer(1))
    name = row.text(2)
    city = row.text(3)
  }
}

struct SQLitePerson {
  let id, number: Int64
  let email, name: String
  let age: Int64
  let score: Double
  let joined, team, company: Int64

  init(_ row: SQLiteStatement) {
    id = Int64(row.integer(0))
    number = Int64(row.integer(1))
    email = row.text(2)
    name = row.text(3)
    age = Int64(row.integer(4))
    score = row.double(5)
    joined = Int64(row.integer(6))
    team = Int64(row.integer(7))
    company = Int64(row.integer(8))
  }
}

import BenchmarkHarness
import GRDB

/// GRDB with plain records: a pool in WAL mode, foreign keys that cascade, indexes on what is looked up.
final class GRDBPeer: GraphPeer {
  private let pool: DatabasePool

  init(directory: String) throws {
    pool = try GRDBTables.open(directory + "/people.sqlite")
  }

  func insert(_ people: People) throws {
    try pool.write { database in
      for company in people.companies { try CompanyRecord(company).insert(database) }
      for person in people.persons { try PersonRecord(person).insert(database) }
    }
  }

  func noteIdentifiers() {}

  func touchAll() throws -> UInt64 {
    var digest = UnorderedDigest()
    for person in try pool.read({ try PersonRecord.fetchAll($0) }) { digest.add(person.name, person.age) }
    return digest.value
  }

  func lookUp(_ emails: [String]) throws -> UInt64 {
    try pool.read { database in
      var digest = ReadDigest()
      for email in emails {
        let person = try PersonRecord.filter(PersonRecord.Columns.email == email).fetchOne(database)
        digest.add(try found(person).name)
      }
      return digest.value
    }
  }

  func agedByName(_ ages: [Range<Int64>]) throws -> UInt64 { try aged(ages, by: PersonRecord.Columns.name) }

  func agedByScore(_ ages: [Range<Int64>]) throws -> UInt64 { try aged(ages, by: PersonRecord.Columns.score) }

  private func aged(_ ages: [Range<Int64>], by column: Column) throws -> UInt64 {
    try pool.read { database in
      var persons: [PersonRecord] = []
      for range in ages {
        persons +=
          try PersonRecord
          .filter(PersonRecord.Columns.age >= range.lowerBound && PersonRecord.Columns.age < range.upperBound)
          .order(column, PersonRecord.Columns.number).limit(100).fetchAll(database)
      }
      return Self.digest(persons)
    }
  }

  func joinedSince(_ days: [Int64]) throws -> UInt64 {
    try pool.read { database in
      var persons: [PersonRecord] = []
      for day in days {
        persons += try PersonRecord.filter(
          PersonRecord.Columns.joined >= day && PersonRecord.Columns.score > 50
        )
        .order(PersonRecord.Columns.joined).limit(20).fetchAll(database)
      }
      return Self.digest(persons)
    }
  }

  private static func digest(_ persons: [PersonRecord]) -> UInt64 {
    var digest = ReadDigest()
    for person in persons {
      digest.add(person.name)
      digest.add(UInt64(bitPattern: person.number))
    }
    return digest.value
  }

  func raiseScores(team: Int64) throws {
    try pool.write { database in
      for var person in try PersonRecord.filter(PersonRecord.Columns.team == team).fetchAll(database) {
        person.score += 1
        try person.update(database, columns: [PersonRecord.Columns.score])
      }
    }
  }

  /// One request for each company: faster than `including(all:)` with the same records.
  func walkCompanies() throws -> UInt64 {
    try pool.read { database in
      var digest = ReadDigest()
      for company in try CompanyRecord.order(CompanyRecord.Columns.number).fetchAll(database) {
        let persons = try company.request(for: CompanyRecord.persons).fetchAll(database)
        digest.add(company.name)
        digest.add(UInt64(bitPattern: persons.reduce(0) { $0 + $1.age }))
      }
      return digest.value
    }
  }

  func load(_ persons: [Int]) throws -> UInt64 {
    try pool.read { database in
      var digest = ReadDigest()
      for person in persons {
        digest.add(try found(PersonRecord.fetchOne(database, id: Int64(person) + 1)).name)
      }
      return digest.value
    }
  }

  func insertLate(_ people: People) throws {
    for part in people.lateParts {
      try pool.write { database in
        for person in part { try PersonRecord(person).insert(database) }
      }
    }
  }

  func deleteCompanies(_ numbers: [Int64]) throws {
    try pool.write { database in
      let request = CompanyRecord.filter(numbers.contains(CompanyRecord.Columns.number))
      for company in try request.fetchAll(database) { try company.delete(database) }
    }
  }

  func digestOfAll() throws -> UInt64 { try pool.read { try GRDBTables.digestOfAll($0) } }

  func close() throws { try pool.close() }

  private func found(_ person: PersonRecord?) throws -> PersonRecord {
    guard let person else { throw missingKey("GRDB") }
    return person
  }
}

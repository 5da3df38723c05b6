import BenchmarkHarness
import GRDB

extension GRDBTunedPeer: ValuePeer {
  func batchInsert(_ people: People) throws { try insert(people) }

  func averages() throws -> UInt64 {
    var digest = ReadDigest()
    try forEachRow(ValueQueries.averages) { row in
      digest.add(row[0] as Int)
      digest.add(rounded: row[1])
    }
    return digest.value
  }

  func streamTwo() throws -> UInt64 {
    var digest = UnorderedDigest()
    try forEachRow(ValueQueries.two) { digest.add($0[0], $0[1]) }
    return digest.value
  }

  func agesByCity() throws -> UInt64 {
    var digest = ReadDigest()
    try forEachRow(ValueQueries.agesByCity("companyId")) { row in
      digest.add(row[0] as String)
      digest.add(row[1] as Int)
      digest.add(row[2] as Int)
    }
    return digest.value
  }

  func runningAges() throws -> UInt64 {
    var digest = ReadDigest()
    try forEachRow(ValueQueries.runningAges) { row in
      digest.add(row[0] as Int)
      digest.add(row[1] as Int)
    }
    return digest.value
  }

  func firstPage() throws -> UInt64 {
    var digest = ReadDigest()
    try forEachRow(ValueQueries.firstPage("companyId")) { digest.add(TunedPerson(row: $0).name) }
    return digest.value
  }

  func ends() throws -> UInt64 {
    var digest = ReadDigest()
    try forEachRow(ValueQueries.least) { digest.add($0[0] as Int) }
    try forEachRow(ValueQueries.greatest) { digest.add($0[0] as Int) }
    return digest.value
  }

  func batchRaise(team: Int64) throws { try run(ValueQueries.raise, team) }

  func batchDelete(team: Int64) throws { try run(ValueQueries.delete, team) }

  private func run(_ text: String, _ team: Int64) throws {
    try pool.write { try $0.cachedStatement(sql: text).execute(arguments: [team]) }
  }

  private func forEachRow(_ text: String, _ body: (Row) -> Void) throws {
    try pool.read { database in
      let rows = try Row.fetchCursor(database.cachedStatement(sql: text))
      while let row = try rows.next() { body(row) }
    }
  }
}

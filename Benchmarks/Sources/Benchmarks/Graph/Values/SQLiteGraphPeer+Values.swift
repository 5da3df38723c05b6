import BenchmarkHarness

extension SQLiteGraphPeer: ValuePeer {
  func batchInsert(_ people: People) throws { try insert(people) }

  func averages() throws -> UInt64 {
    var digest = ReadDigest()
    try forEachRow(ValueQueries.averages) { row in
      digest.add(row.integer(0))
      digest.add(rounded: row.double(1))
    }
    return digest.value
  }

  func streamTwo() throws -> UInt64 {
    var digest = UnorderedDigest()
    try forEachRow(ValueQueries.two) { digest.add($0.text(0), Int64($0.integer(1))) }
    return digest.value
  }

  func agesByCity() throws -> UInt64 {
    var digest = ReadDigest()
    try forEachRow(ValueQueries.agesByCity("person.company")) { row in
      digest.add(row.text(0))
      digest.add(row.integer(1))
      digest.add(row.integer(2))
    }
    return digest.value
  }

  func runningAges() throws -> UInt64 {
    var digest = ReadDigest()
    try forEachRow(ValueQueries.runningAges) { row in
      digest.add(row.integer(0))
      digest.add(row.integer(1))
    }
    return digest.value
  }

  func firstPage() throws -> UInt64 {
    var digest = ReadDigest()
    try forEachRow(ValueQueries.firstPage("person.company")) { row in
      let person = SQLitePerson(row)
      digest.add(person.name)
    }
    return digest.value
  }

  func ends() throws -> UInt64 {
    var digest = ReadDigest()
    try forEachRow(ValueQueries.least) { digest.add($0.integer(0)) }
    try forEachRow(ValueQueries.greatest) { digest.add($0.integer(0)) }
    return digest.value
  }

  func batchRaise(team: Int64) throws { try run(ValueQueries.raise, team) }

  func batchDelete(team: Int64) throws { try run(ValueQueries.delete, team) }

  private func run(_ text: String, _ team: Int64) throws {
    let statement = try self.statement(text)
    statement.bind(Int(team), at: 1)
    try statement.run()
  }

  private func forEachRow(_ text: String, _ body: (SQLiteStatement) -> Void) throws {
    let statement = try self.statement(text)
    defer { statement.reset() }
    while try statement.step() { body(statement) }
  }
}

import BenchmarkHarness

/// A peer that also computes values in the store: columns, groups, joins, windows and batches.
protocol ValuePeer: GraphPeer {
  /// Inserts all companies and persons by batches.
  func batchInsert(_ people: People) throws

  /// The average score of each age.
  func averages() throws -> UInt64

  /// Name and age of all persons, row by row.
  func streamTwo() throws -> UInt64

  /// For each city the number of persons above thirty and the sum of their ages, the twenty greatest sums first.
  func agesByCity() throws -> UInt64

  /// For all persons the sum of the ages of their team up to them, by the day of joining.
  func runningAges() throws -> UInt64

  /// The first fifty persons by name.
  func firstPage() throws -> UInt64

  /// The least and the greatest day of joining.
  func ends() throws -> UInt64

  /// Raises the scores of a team by a tenth.
  func batchRaise(team: Int64) throws

  /// Deletes the persons of a team.
  func batchDelete(team: Int64) throws
}

extension ReadDigest {
  /// Takes in a number, to six digits after the point.
  mutating func add(rounded number: Double) { add(UInt64(bitPattern: Int64((number * 1e6).rounded()))) }

  mutating func add(_ number: Int) { add(UInt64(bitPattern: Int64(number))) }
}

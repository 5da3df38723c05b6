import BenchmarkHarness

/// A store of objects under measurement. Each method is one row: it starts with nothing in memory and returns
/// what it read as a digest.
protocol GraphPeer: AnyObject {
  /// Opens a store in `directory`, or makes it.
  init(directory: String) throws

  /// Inserts all companies and persons in one save.
  func insert(_ people: People) throws

  /// Notes the identifiers of all persons, for `load`. Not timed.
  func noteIdentifiers() throws

  /// Fetches all persons and touches `name` and `age`.
  func touchAll() throws -> UInt64

  /// Looks up one person for each mail address.
  func lookUp(_ emails: [String]) throws -> UInt64

  /// For each range of ages: the first hundred by name, and by number where names are equal. An index has the names.
  func agedByName(_ ages: [Range<Int64>]) throws -> UInt64

  /// For each range of ages: the first hundred by score, and by number where scores are equal. No index helps.
  func agedByScore(_ ages: [Range<Int64>]) throws -> UInt64

  /// For each day: the first twenty, by day, of the persons who joined since then and have a score above 50. An index
  /// has the order.
  func joinedSince(_ days: [Int64]) throws -> UInt64

  /// For all companies by number, the ages of all their persons.
  func walkCompanies() throws -> UInt64

  /// Loads persons one by one by their identifiers and touches `name`.
  /// - Parameter persons: Places in `People.persons`.
  func load(_ persons: [Int]) throws -> UInt64

  /// Fetches the persons of a team, raises their scores by one and saves.
  func raiseScores(team: Int64) throws

  /// Adds `people.late` in durable saves of a hundred.
  func insertLate(_ people: People) throws

  /// Deletes companies, and by that their persons.
  func deleteCompanies(_ numbers: [Int64]) throws

  /// Everything there is. Not timed.
  func digestOfAll() throws -> UInt64

  func close() throws
}

extension People {
  /// `late` in parts of a hundred.
  var lateParts: [ArraySlice<PersonData>] {
    stride(from: 0, to: late.count, by: 100).map { late[$0..<min($0 + 100, late.count)] }
  }
}

/// Digests of objects whose order no peer promises: the sum of their own digests.
struct UnorderedDigest {
  private(set) var value: UInt64 = 0

  mutating func add(_ text: String, _ number: Int64) {
    var digest = ReadDigest()
    digest.add(text)
    digest.add(UInt64(bitPattern: number))
    value &+= SplitMix64.mixed(digest.value)
  }
}

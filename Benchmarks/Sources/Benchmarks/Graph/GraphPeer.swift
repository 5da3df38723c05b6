/// A store of objects under measurement. Each method is one row: it starts with nothing in memory and returns
/// what it read as a digest.
protocol GraphPeer: AnyObject {
  /// Opens a store in `directory`, or makes it.
  init(directory: String) throws

  /// Inserts everything in one save.
  func insert(_ library: Library) throws

  /// Notes the identifiers of all books, for `load`. Not timed.
  func noteIdentifiers() throws

  /// Fetches all books and touches `title` and `pages`.
  func touchAll() throws -> UInt64

  /// Looks up one book for each ISBN.
  func lookUp(_ isbns: [String]) throws -> UInt64

  /// The first hundred by title of the books that cost more than 50. No index helps.
  func dearestByTitle() throws -> UInt64

  /// For each day: the first twenty, by day, of the books published since then that cost more than 50. An index
  /// has the order.
  func publishedSince(_ days: [Int64]) throws -> UInt64

  /// Fetches the books on a shelf, raises their prices by one and saves.
  func raisePrices(shelf: Int64) throws

  /// For all publishers by number, the pages of all their books.
  func walkPublishers() throws -> UInt64

  /// Loads books one by one by their identifiers and touches `title`.
  /// - Parameter books: Places in the library's list of books.
  func load(_ books: [Int]) throws -> UInt64

  /// Deletes publishers, and by that their books.
  func deletePublishers(_ numbers: [Int64]) throws

  /// Everything there is. Not timed.
  func digestOfAll() throws -> UInt64

  func close() throws
}

/// Digests of objects whose order no peer promises: the sum of their own digests.
struct UnorderedDigest {
  private(set) var value: UInt64 = 0

  mutating func add(_ title: String, _ number: Int64) {
    var digest = ReadDigest()
    digest.add(title)
    digest.add(UInt64(bitPattern: number))
    value &+= SplitMix64.mixed(digest.value)
  }
}

/// A store of titles at places under measurement. Each method is one row, and returns what it found as a digest.
protocol SearchPeer: AnyObject {
  var name: String { get }

  /// Inserts all items in one save.
  func insert(_ texts: SearchTexts) throws

  /// How many titles match each of these queries, in the language that both peers have for words, beginnings and phrases.
  func count(_ queries: [String]) throws -> UInt64

  /// The titles that have a word, by number.
  func titles(_ words: [String]) throws -> UInt64

  /// The ten most relevant titles for a word. Peers weigh differently: the digest is that of how many there are.
  func best(_ words: [String]) throws -> UInt64

  /// The numbers of the items in squares, in order.
  func inside(_ corners: [(x: Double, y: Double)], side: Double) throws -> UInt64

  func close() throws
}

/// The indexes that a peer keeps.
struct SearchIndexes {
  var words = false
  var boxes = false
}

/// The result of salvaging a damaged store: what was copied, and what is lost.
public struct SalvageReport: Sendable {
  /// The newest generation of the damaged store of which anything was read.
  public internal(set) var generation = Generation(rawValue: 0)
  /// The number of keys in the new store.
  public internal(set) var keys: UInt64 = 0
  /// The number of keys whose values came from the tree of a checkpoint.
  public internal(set) var keysOfTree: UInt64 = 0
  /// The number of the log's transactions that were applied, in whole or in part.
  public internal(set) var transactions = 0
  /// The parts that could not be read, in the order in which they were found; the first ten thousand losses.
  public internal(set) var losses: [SalvageLoss] = []
  /// The number of losses beyond those in `losses`.
  public internal(set) var furtherLosses = 0

  private static let lossLimit = 10_000

  /// Whether everything was readable.
  public var isComplete: Bool { losses.isEmpty }

  mutating func add(_ loss: SalvageLoss) {
    if losses.count < Self.lossLimit { losses.append(loss) } else { furtherLosses += 1 }
  }
}

/// A part of a damaged store that could not be read.
public struct SalvageLoss: Sendable, CustomStringConvertible {
  /// A description in one sentence.
  public let what: String
  /// The file, if known.
  public let file: String?
  /// The byte offset in the file, if known.
  public let offset: Int64?
  /// The keys concerned, if known.
  public let keys: KeyRange?
  /// The number of keys in that range according to the tree, if known.
  public internal(set) var expectedKeys: UInt64?
  /// The number of those keys that were found in the log, possibly with older values.
  public internal(set) var foundKeys: UInt64?
  /// The transactions concerned, if known.
  public let generations: ClosedRange<UInt64>?

  init(
    _ what: String, file: String? = nil, offset: Int? = nil, keys: KeyRange? = nil,
    expectedKeys: UInt64? = nil,
    generations: ClosedRange<UInt64>? = nil
  ) {
    self.what = what
    self.file = file
    self.offset = offset.map(Int64.init)
    self.keys = keys
    self.expectedKeys = expectedKeys
    self.generations = generations
  }

  /// One line: the sentence, the file and the offset, and how many keys were found elsewhere.
  public var description: String {
    var text = what
    if let generations {
      let (first, last) = (generations.lowerBound, generations.upperBound)
      text += first == last ? ", transaction \(first)" : ", transactions \(first) to \(last)"
    }
    if let file { text += " (\(file)" + (offset.map { " at byte \($0)" } ?? "") + ")" }
    if let expectedKeys {
      text += "; keys: \(expectedKeys), of which \(foundKeys ?? 0) were found in the log"
    }
    return text
  }
}

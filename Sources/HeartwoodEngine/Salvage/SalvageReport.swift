/// What salvaging a damaged store has brought over, and what of it is lost.
public struct SalvageReport: Sendable {
  /// The newest generation of the damaged store that something was read of.
  public internal(set) var generation = Generation(rawValue: 0)
  /// How many keys the new store has.
  public internal(set) var keys: UInt64 = 0
  /// How many keys have their values from the tree of a checkpoint.
  public internal(set) var keysOfTree: UInt64 = 0
  /// How many transactions of the log were applied, in whole or in part.
  public internal(set) var transactions = 0
  /// What could not be read, in the order in which it was met; the first ten thousand.
  public internal(set) var losses: [SalvageLoss] = []
  /// How many there are besides those.
  public internal(set) var furtherLosses = 0

  private static let lossLimit = 10_000

  /// True where nothing was met that could not be read.
  public var isComplete: Bool { losses.isEmpty }

  mutating func add(_ loss: SalvageLoss) {
    if losses.count < Self.lossLimit { losses.append(loss) } else { furtherLosses += 1 }
  }
}

/// Something that could not be read.
public struct SalvageLoss: Sendable, CustomStringConvertible {
  /// What it is, in a sentence.
  public let what: String
  /// The file, where it lies in one.
  public let file: String?
  /// Where in the file.
  public let offset: Int64?
  /// The keys that it concerns, where that is known.
  public let keys: KeyRange?
  /// How many keys there are said to be in that range, and how many of them older parts of the log still had.
  public internal(set) var expectedKeys: UInt64?
  /// How many of them were found elsewhere: in the log, where the value may be an older one.
  public internal(set) var foundKeys: UInt64?
  /// The transactions that it concerns, where that is known.
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

  /// One line: the sentence, the file and the place, and how much of it was found elsewhere.
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

import HeartwoodBytes

/// What the processes of a store tell one another: up to where the log may be read, and who writes it.
///
/// Written by the one that leads, and believed only as long as a process is there that has been since it was begun: nothing
/// of it has to survive a crash of the machine.
struct ProcessRecord: Hashable, Sendable {
  /// Counts up with every record.
  var counter: UInt64 = 0
  var identifier: StoreIdentifier
  /// The open store that leads, or was the last to: a number that it has drawn.
  var leader: UInt64
  /// It still leads, or has ended without letting go: then the log has to be recovered.
  var isHeld: Bool
  /// Up to here the log's transactions are published.
  var end: LogPoint
  /// Up to here the log is synced.
  var durable: LogPoint
  /// The number for the next segment of either kind.
  var nextSegment: UInt32

  static let wordCount = 16
  static let byteCount = wordCount * 8
  private static let seed: UInt64 = 0x5072_6F63_6573_7365

  typealias Words = [UInt64]

  /// As it lies in a slot: the counter first, a checksum last.
  var words: Words {
    var words: Words = [
      counter, identifier.low, identifier.high, leader, UInt64(nextSegment) << 1 | (isHeld ? 1 : 0),
    ]
    for point in [end, durable] {
      words += [point.position.rawValue, point.sequence, point.chain, point.generation]
    }
    words += [0, 0]
    return words + [Self.checksum(words)]
  }

  /// Nil where the checksum does not hold, or what is said makes no sense.
  init?(_ words: Words) {
    guard words.count == Self.wordCount, words[0] > 0,
      words[Self.wordCount - 1] == Self.checksum(Array(words.dropLast())),
      let end = Self.point(words[5...]), let durable = Self.point(words[9...]), words[4] >> 33 == 0
    else { return nil }
    counter = words[0]
    identifier = StoreIdentifier(low: words[1], high: words[2])
    leader = words[3]
    isHeld = words[4] & 1 == 1
    nextSegment = UInt32(truncatingIfNeeded: words[4] >> 1)
    self.end = end
    self.durable = durable
  }

  init(
    identifier: StoreIdentifier, leader: UInt64, isHeld: Bool, end: LogPoint, durable: LogPoint,
    nextSegment: UInt32
  ) {
    self.identifier = identifier
    self.leader = leader
    self.isHeld = isHeld
    self.end = end
    self.durable = durable
    self.nextSegment = nextSegment
  }

  private static func point(_ words: ArraySlice<UInt64>) -> LogPoint? {
    let first = words.startIndex
    guard let position = LogPosition(rawValue: words[first]) else { return nil }
    return LogPoint(
      position: position, sequence: words[first + 1], chain: words[first + 2], generation: words[first + 3])
  }

  private static func checksum(_ words: Words) -> UInt64 {
    words.withUnsafeBytes { XXH64.hash($0, seed: seed) }
  }
}

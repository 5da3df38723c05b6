import HeartwoodBytes

/// What the processes of a store tell one another: up to where the log may be read, and who writes it.
///
/// Written by the one that leads, and believed only as long as a process is there that has been since it was begun: nothing
/// of it has to survive a crash of the machine.
struct WriterRecord: Hashable, Sendable {
  /// Counts up with every record.
  var counter: UInt64 = 0
  var identifier: StoreIdentifier
  /// The open store that leads, or was the last to: a number that it has drawn.
  var writer: UInt64
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
    Words(unsafeUninitializedCapacity: Self.wordCount) { words, initialized in
      if let base = words.baseAddress { encode(to: base) }
      initialized = Self.wordCount
    }
  }

  /// Writes its words to memory that has room for them. No array of its own, as every commit does this.
  func encode(to words: UnsafeMutablePointer<UInt64>) {
    words[0] = counter
    words[1] = identifier.low
    words[2] = identifier.high
    words[3] = writer
    words[4] = UInt64(nextSegment) << 1 | (isHeld ? 1 : 0)
    Self.encode(end, to: words + 5)
    Self.encode(durable, to: words + 9)
    (words + 13).update(repeating: 0, count: 2)
    words[Self.wordCount - 1] = Self.checksum(words)
  }

  private static func encode(_ point: LogPoint, to words: UnsafeMutablePointer<UInt64>) {
    words[0] = point.position.rawValue
    words[1] = point.sequence
    words[2] = point.chain
    words[3] = point.generation
  }

  /// Of all words but the last.
  private static func checksum(_ words: UnsafePointer<UInt64>) -> UInt64 {
    XXH64.hash(UnsafeRawBufferPointer(start: words, count: byteCount - 8), seed: seed)
  }
}

extension WriterRecord {
  /// Nil where the checksum does not hold, or what is said makes no sense.
  init?(_ words: Words) {
    guard words.count == Self.wordCount, words[0] > 0, words[Self.wordCount - 1] == Self.checksum(words),
      let end = Self.point(words[5...]), let durable = Self.point(words[9...]), words[4] >> 33 == 0
    else { return nil }
    self.init(
      counter: words[0], identifier: StoreIdentifier(low: words[1], high: words[2]), writer: words[3],
      isHeld: words[4] & 1 == 1, end: end, durable: durable,
      nextSegment: UInt32(truncatingIfNeeded: words[4] >> 1))
  }

  private static func point(_ words: ArraySlice<UInt64>) -> LogPoint? {
    let first = words.startIndex
    guard let position = LogPosition(rawValue: words[first]) else { return nil }
    return LogPoint(
      position: position, sequence: words[first + 1], chain: words[first + 2], generation: words[first + 3])
  }
}

/// What processes have told somebody who opens their store for reading only. It is read before any file that it may name:
/// whatever it says is published is then found in those files, however long opening them takes.
struct PublishedRecord {
  /// Nil where nobody is there whose word can be believed.
  var record: WriterRecord?
  /// Of the newest record, believed or not: what is told later has a higher one.
  var counter: UInt64 = 0
}

import HeartwoodBytes

/// A record in the shared header: the published end of the log, and its writer.
///
/// Written by the current writer. Valid only while some process has stayed attached since the page was
/// initialised, so it need not survive a crash of the machine.
struct WriterRecord: Hashable, Sendable {
  /// Increases with every record.
  var counter: UInt64 = 0
  var identifier: StoreIdentifier
  /// The name of the open store that holds the lease, or held it last.
  var writer: UInt64
  /// Whether the writer still holds the lease. If it ended without releasing it, the log must be recovered.
  var isHeld: Bool
  /// Whether the writer has not adopted yet what the one before it left. `end` is what that one has published then.
  var isRecovering = false
  /// End of the published transactions.
  var end: LogPoint
  /// End of the synced part of the log.
  var durable: LogPoint
  /// The number for the next log or page segment.
  var nextSegment: UInt32

  static let wordCount = 16
  /// The offset in bytes of the word whose lowest bit is `isHeld`.
  static let stateOffset = 32
  static let byteCount = wordCount * 8
  private static let seed: UInt64 = 0x5072_6F63_6573_7365

  typealias Words = [UInt64]

  /// The encoded record: the counter first, a checksum last.
  var words: Words {
    Words(unsafeUninitializedCapacity: Self.wordCount) { words, initialized in
      if let base = words.baseAddress { encode(to: base) }
      initialized = Self.wordCount
    }
  }

  /// Encodes the record to memory of `wordCount` words. Allocates no array, because every commit writes a
  /// record.
  func encode(to words: UnsafeMutablePointer<UInt64>) {
    words[0] = counter
    words[1] = identifier.low
    words[2] = identifier.high
    words[3] = writer
    words[4] = UInt64(nextSegment) << 1 | (isHeld ? 1 : 0)
    Self.encode(end, to: words + 5)
    Self.encode(durable, to: words + 9)
    words[13] = isRecovering ? 1 : 0
    words[14] = 0
    words[Self.wordCount - 1] = Self.checksum(words)
  }

  private static func encode(_ point: LogPoint, to words: UnsafeMutablePointer<UInt64>) {
    words[0] = point.position.rawValue
    words[1] = point.sequence
    words[2] = point.chain
    words[3] = point.generation
  }

  /// Checksum of all words except the last.
  private static func checksum(_ words: UnsafePointer<UInt64>) -> UInt64 {
    XXH64.hash(UnsafeRawBufferPointer(start: words, count: byteCount - 8), seed: seed)
  }
}

extension WriterRecord {
  /// Nil if the checksum does not match or a field is invalid.
  init?(_ words: Words) {
    guard words.count == Self.wordCount, words[0] > 0, words[Self.wordCount - 1] == Self.checksum(words),
      let end = Self.point(words[5...]), let durable = Self.point(words[9...]), words[4] >> 33 == 0
    else { return nil }
    self.init(
      counter: words[0], identifier: StoreIdentifier(low: words[1], high: words[2]), writer: words[3],
      isHeld: words[4] & 1 == 1, isRecovering: words[13] & 1 == 1, end: end, durable: durable,
      nextSegment: UInt32(truncatingIfNeeded: words[4] >> 1))
  }

  private static func point(_ words: ArraySlice<UInt64>) -> LogPoint? {
    let first = words.startIndex
    guard let position = LogPosition(rawValue: words[first]) else { return nil }
    return LogPoint(
      position: position, sequence: words[first + 1], chain: words[first + 2], generation: words[first + 3])
  }
}

/// The record that an opening for reading only found. It is read before any file that it may name, so that
/// everything it says is published is found in those files, however long opening them takes.
struct PublishedRecord {
  /// Nil if no process is attached, so that no record is valid.
  var record: WriterRecord?
  /// Counter of the newest record, valid or not. Later records have higher ones.
  var counter: UInt64 = 0
}

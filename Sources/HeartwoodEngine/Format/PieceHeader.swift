import HeartwoodBytes
import HeartwoodFiles

/// The head of a shipped piece: what it belongs to, the state of the store after it, and where its bytes belong.
struct PieceHeader: Hashable, Sendable {
  /// Bytes of one segment that the piece contains.
  struct Part: Hashable, Sendable {
    var number: UInt32
    var isLog: Bool
    var offset: UInt64
    var count: UInt64
    var checksum: UInt64 = 0
  }

  var identifier: StoreIdentifier
  var lineage: Lineage
  var number: UInt64
  /// The checksum of the piece before; 0 in the first one.
  var previous: UInt64
  /// When the store was created, in nanoseconds since 1970.
  var created: Int64
  var content: StoreContent?
  /// As in the anchor of the store.
  var features: StoreFeatures = []
  var nextSegment: UInt32
  var checkpoint: LogPosition?
  var checkpointChecksum: UInt64
  /// Where the log goes on; nil in a base, which contains all of the store.
  var start: LogPoint?
  var end: LogPoint
  /// Commit times of the transactions between `start` and `end`; in a base, of the last one.
  var earliestTime: Int64 = 0
  var latestTime: Int64 = 0
  /// When the piece was made, in nanoseconds since 1970.
  var shipped: Int64
  /// All live segments after this piece: the log's in order, then those of pages.
  var segments: [CheckpointRecord.Segment]
  var parts: [Part]

  var isBase: Bool { start == nil }

  /// Bytes of the header and both tables.
  var headBytes: Int { PieceFormat.headerBytes + PieceFormat.entryBytes * (segments.count + parts.count) }

  /// Bytes of the whole piece; nil if that is more than a number can say.
  var totalBytes: Int64? {
    var sum = UInt64(headBytes)
    for part in parts {
      let (next, overflows) = sum.addingReportingOverflow(part.count)
      guard !overflows else { return nil }
      sum = next
    }
    return Int64(exactly: sum)
  }

  /// The page segments, as a checkpoint names them.
  var pages: [CheckpointRecord.Segment] { segments.filter { !$0.isLog } }

  /// The log segments in order.
  var logs: [CheckpointRecord.Segment] { segments.filter(\.isLog) }

  // MARK: Encoding

  /// The header and both tables as they are written, and their checksum.
  func encoded() -> (bytes: [UInt8], checksum: UInt64) {
    var bytes = [UInt8](repeating: 0, count: headBytes)
    encodeOrigin(to: &bytes)
    encodeState(to: &bytes)
    var offset = PieceFormat.headerBytes
    for segment in segments {
      CheckpointRecord.encode(segment, to: &bytes, at: offset)
      offset += PieceFormat.entryBytes
    }
    for part in parts {
      Self.encode(part, to: &bytes, at: offset)
      offset += PieceFormat.entryBytes
    }
    let checksum = bytes.withBytes { XXH64.hash($0, seed: PieceFormat.checksumSeed) }
    bytes.setField(248, checksum)
    return (bytes, checksum)
  }

  private func encodeOrigin(to bytes: inout [UInt8]) {
    bytes.setField(0, PieceFormat.magic)
    bytes.setField(8, features.isEmpty ? PieceFormat.version : PieceFormat.newestVersion)
    bytes.setField(12, features.isEmpty ? PieceFormat.minimumReader : PieceFormat.newestVersion)
    bytes.setField(16, identifier.low)
    bytes.setField(24, identifier.high)
    bytes.setField(32, lineage.low)
    bytes.setField(40, lineage.high)
    bytes.setField(48, number)
    bytes.setField(56, previous)
    bytes.setField(64, isBase ? PieceFormat.baseKind : PieceFormat.pieceKind)
    bytes.setField(68, UInt32(truncatingIfNeeded: segments.count))
    bytes.setField(72, UInt32(truncatingIfNeeded: parts.count))
    bytes.setField(76, features.rawValue)
  }

  private func encodeState(to bytes: inout [UInt8]) {
    bytes.setField(80, created)
    bytes.setField(88, content?.low ?? 0)
    bytes.setField(96, content?.high ?? 0)
    bytes.setField(104, UInt64(nextSegment))
    bytes.setField(112, checkpoint?.rawValue ?? 0)
    bytes.setField(120, checkpointChecksum)
    start?.encode(to: &bytes, at: 128)
    end.encode(to: &bytes, at: 160)
    bytes.setField(192, earliestTime)
    bytes.setField(200, latestTime)
    bytes.setField(208, shipped)
  }

  private static func encode(_ part: Part, to bytes: inout [UInt8], at offset: Int) {
    bytes.setField(offset, part.number)
    bytes.setField(offset + 4, UInt32(part.isLog ? 1 : 2))
    bytes.setField(offset + 8, part.offset)
    bytes.setField(offset + 16, part.count)
    bytes.setField(offset + 24, part.checksum)
  }
}

/// Decoding of untrusted bytes.
extension PieceHeader {
  /// The result of reading a header.
  enum Reading {
    case valid(PieceHeader, checksum: UInt64)
    case newerFormat(UInt32)
    case invalid
  }

  /// Bytes of the header and both tables, as the first bytes of a piece say; nil if they are no header.
  static func headBytes(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count >= PieceFormat.headerBytes, bytes.field64(0) == PieceFormat.magic else { return nil }
    let entries = UInt64(bytes.field32(68)) + UInt64(bytes.field32(72))
    return PieceFormat.headerBytes + PieceFormat.entryBytes * Int(entries)
  }

  /// Decodes a header and its tables, after verifying their checksum.
  static func decode(_ bytes: [UInt8]) -> Reading {
    guard let count = bytes.withBytes({ headBytes($0) }), count == bytes.count else { return .invalid }
    var cleared = bytes
    cleared.setField(248, UInt64(0))
    let checksum = cleared.withBytes { XXH64.hash($0, seed: PieceFormat.checksumSeed) }
    return bytes.withBytes { buffer in
      guard buffer.field64(248) == checksum else { return .invalid }
      guard buffer.field32(12) <= PieceFormat.newestVersion,
        StoreFeatures(rawValue: buffer.field32(76)).areKnown
      else { return .newerFormat(buffer.field32(8)) }
      return decodeVerified(buffer).map { .valid($0, checksum: checksum) } ?? .invalid
    }
  }

  private static func decodeVerified(_ bytes: UnsafeRawBufferPointer) -> PieceHeader? {
    let isBase = bytes.field32(64) == PieceFormat.baseKind
    let start = LogPoint(bytes, at: 128)
    guard isBase || bytes.field32(64) == PieceFormat.pieceKind, (start == nil) == isBase,
      let end = LogPoint(bytes, at: 160), bytes.field64(104) <= Format.segmentNumberLimit + 1
    else { return nil }
    let tables = PieceFormat.headerBytes
    let segmentBytes = PieceFormat.entryBytes * Int(bytes.field32(68))
    guard let segments = segments(bytes.bytes(tables..<tables + segmentBytes)),
      let parts = parts(bytes.bytes(tables + segmentBytes..<bytes.count))
    else { return nil }
    let header = PieceHeader(
      identifier: StoreIdentifier(low: bytes.field64(16), high: bytes.field64(24)),
      lineage: Lineage(low: bytes.field64(32), high: bytes.field64(40)), number: bytes.field64(48),
      previous: bytes.field64(56), created: Int64(bitPattern: bytes.field64(80)),
      content: StoreContent(low: bytes.field64(88), high: bytes.field64(96)),
      features: StoreFeatures(rawValue: bytes.field32(76)),
      nextSegment: UInt32(bytes.field64(104)), checkpoint: LogPosition(rawValue: bytes.field64(112)),
      checkpointChecksum: bytes.field64(120), start: start, end: end,
      earliestTime: Int64(bitPattern: bytes.field64(192)), latestTime: Int64(bitPattern: bytes.field64(200)),
      shipped: Int64(bitPattern: bytes.field64(208)), segments: segments, parts: parts)
    return header.isSound ? header : nil
  }

  /// Whether the end of the log is in a listed segment, and a part is of a listed segment and within its extent.
  private var isSound: Bool {
    let extents = Dictionary(segments.map { (SegmentKey($0), $0.extent) }) { first, _ in first }
    guard number > 0, extents.count == segments.count,
      extents[SegmentKey(number: end.position.segment, isLog: true)] == UInt64(end.position.offset)
    else { return false }
    return parts.allSatisfy { part in
      let (partEnd, overflows) = part.offset.addingReportingOverflow(part.count)
      guard !overflows, part.count > 0, let extent = extents[SegmentKey(part)] else { return false }
      return partEnd <= (part.isLog ? extent : extent * UInt64(Format.pageBytes))
    }
  }

  private static func segments(_ bytes: UnsafeRawBufferPointer) -> [CheckpointRecord.Segment]? {
    var segments: [CheckpointRecord.Segment] = []
    for offset in stride(from: 0, to: bytes.count, by: PieceFormat.entryBytes) {
      guard let segment = CheckpointRecord.decodeSegment(bytes, at: offset) else { return nil }
      segments.append(segment)
    }
    return segments
  }

  private static func parts(_ bytes: UnsafeRawBufferPointer) -> [Part]? {
    var parts: [Part] = []
    for offset in stride(from: 0, to: bytes.count, by: PieceFormat.entryBytes) {
      let kind = bytes.field32(offset + 4)
      guard kind == 1 || kind == 2 else { return nil }
      parts.append(
        Part(
          number: bytes.field32(offset), isLog: kind == 1, offset: bytes.field64(offset + 8),
          count: bytes.field64(offset + 16), checksum: bytes.field64(offset + 24)))
    }
    return parts
  }
}

/// Which segment an entry of a table is of.
struct SegmentKey: Hashable, Sendable {
  let number: UInt32
  let isLog: Bool

  init(number: UInt32, isLog: Bool) {
    self.number = number
    self.isLog = isLog
  }

  init(_ segment: CheckpointRecord.Segment) { self.init(number: segment.number, isLog: segment.isLog) }
  init(_ part: PieceHeader.Part) { self.init(number: part.number, isLog: part.isLog) }

  /// The name of the segment's file.
  var name: String { isLog ? SegmentName.log(number) : SegmentName.pages(number) }
}

/// The checksum of a part, which is made of its chunks in turn.
struct PartChecksum {
  private(set) var value: UInt64 = 0

  /// Adds the next `chunkBytes` bytes, or the rest of the part.
  mutating func add(_ chunk: UnsafeRawBufferPointer) {
    value = Checksums.mix(value, XXH64.hash(chunk, seed: 0))
  }
}

/// The names of pieces.
struct PieceName: Hashable, Sendable {
  let number: UInt64
  let isBase: Bool

  init(_ number: UInt64, isBase: Bool) {
    self.number = number
    self.isBase = isBase
  }

  /// Nil for any name that is not of a piece.
  init?(_ text: String) {
    guard let (number, suffix) = FileName.numbered(text), suffix == "base" || suffix == "piece", number > 0
    else { return nil }
    self.init(number, isBase: suffix == "base")
  }

  var text: String {
    FileName.digits(number) + (isBase ? ".base" : ".piece")
  }
}

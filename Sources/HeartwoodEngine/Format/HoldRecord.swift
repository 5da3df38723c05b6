import HeartwoodBytes

/// A generation that is kept by name, and what it needs of the store's files.
struct HoldRecord: Hashable, Sendable {
  let name: String
  /// When it was taken, in nanoseconds since 1970.
  let created: Int64
  /// When it ends, in nanoseconds since 1970; the greatest number for never.
  let end: Int64
  let needs: Needs

  /// A generation, and where it is.
  struct Needs: Hashable, Sendable {
    let generation: UInt64
    /// A checkpoint that is not newer than the generation, and its frame's checksum; nil where the log is read from its beginning.
    let checkpoint: LogPosition?
    let checkpointChecksum: UInt64
    /// The log segment with the last frame that is read.
    let lastLogSegment: UInt32
    /// The numbers of all segments of both kinds that it needs, ascending.
    let segments: [UInt32]
  }

  init(name: String, created: Int64, end: Int64, _ needs: Needs) {
    (self.name, self.created, self.end, self.needs) = (name, created, end, needs)
  }

  /// - Parameter time: In nanoseconds since 1970.
  func isOver(at time: Int64) -> Bool { end <= time }
}

/// All holds of a store, as its file `holds` has them.
struct HoldList: Hashable, Sendable {
  var holds: [HoldRecord] = []

  private static let version: UInt32 = 1
  private static let seed: UInt64 = 0x486F_6C64_4865_6C64
  private static let headerBytes = 32
  private static let holdBytes = 56
  private static let checksumBytes = 8
  /// The longest name, in bytes.
  static let nameLimit = 255

  /// The whole file.
  func encoded(_ identifier: StoreIdentifier) -> [UInt8] {
    let byteCount = holds.reduce(Self.headerBytes) {
      $0 + Self.byteCount($1.needs.segments.count, $1.name.utf8.count)
    }
    var bytes = [UInt8](repeating: 0, count: byteCount + Self.checksumBytes)
    bytes.setField(0, Format.holdsMagic)
    bytes.setField(8, Self.version)
    bytes.setField(12, UInt32(truncatingIfNeeded: holds.count))
    bytes.setField(16, identifier.low)
    bytes.setField(24, identifier.high)
    var offset = Self.headerBytes
    for hold in holds { Self.encode(hold, to: &bytes, at: &offset) }
    let checksum = bytes.withBytes { XXH64.hash($0.bytes(0..<byteCount), seed: Self.seed) }
    bytes.setField(byteCount, checksum)
    return bytes
  }

  /// The bytes of a hold, with zeros up to a multiple of 8.
  private static func byteCount(_ segmentCount: Int, _ nameBytes: Int) -> Int {
    (holdBytes + 4 * segmentCount + nameBytes + 7) / 8 * 8
  }

  private static func encode(_ hold: HoldRecord, to bytes: inout [UInt8], at offset: inout Int) {
    let (needs, name) = (hold.needs, Array(hold.name.utf8))
    bytes.setField(offset, needs.generation)
    bytes.setField(offset + 8, hold.created)
    bytes.setField(offset + 16, hold.end)
    bytes.setField(offset + 24, needs.checkpoint?.rawValue ?? 0)
    bytes.setField(offset + 32, needs.checkpointChecksum)
    bytes.setField(offset + 40, needs.lastLogSegment)
    bytes.setField(offset + 44, UInt32(truncatingIfNeeded: needs.segments.count))
    bytes.setField(offset + 48, UInt32(truncatingIfNeeded: name.count))
    var place = offset + holdBytes
    for segment in needs.segments {
      bytes.setField(place, segment)
      place += 4
    }
    bytes.replaceSubrange(place..<place + name.count, with: name)
    offset += byteCount(needs.segments.count, name.count)
  }

  /// Decodes the file; nil if it is damaged, or of another store or a newer version.
  static func decode(_ bytes: UnsafeRawBufferPointer, of identifier: StoreIdentifier) -> HoldList? {
    let end = bytes.count - checksumBytes
    guard end >= headerBytes, bytes.field64(end) == XXH64.hash(bytes.bytes(0..<end), seed: seed),
      bytes.field64(0) == Format.holdsMagic, bytes.field32(8) == version,
      StoreIdentifier(low: bytes.field64(16), high: bytes.field64(24)) == identifier
    else { return nil }
    var list = HoldList()
    var offset = headerBytes
    for _ in 0..<bytes.field32(12) {
      guard let hold = decodeHold(bytes.bytes(0..<end), at: &offset) else { return nil }
      list.holds.append(hold)
    }
    return offset == end ? list : nil
  }

  private static func decodeHold(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) -> HoldRecord? {
    guard bytes.count - offset >= holdBytes else { return nil }
    let (segmentCount, nameBytes) = (Int(bytes.field32(offset + 44)), Int(bytes.field32(offset + 48)))
    let byteCount = byteCount(segmentCount, nameBytes)
    guard bytes.count - offset >= byteCount else { return nil }
    let table = offset + holdBytes
    let names = table + 4 * segmentCount
    guard let name = String(validating: bytes.bytes(names..<names + nameBytes), as: UTF8.self) else {
      return nil
    }
    let needs = HoldRecord.Needs(
      generation: bytes.field64(offset), checkpoint: LogPosition(rawValue: bytes.field64(offset + 24)),
      checkpointChecksum: bytes.field64(offset + 32), lastLogSegment: bytes.field32(offset + 40),
      segments: (0..<segmentCount).map { bytes.field32(table + 4 * $0) })
    let hold = HoldRecord(
      name: name, created: Int64(bitPattern: bytes.field64(offset + 8)),
      end: Int64(bitPattern: bytes.field64(offset + 16)), needs)
    offset += byteCount
    return hold
  }
}

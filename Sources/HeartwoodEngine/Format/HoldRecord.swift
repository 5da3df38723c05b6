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
    var writer = ByteWriter()
    writer.append(Format.holdsMagic)
    writer.append(Self.version)
    writer.append(UInt32(truncatingIfNeeded: holds.count))
    writer.append(identifier.low)
    writer.append(identifier.high)
    for hold in holds { Self.append(hold, to: &writer) }
    let checksum = writer.withUnsafeBytes { XXH64.hash($0, seed: Self.seed) }
    writer.append(checksum)
    return writer.withUnsafeBytes { Array($0) }
  }

  private static func append(_ hold: HoldRecord, to writer: inout ByteWriter) {
    let name = Array(hold.name.utf8)
    writer.append(hold.needs.generation)
    writer.append(hold.created)
    writer.append(hold.end)
    writer.append(hold.needs.checkpoint?.rawValue ?? 0)
    writer.append(hold.needs.checkpointChecksum)
    writer.append(hold.needs.lastLogSegment)
    writer.append(UInt32(truncatingIfNeeded: hold.needs.segments.count))
    writer.append(UInt32(truncatingIfNeeded: name.count))
    writer.append(UInt32(0))
    for segment in hold.needs.segments { writer.append(segment) }
    writer.append(name)
    writer.pad(toMultipleOf: 8)
  }

  /// Decodes the file; nil if it is damaged, or of another store or a newer version.
  static func decode(_ bytes: UnsafeRawBufferPointer, of identifier: StoreIdentifier) -> HoldList? {
    let end = bytes.count - checksumBytes
    guard end >= headerBytes, bytes.field64(end) == XXH64.hash(bytes.bytes(0..<end), seed: seed) else {
      return nil
    }
    do {
      var reader = ByteReader(bytes.bytes(0..<end))
      guard try reader.readUInt64() == Format.holdsMagic, try reader.readUInt32() == version else {
        return nil
      }
      let count = try reader.readUInt32()
      guard try reader.readUInt64() == identifier.low, try reader.readUInt64() == identifier.high,
        Int(count) <= reader.remaining / holdBytes
      else { return nil }
      var list = HoldList()
      for _ in 0..<count {
        guard let hold = try decodeHold(&reader) else { return nil }
        list.holds.append(hold)
      }
      return reader.remaining == 0 ? list : nil
    } catch {
      return nil
    }
  }

  private static func decodeHold(_ reader: inout ByteReader) throws(ByteReader.ShortInput) -> HoldRecord? {
    let generation = try reader.readUInt64()
    let (created, end) = (try reader.readInt64(), try reader.readInt64())
    let (position, checksum) = (try reader.readUInt64(), try reader.readUInt64())
    let (last, count) = (try reader.readUInt32(), try reader.readUInt32())
    let nameBytes = try reader.readUInt32()
    _ = try reader.readUInt32()
    guard Int(count) <= reader.remaining / 4 else { return nil }
    var segments: [UInt32] = []
    for _ in 0..<count { segments.append(try reader.readUInt32()) }
    guard let name = String(validating: try reader.readBytes(Int(nameBytes)), as: UTF8.self) else {
      return nil
    }
    let variable = Int(count) * 4 + Int(nameBytes)
    try reader.skip((8 - (holdBytes + variable) % 8) % 8)
    let needs = HoldRecord.Needs(
      generation: generation, checkpoint: LogPosition(rawValue: position), checkpointChecksum: checksum,
      lastLogSegment: last,
      segments: segments)
    return HoldRecord(name: name, created: created, end: end, needs)
  }
}

import HeartwoodBytes

/// One put or delete in a transaction frame: checksum (8 bytes) · key length × 4 + operation (varint) · value
/// length (varint) · key · value.
struct Record {
  let base: UnsafeRawPointer
  let operation: UInt64
  let keyOffset: Int
  let keyBytes: Int
  let valueBytes: Int

  var key: UnsafeRawBufferPointer { (base + keyOffset).bytes(keyBytes) }

  var value: UnsafeRawBufferPointer {
    let offset = keyOffset &+ keyBytes
    return (base + offset).bytes(valueBytes)
  }

  var totalBytes: Int { keyOffset &+ keyBytes &+ valueBytes }
  var checksum: UInt64 { base.field64(0) }

  /// Greatest number of bytes that a record adds to its key and value.
  static let overheadLimit = 8 + 10 + 10

  /// Decodes the lengths of the record at a position in bytes that are at hand.
  ///
  /// - Parameter available: Number of bytes there may be from the position; nil for those of `bytes`.
  static func parse(_ bytes: UnsafeRawBufferPointer, at position: Int = 0, available: Int? = nil) -> Record? {
    guard let base = bytes.baseAddress, position <= bytes.count else { return nil }
    return parse(base + position, available: available ?? bytes.count - position)
  }

  /// Parses the lengths of the record at `base`, reading at most `available` bytes. Nil if they are invalid;
  /// the bytes must not be trusted before `isIntact`.
  @inline(__always)
  static func parse(_ base: UnsafeRawPointer, available: Int) -> Record? {
    guard available >= 10 else { return nil }
    let lengths = Int(base.field16(8))
    // Nearly all records have a one-byte varint for each length.
    if lengths & 0x8080 == 0 {
      let keyBytes = (lengths & 0x7F) >> 2
      let valueBytes = lengths >> 8
      guard 10 &+ keyBytes &+ valueBytes <= available else { return nil }
      return Record(
        base: base, operation: UInt64(lengths & 3), keyOffset: 10, keyBytes: keyBytes, valueBytes: valueBytes)
    }
    return parseLong(base, available: available)
  }

  @inline(never)
  private static func parseLong(_ base: UnsafeRawPointer, available: Int) -> Record? {
    var offset = 8
    guard let tag = varint(base, &offset, available), let length = varint(base, &offset, available) else {
      return nil
    }
    let keyBytes = tag >> 2
    guard keyBytes <= UInt64(Format.keyLimit) + 2, length <= UInt64(Format.valueLimit) else { return nil }
    let record = Record(
      base: base, operation: tag & 3, keyOffset: offset, keyBytes: Int(keyBytes), valueBytes: Int(length))
    return record.totalBytes <= available ? record : nil
  }

  /// Reads one varint of at most five bytes; no length needs more.
  private static func varint(_ base: UnsafeRawPointer, _ offset: inout Int, _ limit: Int) -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while offset < limit, shift < 35 {
      let byte = UInt64(base.field8(offset))
      offset += 1
      value |= (byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    return nil
  }

  /// Whether the checksum is valid for this offset of this segment.
  @inline(__always)
  func isIntact(segmentSeed: UInt64, offset: Int) -> Bool {
    Self.isIntact(base, totalBytes, Checksums.seed(segmentSeed, at: offset))
  }

  /// A function of its own, because it needs all of the processor's registers.
  @inline(never)
  private static func isIntact(_ base: UnsafeRawPointer, _ totalBytes: Int, _ seed: UInt64) -> Bool {
    return base.field64(0) == XXH3.hash((base + 8).bytes(totalBytes &- 8), seed: seed)
  }

  /// Writes a record to `target`, which must have room for `overheadLimit` + key + value bytes; returns its
  /// length and its checksum.
  @inline(__always)
  static func write(
    to target: UnsafeMutableRawPointer, operation: UInt64, key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer, seed: UInt64
  ) -> (bytes: Int, checksum: UInt64) {
    var end = writePrefix(to: target, operation: operation, key: key, valueBytes: value.count)
    if let source = value.baseAddress { (target + end).copyMemory(from: source, byteCount: value.count) }
    end &+= value.count
    let sum = XXH3.hash(UnsafeRawPointer(target + 8).bytes(end &- 8), seed: seed)
    target.setField(0, sum)
    return (end, sum)
  }

  /// Writes the bytes between the checksum and the value; returns the offset of the value.
  @inline(__always)
  static func writePrefix(
    to target: UnsafeMutableRawPointer, operation: UInt64, key: UnsafeRawBufferPointer, valueBytes: Int
  ) -> Int {
    var end = 8
    putVarint(target, &end, UInt64(truncatingIfNeeded: key.count) << 2 | operation)
    putVarint(target, &end, UInt64(truncatingIfNeeded: valueBytes))
    if let source = key.baseAddress { (target + end).copyMemory(from: source, byteCount: key.count) }
    return end &+ key.count
  }

  @inline(__always)
  private static func putVarint(_ target: UnsafeMutableRawPointer, _ offset: inout Int, _ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      target.setField(offset, UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
      offset &+= 1
    }
    target.setField(offset, UInt8(truncatingIfNeeded: rest))
    offset &+= 1
  }
}

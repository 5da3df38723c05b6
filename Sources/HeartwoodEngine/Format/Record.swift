import HeartwoodBytes

/// One put or delete in a transaction frame: checksum (8 bytes) · key length × 4 + operation (varint) · value
/// length (varint) · key · value.
struct Record {
  let bytes: Bytes
  let operation: UInt64
  let keyOffset: Int
  let keyBytes: Int

  @inline(__always)
  var keyInPlace: Bytes { bytes.bytes(keyOffset, keyBytes) }
  var key: UnsafeRawBufferPointer { keyInPlace.buffer }
  /// The value as it is stored, which may be compressed.
  var storedValue: UnsafeRawBufferPointer { bytes.bytes(from: keyOffset &+ keyBytes).buffer }

  var valueBytes: Int { totalBytes &- keyOffset &- keyBytes }
  var totalBytes: Int { bytes.count }
  var checksum: UInt64 { bytes.field64(0) }

  /// Greatest number of bytes that a record adds to its key and value.
  static let overheadLimit = 8 + 10 + 10

  /// Decodes the lengths of the record that `bytes` begin with. Nil if they are invalid; the bytes must not be trusted
  /// before `isIntact`.
  @inline(__always)
  static func parse(_ bytes: Bytes) -> Record? {
    guard bytes.count >= 10 else { return nil }
    let lengths = Int(bytes.field16(8))
    // Nearly all records have a one-byte varint for each length.
    if lengths & 0x8080 == 0 {
      let keyBytes = (lengths & 0x7F) >> 2
      let valueBytes = lengths >> 8
      let total = 10 &+ keyBytes &+ valueBytes
      guard total <= bytes.count else { return nil }
      return Record(
        bytes: bytes.bytes(0, total), operation: UInt64(lengths & 3), keyOffset: 10, keyBytes: keyBytes)
    }
    return parseLong(bytes)
  }

  @inline(never)
  private static func parseLong(_ bytes: Bytes) -> Record? {
    guard let lengths = longLengths(bytes), lengths.total <= bytes.count else { return nil }
    return Record(
      bytes: bytes.bytes(0, lengths.total), operation: lengths.tag & 3, keyOffset: lengths.keyOffset,
      keyBytes: Int(lengths.tag >> 2))
  }

  /// The length of the record that `bytes` begin with, which may end after them; nil if it is invalid.
  static func totalBytes(_ bytes: Bytes) -> Int? { bytes.count >= 10 ? longLengths(bytes)?.total : nil }

  private static func longLengths(_ bytes: Bytes) -> (tag: UInt64, keyOffset: Int, total: Int)? {
    var offset = 8
    guard let tag = varint(bytes, &offset), let length = varint(bytes, &offset) else { return nil }
    let keyBytes = tag >> 2
    guard keyBytes <= UInt64(Format.keyLimit) + 2, length <= UInt64(Format.valueLimit) else { return nil }
    return (tag, offset, offset + Int(keyBytes) + Int(length))
  }

  /// Reads one varint of at most five bytes; no length needs more.
  private static func varint(_ bytes: Bytes, _ offset: inout Int) -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while offset < bytes.count, shift < 35 {
      let byte = UInt64(bytes.field8(offset))
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
    Self.isIntact(bytes, Checksums.seed(segmentSeed, at: offset))
  }

  /// A function of its own, because it needs all of the processor's registers.
  @inline(never)
  private static func isIntact(_ bytes: Bytes, _ seed: UInt64) -> Bool {
    return bytes.field64(0) == XXH3.hash(bytes.bytes(from: 8).buffer, seed: seed)
  }

  /// Writes a record to `target`, which must have room for `overheadLimit` + key + value bytes; returns its
  /// length and its checksum.
  @inline(__always)
  static func write(
    to target: WritableBytes, operation: UInt64, key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer, seed: UInt64
  ) -> (bytes: Int, checksum: UInt64) {
    var end = writePrefix(to: target, operation: operation, key: key, valueBytes: value.count)
    target.copy(value, to: end)
    end &+= value.count
    let sum = XXH3.hash(target.bytes.bytes(8, end &- 8).buffer, seed: seed)
    target.setField(0, sum)
    return (end, sum)
  }

  /// Writes the bytes between the checksum and the value; returns the offset of the value.
  @inline(__always)
  static func writePrefix(
    to target: WritableBytes, operation: UInt64, key: UnsafeRawBufferPointer, valueBytes: Int
  ) -> Int {
    var end = 8
    putVarint(target, &end, UInt64(truncatingIfNeeded: key.count) << 2 | operation)
    putVarint(target, &end, UInt64(truncatingIfNeeded: valueBytes))
    target.copy(key, to: end)
    return end &+ key.count
  }

  @inline(__always)
  private static func putVarint(_ target: WritableBytes, _ offset: inout Int, _ value: UInt64) {
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

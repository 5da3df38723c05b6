/// Encodes values as bytes whose lexicographic order is the order of the values.
///
/// Values are appended one after another; the first value that differs decides the order of the whole. No
/// encoded value is a prefix of another encoded value of the same kind.
@usableFromInline
package enum OrderedKey {
  @inlinable
  package static func append(_ value: Bool, to key: inout [UInt8]) { key.append(value ? 1 : 0) }

  @inlinable
  package static func append(_ value: UInt8, to key: inout [UInt8]) { key.append(value) }

  @inlinable
  package static func append(_ value: UInt16, to key: inout [UInt8]) { appendBigEndian(value, to: &key) }

  @inlinable
  package static func append(_ value: UInt32, to key: inout [UInt8]) { appendBigEndian(value, to: &key) }

  @inlinable
  package static func append(_ value: UInt64, to key: inout [UInt8]) { appendBigEndian(value, to: &key) }

  @inlinable
  package static func append(_ value: Int64, to key: inout [UInt8]) {
    appendBigEndian(UInt64(bitPattern: value) ^ signBit, to: &key)
  }

  /// A total order: negative zero equals zero, NaN equals NaN and sorts after infinity.
  @inlinable
  package static func append(_ value: Double, to key: inout [UInt8]) {
    appendBigEndian(ordered(value), to: &key)
  }

  /// Any bytes. A zero becomes 00 FF, and 00 00 ends them, so that a prefix sorts before its extensions.
  @inlinable
  package static func append(_ bytes: UnsafeRawBufferPointer, to key: inout [UInt8]) {
    var start = 0
    for index in 0..<bytes.count where bytes[index] == 0 {
      key.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start...index]))
      key.append(0xFF)
      start = index &+ 1
    }
    key.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start...]))
    key.append(0)
    key.append(0)
  }

  @inlinable
  package static func append(_ bytes: [UInt8], to key: inout [UInt8]) {
    bytes.withUnsafeBytes { append($0, to: &key) }
  }

  /// The UTF-8 bytes of a string, unchanged. The caller normalises the string if the order requires it.
  @inlinable
  package static func append(_ string: String, to key: inout [UInt8]) {
    var string = string
    string.withUTF8 { append(UnsafeRawBufferPointer($0), to: &key) }
  }

  /// A number whose unsigned order is the total order of `value`.
  @inlinable
  package static func ordered(_ value: Double) -> UInt64 {
    if value.isNaN { return .max }
    if value == 0 { return signBit }
    let bits = value.bitPattern
    return bits & signBit == 0 ? bits | signBit : ~bits
  }

  /// A number whose unsigned order is the order of `value`.
  @inlinable
  package static func ordered(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ signBit }

  /// The inverse of `ordered`; every NaN becomes the same one.
  @inlinable
  package static func unordered(_ bits: UInt64) -> Double {
    if bits == .max { return .nan }
    return Double(bitPattern: bits & signBit == 0 ? ~bits : bits & ~signBit)
  }

  @usableFromInline static var signBit: UInt64 { @inline(__always) get { 1 &<< 63 } }

  @inlinable @inline(__always)
  static func appendBigEndian<Number: FixedWidthInteger>(_ value: Number, to key: inout [UInt8]) {
    withUnsafeBytes(of: value.bigEndian) { key.append(contentsOf: $0) }
  }
}

extension ByteReader {
  @inlinable
  package mutating func readOrderedBool() throws(ShortInput) -> Bool {
    let start = position
    let byte = try readUInt8()
    guard byte <= 1 else { throw ShortInput(position: start) }
    return byte == 1
  }

  @inlinable
  package mutating func readOrderedUInt16() throws(ShortInput) -> UInt16 { try readUInt16().byteSwapped }

  @inlinable
  package mutating func readOrderedUInt32() throws(ShortInput) -> UInt32 { try readUInt32().byteSwapped }

  @inlinable
  package mutating func readOrderedUInt64() throws(ShortInput) -> UInt64 { try readUInt64().byteSwapped }

  @inlinable
  package mutating func readOrderedInt64() throws(ShortInput) -> Int64 {
    Int64(bitPattern: try readOrderedUInt64() ^ OrderedKey.signBit)
  }

  @inlinable
  package mutating func readOrderedDouble() throws(ShortInput) -> Double {
    OrderedKey.unordered(try readOrderedUInt64())
  }

  /// Bytes appended with `OrderedKey.append`; throws if they are not terminated.
  package mutating func readOrderedBytes() throws(ShortInput) -> [UInt8] {
    let start = position
    var result: [UInt8] = []
    while let byte = nextByte() {
      guard byte == 0 else {
        result.append(byte)
        continue
      }
      switch nextByte() {
      case 0xFF: result.append(0)
      case 0: return result
      default: throw ShortInput(position: start)
      }
    }
    throw ShortInput(position: start)
  }

  private mutating func nextByte() -> UInt8? {
    isAtEnd ? nil : try? readUInt8()
  }
}

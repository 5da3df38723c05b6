/// A position in bytes that somebody else keeps alive. Short input throws and never traps.
@usableFromInline
package struct ByteReader {
  /// The bytes end within a value, or a variable-length number has no end in its ten bytes.
  @usableFromInline
  package struct ShortInput: Error, Hashable, Sendable {
    /// Where the value begins that is not whole.
    @usableFromInline package let position: Int

    @inlinable
    package init(position: Int) { self.position = position }
  }

  /// All the bytes, those before the position too.
  @usableFromInline package let bytes: UnsafeRawBufferPointer
  /// How many bytes were read.
  @inlinable
  package var position: Int { offset }
  @usableFromInline var offset = 0

  /// A reader at the beginning of `bytes`, which must outlive it.
  @inlinable
  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// How many bytes are left.
  @inlinable
  package var remaining: Int { bytes.count &- offset }

  /// True when every byte was read.
  @inlinable
  package var isAtEnd: Bool { offset == bytes.count }

  @inlinable
  package mutating func readUInt8() throws(ShortInput) -> UInt8 {
    try advance(by: 1).load(as: UInt8.self)
  }

  @inlinable
  package mutating func readUInt16() throws(ShortInput) -> UInt16 {
    try advance(by: 2).littleEndian16(0)
  }

  @inlinable
  package mutating func readUInt32() throws(ShortInput) -> UInt32 {
    try advance(by: 4).littleEndian32(0)
  }

  @inlinable
  package mutating func readUInt64() throws(ShortInput) -> UInt64 {
    try advance(by: 8).littleEndian64(0)
  }

  @inlinable
  package mutating func readInt64() throws(ShortInput) -> Int64 {
    Int64(bitPattern: try readUInt64())
  }

  @inlinable
  package mutating func readDouble() throws(ShortInput) -> Double {
    Double(bitPattern: try readUInt64())
  }

  @inlinable
  package mutating func readVarint() throws(ShortInput) -> UInt64 {
    guard let (value, next) = Varint.read(from: bytes, at: offset) else {
      throw ShortInput(position: offset)
    }
    offset = next
    return value
  }

  /// A signed number written with `ByteWriter.appendSignedVarint`.
  @inlinable
  package mutating func readSignedVarint() throws(ShortInput) -> Int64 {
    Varint.unzigzag(try readVarint())
  }

  /// The next `count` bytes in place. A count that bytes from disk gave is checked here, however large.
  @inlinable
  package mutating func readBytes(_ count: Int) throws(ShortInput) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: try advance(by: count), count: count)
  }

  /// A length as a variable-length number, and that many bytes in place.
  @inlinable
  package mutating func readCountedBytes() throws(ShortInput) -> UnsafeRawBufferPointer {
    let start = offset
    let count = try readVarint()
    guard count <= UInt64(remaining) else {
      offset = start
      throw ShortInput(position: start)
    }
    return try readBytes(Int(count))
  }

  /// Passes over `count` bytes.
  @inlinable
  package mutating func skip(_ count: Int) throws(ShortInput) {
    _ = try advance(by: count)
  }

  /// Moves the position to `newPosition`, counted from the beginning.
  @inlinable
  package mutating func move(to newPosition: Int) throws(ShortInput) {
    guard newPosition >= 0, newPosition <= bytes.count else { throw ShortInput(position: offset) }
    offset = newPosition
  }

  @inlinable @inline(__always)
  mutating func advance(by count: Int) throws(ShortInput) -> UnsafeRawPointer {
    guard count >= 0, count <= bytes.count &- offset, let base = bytes.baseAddress else {
      // An empty read of an empty buffer is whole; it has no address, so it gets that of an empty place.
      if count == 0 { return UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped }
      throw ShortInput(position: offset)
    }
    let start = base + offset
    offset &+= count
    return start
  }
}

/// A position in bytes that the caller keeps alive. Short input throws and never traps.
@usableFromInline
package struct ByteReader {
  /// The bytes end within a value, or a value is not in its valid form.
  @usableFromInline
  package struct ShortInput: Error, Hashable, Sendable {
    /// The offset of the value that cannot be read.
    @usableFromInline package let position: Int

    @inlinable
    package init(position: Int) { self.position = position }
  }

  /// All bytes, including those before the position.
  @usableFromInline package let bytes: UnsafeRawBufferPointer
  /// The offset of the next byte to read.
  @inlinable
  package var position: Int { offset }
  @usableFromInline var offset = 0

  /// A reader at the beginning of `bytes`, which must outlive it.
  @inlinable
  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The number of bytes left.
  @inlinable
  package var remaining: Int { bytes.count &- offset }

  /// Whether all bytes were read.
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

  /// The next `count` bytes, in place. Any count is safe, also one that was read from disk.
  @inlinable
  package mutating func readBytes(_ count: Int) throws(ShortInput) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: try advance(by: count), count: count)
  }

  /// A varint length and that many bytes, in place.
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

  /// Skips `count` bytes.
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
      // An empty read of an empty buffer succeeds. The buffer has no address, so a placeholder is returned.
      if count == 0 { return UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped }
      throw ShortInput(position: offset)
    }
    let start = base + offset
    offset &+= count
    return start
  }
}

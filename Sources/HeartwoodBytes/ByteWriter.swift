/// A growable byte buffer in one block of memory, which is reused.
///
/// It has exactly one owner; `bytes` makes a copy.
@usableFromInline
package struct ByteWriter: ~Copyable, @unchecked Sendable {
  @usableFromInline var base: UnsafeMutableRawPointer
  @usableFromInline var capacity: Int
  @usableFromInline var length = 0

  /// An empty writer with room for `capacity` bytes.
  @inlinable
  package init(capacity: Int = 256) {
    self.capacity = max(capacity, 16)
    base = .allocate(byteCount: self.capacity, alignment: 16)
  }

  @inlinable
  deinit { base.deallocate() }

  /// The number of bytes written.
  @inlinable
  package var count: Int { length }

  /// A copy of the bytes.
  package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

  @inlinable
  package mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(_ value: Number) {
    let size = MemoryLayout<Number>.size
    room(size).storeLittleEndian(value, at: 0)
    length &+= size
  }

  @inlinable
  package mutating func append(_ value: Double) { append(value.bitPattern) }

  @inlinable
  package mutating func appendVarint(_ value: UInt64) {
    length &+= Varint.write(value, to: room(Varint.maximumLength))
  }

  /// A signed number in zigzag form, which is short near zero.
  @inlinable
  package mutating func appendSignedVarint(_ value: Int64) { appendVarint(Varint.zigzag(value)) }

  @inlinable
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    room(bytes.count).copyMemory(from: source, byteCount: bytes.count)
    length &+= bytes.count
  }

  @inlinable
  package mutating func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
  }

  /// Appends the length as a varint, then the bytes.
  @inlinable
  package mutating func appendCounted(_ bytes: UnsafeRawBufferPointer) {
    appendVarint(UInt64(bytes.count))
    append(bytes)
  }

  /// Appends `count` zero bytes.
  @inlinable
  package mutating func appendZeros(_ count: Int) {
    room(count).initializeMemory(as: UInt8.self, repeating: 0, count: count)
    length &+= count
  }

  /// Appends zeros until the count is a multiple of `alignment`.
  @inlinable
  package mutating func pad(toMultipleOf alignment: Int) {
    let over = length % alignment
    if over > 0 { appendZeros(alignment - over) }
  }

  /// Overwrites written bytes with a number, for example a length that is known only afterwards.
  @inlinable
  package mutating func store<Number: FixedWidthInteger & BitwiseCopyable>(_ value: Number, at offset: Int) {
    precondition(
      offset >= 0 && offset <= length - MemoryLayout<Number>.size, "Only written bytes can be replaced.")
    base.storeLittleEndian(value, at: offset)
  }

  /// Reserves memory for `count` more bytes.
  @inlinable
  package mutating func reserve(_ count: Int) { _ = room(count) }

  /// Removes everything after the first `count` bytes.
  @inlinable
  package mutating func removeAll(after count: Int) {
    precondition(count >= 0 && count <= length, "Only written bytes can be removed.")
    length = count
  }

  /// Removes everything; releases the memory unless `keepingCapacity`.
  @inlinable
  package mutating func removeAll(keepingCapacity: Bool = true) {
    length = 0
    if !keepingCapacity { move(toCapacity: 16) }
  }

  /// The bytes, in place; valid until the next change.
  @inlinable
  package borrowing func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: base, count: length))
  }

  /// The bytes, in place, to be changed but not appended to.
  @inlinable
  package mutating func withUnsafeMutableBytes<Result, Failure: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeMutableRawBufferPointer(start: base, count: length))
  }

  /// The address of the next `count` bytes; grows the buffer if they do not fit.
  @inlinable @inline(__always)
  mutating func room(_ count: Int) -> UnsafeMutableRawPointer {
    if count > capacity &- length { move(toCapacity: max(capacity * 2, length + count)) }
    return base + length
  }

  @usableFromInline
  mutating func move(toCapacity newCapacity: Int) {
    let moved = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
    moved.copyMemory(from: base, byteCount: length)
    base.deallocate()
    base = moved
    capacity = newCapacity
  }
}

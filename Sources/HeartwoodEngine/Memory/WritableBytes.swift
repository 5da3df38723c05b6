import HeartwoodBytes
import HeartwoodFiles

/// Bytes of another owner that may be written: an address and a length. Debug builds check every access.
struct WritableBytes {
  private let start: UnsafeMutableRawPointer
  let count: Int

  @inline(__always)
  init(_ start: UnsafeMutableRawPointer, _ count: Int) {
    self.start = start
    self.count = count
  }

  /// Lent bytes.
  init(_ buffer: UnsafeMutableRawBufferPointer) {
    self.init(buffer.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 8).unsafelyUnwrapped, buffer.count)
  }

  /// Calls `body` with bytes on the stack, whose contents are undefined at first.
  @inline(__always)
  static func withTemporary<Result>(
    count: Int, _ body: (WritableBytes) throws -> Result
  ) rethrows -> Result {
    try withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { try body(WritableBytes($0)) }
  }

  /// The same bytes, to be read.
  @inline(__always)
  var bytes: Bytes { Bytes(UnsafeRawPointer(start), count) }

  /// The same bytes, to be lent to a call that writes them.
  fileprivate var buffer: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: start, count: count)
  }

  @inline(__always)
  private func address(_ offset: Int, _ count: Int) -> UnsafeMutableRawPointer {
    assert(offset | count | (self.count &- count &- offset) >= 0, "Bytes outside their range are used.")
    return start.advanced(by: offset)
  }

  /// `count` of the bytes, from `offset` on.
  @inline(__always)
  func bytes(_ offset: Int, _ count: Int) -> WritableBytes { WritableBytes(address(offset, count), count) }

  /// The bytes from `offset` on.
  @inline(__always)
  func bytes(from offset: Int) -> WritableBytes { bytes(offset, count &- offset) }

  /// Stores a little-endian number at an offset, aligned or not.
  @inline(__always)
  func setField<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _ value: Value) {
    address(offset, MemoryLayout<Value>.size).storeBytes(of: value.littleEndian, as: Value.self)
  }

  @inline(__always)
  func copy(_ source: Bytes, to offset: Int) {
    address(offset, source.count).copyMemory(from: source.address(0, source.count), byteCount: source.count)
  }

  @inline(__always)
  func copy(_ source: UnsafeRawBufferPointer, to offset: Int) {
    guard let first = source.baseAddress else { return }
    address(offset, source.count).copyMemory(from: first, byteCount: source.count)
  }

  /// Stores a number as a varint, for which there must be room for 10 bytes; returns the offset after it.
  func setVarint(_ offset: Int, _ value: UInt64) -> Int {
    offset &+ Varint.write(value, to: address(offset, Varint.maximumLength))
  }

  /// Stores a block of LZ4; returns its length, nil if there is no room for it.
  func compress(_ source: UnsafeRawBufferPointer, with compressor: inout LZ4Compressor) -> Int? {
    compressor.compress(source, into: buffer)
  }

  /// Restores the contents of a block of LZ4, which must have exactly this length; returns false if it is invalid.
  func decompress(_ block: UnsafeRawBufferPointer) -> Bool { LZ4.decompress(block, into: buffer) }

  func setZero(_ offset: Int, _ count: Int) {
    address(offset, count).initializeMemory(as: UInt8.self, repeating: 0, count: count)
  }
}

/// Bytes in memory of their own. Their address does not change; their contents are undefined at first.
struct OwnedBytes: ~Copyable {
  let writable: WritableBytes

  init(count: Int, alignment: Int = 16) {
    writable = WritableBytes(.allocate(byteCount: count, alignment: alignment), count)
  }

  deinit { writable.buffer.deallocate() }

  @inline(__always)
  var bytes: Bytes { writable.bytes }
}

extension File {
  /// Reads until the bytes are full or the file ends; returns the number of bytes read.
  func readFully(into target: WritableBytes, at offset: Int64) throws(FileSystemError) -> Int {
    try readFully(into: target.buffer, at: offset)
  }
}

/// The bytes of one page: only an address, because every step of a search holds pages. Debug builds check that each access is
/// inside the page.
struct PageBytes {
  private let start: UnsafeMutableRawPointer

  static let count = 4096

  /// - Parameter offset: Where the page begins in the memory. A page of a mapped file is only read.
  @inline(__always)
  init(_ memory: Bytes, at offset: Int = 0) {
    start = UnsafeMutableRawPointer(mutating: memory.address(offset, Self.count))
  }

  @inline(__always)
  init(_ memory: WritableBytes, at offset: Int = 0) { self.init(memory.bytes, at: offset) }

  @inline(__always)
  var bytes: Bytes { Bytes(UnsafeRawPointer(start), Self.count) }

  @inline(__always)
  var writable: WritableBytes { WritableBytes(start, Self.count) }

  // Fields as in `Bytes`, with one call in debug builds.

  @inline(__always)
  func field8(_ offset: Int) -> UInt8 { address(offset, 1).load(as: UInt8.self) }

  @inline(__always)
  func field16(_ offset: Int) -> UInt16 {
    UInt16(littleEndian: address(offset, 2).loadUnaligned(as: UInt16.self))
  }

  @inline(__always)
  func field64(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: address(offset, 8).loadUnaligned(as: UInt64.self))
  }

  @inline(__always)
  func setField<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _ value: Value) {
    address(offset, MemoryLayout<Value>.size).storeBytes(of: value.littleEndian, as: Value.self)
  }

  @inline(__always)
  private func address(_ offset: Int, _ count: Int) -> UnsafeMutableRawPointer {
    assert(offset | (Self.count &- count &- offset) >= 0, "Bytes outside their page are used.")
    return start.advanced(by: offset)
  }

  /// Moves bytes to another offset, which may overlap the first.
  @inline(__always)
  func move(_ offset: Int, _ count: Int, to target: Int) {
    writable.copy(bytes.bytes(offset, count), to: target)
  }

  /// Whether this page begins where `other` ends.
  func follows(_ other: PageBytes) -> Bool { start == other.start + Self.count }

  @inline(__always)
  static func == (left: PageBytes, right: PageBytes) -> Bool { left.start == right.start }
}

/// Memory with an owner: the bytes of a page, or a value that was put together from several pages.
///
/// Its memory changes place only in `reserve`, which its single owner calls: access needs no check.
final class ByteBlock: @unchecked Sendable {
  @exclusivity(unchecked) private(set) var base: UnsafeMutableRawPointer
  @exclusivity(unchecked) private(set) var capacity: Int

  /// - Parameter capacity: In bytes; its contents are zero.
  init(capacity: Int) {
    self.capacity = max(capacity, 1)
    base = .allocate(byteCount: self.capacity, alignment: 8)
    base.initializeMemory(as: UInt8.self, repeating: 0, count: self.capacity)
  }

  /// - Parameter capacity: In bytes; the caller fills them.
  init(uninitialized capacity: Int) {
    self.capacity = capacity
    base = .allocate(byteCount: capacity, alignment: 8)
  }

  deinit { base.deallocate() }

  /// Makes room for at least `capacity` bytes, and keeps the first `count`. Only its single owner may call this.
  func reserve(_ capacity: Int, keeping count: Int) {
    guard capacity > self.capacity else { return }
    let doubled = max(capacity, 2 * self.capacity)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: doubled, alignment: 8)
    larger.copyMemory(from: base, byteCount: count)
    (larger + count).initializeMemory(as: UInt8.self, repeating: 0, count: doubled - count)
    base.deallocate()
    (base, self.capacity) = (larger, doubled)
  }
}

/// Bytes that numbers are read from. Readers check a range once, then read in it; the methods have assertions for debug
/// builds.
protocol ReadableBytes {
  var memory: UnsafeRawPointer { get }
  /// In bytes.
  var capacity: Int { get }
}

extension ByteBlock: ReadableBytes {
  @inline(__always)
  var memory: UnsafeRawPointer { UnsafeRawPointer(base) }

  /// The same bytes without their owner.
  var borrowed: BorrowedBytes { BorrowedBytes(memory: memory, capacity: capacity) }
}

/// The bytes of a block that the reader keeps in memory, so that no reference is counted for each row.
struct BorrowedBytes: ReadableBytes {
  let memory: UnsafeRawPointer
  let capacity: Int
}

extension ReadableBytes {
  /// The bytes of a range.
  @inline(__always)
  func bytes(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
    assert(start >= 0 && count >= 0 && start + count <= capacity)
    return UnsafeRawBufferPointer(start: memory + start, count: count)
  }

  @inline(__always)
  func byte(_ offset: Int) -> UInt8 {
    assert(offset >= 0 && offset < capacity)
    return memory.load(fromByteOffset: offset, as: UInt8.self)
  }

  @inline(__always)
  func number16(_ offset: Int) -> Int {
    assert(offset >= 0 && offset + 2 <= capacity)
    return Int(UInt16(bigEndian: memory.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  @inline(__always)
  func number32(_ offset: Int) -> UInt32 {
    assert(offset >= 0 && offset + 4 <= capacity)
    return UInt32(bigEndian: memory.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  @inline(__always)
  func number64(_ offset: Int) -> UInt64 {
    assert(offset >= 0 && offset + 8 <= capacity)
    return UInt64(bigEndian: memory.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The variable-length integer at `offset`, which moves behind it; nil if it does not end before `end`.
  ///
  /// "Database File Format", section 1.6: up to eight bytes of seven bits, the highest first, and a ninth of eight.
  @inline(__always)
  func varint(_ offset: inout Int, end: Int) -> UInt64? {
    guard offset < end else { return nil }
    let first = byte(offset)
    if first < 0x80 {
      offset += 1
      return UInt64(first)
    }
    // Lengths of records, rowids and texts mostly have two or three bytes.
    if end - offset > 2 {
      let (second, third) = (byte(offset + 1), byte(offset + 2))
      let value = UInt64(first & 0x7F) << 7 | UInt64(second & 0x7F)
      if second < 0x80 {
        offset += 2
        return value
      }
      if third < 0x80 {
        offset += 3
        return value << 7 | UInt64(third)
      }
    }
    // An offset that is passed on to a call would be in memory, not in a register.
    guard let long = longVarint(offset, end: end) else { return nil }
    offset = long.end
    return long.value
  }

  private func longVarint(_ start: Int, end: Int) -> (value: UInt64, end: Int)? {
    var (offset, value) = (start, UInt64(0))
    for index in 0..<9 {
      guard offset < end else { return nil }
      let next = byte(offset)
      offset += 1
      if index == 8 { return (value << 8 | UInt64(next), offset) }
      value = value << 7 | UInt64(next & 0x7F)
      if next < 0x80 { return (value, offset) }
    }
    return nil
  }
}

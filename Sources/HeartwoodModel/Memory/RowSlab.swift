/// Memory for the rows of several objects, freed with the last of them.
///
/// A fetch may copy tens of thousands of rows, and one allocation for each would cost more than the copies. A slab is
/// small, because a single remaining object keeps the whole slab alive.
@usableFromInline package final class RowSlab {
  private static let usualSize = 2048

  @usableFromInline let memory: UnsafeRawPointer
  @usableFromInline let size: Int
  @usableFromInline @exclusivity(unchecked) var used: Int

  @usableFromInline init(beginningWith bytes: UnsafeRawBufferPointer) {
    size = max(bytes.count, Self.usualSize)
    used = bytes.count
    // An alignment of 1 is enough: rows are read unaligned.
    let made = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    made.copyMemory(from: bytes)
    memory = UnsafeRawPointer(made.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 16).unsafelyUnwrapped)
  }

  deinit { memory.deallocate() }

  @inlinable var hasRoom: Bool { used < size }

  /// Appends bytes.
  ///
  /// - Returns: Their offset; nil if they do not fit.
  @inlinable func append(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count <= size - used, let source = bytes.baseAddress else { return nil }
    defer { used += bytes.count }
    UnsafeMutableRawPointer(mutating: memory + used).copyMemory(from: source, byteCount: bytes.count)
    return used
  }

  /// Bytes of the slab; valid until it is released.
  @inlinable @inline(__always)
  func bytes(at offset: Int, count: Int) -> UnsafeRawBufferPointer {
    assert(offset + count <= used, "bytes outside their slab")
    return UnsafeRawBufferPointer(start: memory + offset, count: count)
  }
}

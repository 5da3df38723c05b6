/// A row's bytes in memory that the object shares with objects that got their rows next to it.
///
/// - Invariant: the bytes have been checked against the layout of the object's entity.
struct StoredRow {
  private let slab: RowSlab
  private let offset: UInt32
  private let size: UInt32

  /// Copies a row behind the rows of `slab`, or into a new slab where it has no room.
  init(copying bytes: UnsafeRawBufferPointer, into slab: inout RowSlab?) {
    if let slab, let offset = slab.append(bytes) {
      self.slab = slab
      self.offset = UInt32(truncatingIfNeeded: offset)
    } else {
      let made = RowSlab(beginningWith: bytes)
      self.slab = made
      offset = 0
      // A slab that one long row has filled is no place for others.
      if made.hasRoom { slab = made }
    }
    size = UInt32(truncatingIfNeeded: bytes.count)
  }

  /// Valid as long as the value lives.
  var base: UnsafeRawPointer { slab.memory + Int(offset) }
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: Int(size)) }
  var view: RowView { RowView(unchecked: bytes, base: base) }
}

/// Memory for the rows of some objects, which goes when the last of them goes.
///
/// Rows are copied by the ten thousand, and memory asked for one by one costs more than the copies. A slab is
/// small, as a single object that stays keeps all of it.
final class RowSlab {
  private static let usualSize = 2048

  let memory: UnsafeRawPointer
  private let size: Int
  private var used: Int

  init(beginningWith bytes: UnsafeRawBufferPointer) {
    size = max(bytes.count, Self.usualSize)
    used = bytes.count
    // One byte of alignment: rows are read unaligned.
    let made = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    made.copyMemory(from: bytes)
    memory = UnsafeRawPointer(made.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 16).unsafelyUnwrapped)
  }

  deinit { memory.deallocate() }

  var hasRoom: Bool { used < size }

  /// Copies bytes behind those that are there.
  ///
  /// - Returns: where they lie; nil where there is no room.
  func append(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count <= size - used, let source = bytes.baseAddress else { return nil }
    defer { used += bytes.count }
    UnsafeMutableRawPointer(mutating: memory + used).copyMemory(from: source, byteCount: bytes.count)
    return used
  }
}

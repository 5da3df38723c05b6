/// A row's bytes, in memory that it shares with rows that were copied just before or after it.
///
/// - Invariant: The bytes were checked against the layout of the object's entity.
struct StoredRow {
  private let slab: RowSlab
  private let offset: UInt32
  private let size: UInt32

  /// Copies a row to the end of `slab`, or into a new slab if it does not fit.
  init(copying bytes: UnsafeRawBufferPointer, into slab: inout RowSlab?) {
    if let slab, let offset = slab.append(bytes) {
      self.slab = slab
      self.offset = UInt32(truncatingIfNeeded: offset)
    } else {
      let made = RowSlab(beginningWith: bytes)
      self.slab = made
      offset = 0
      // A slab that one long row has filled has no room for others.
      if made.hasRoom { slab = made }
    }
    size = UInt32(truncatingIfNeeded: bytes.count)
  }

  /// Valid until the value is released.
  var base: UnsafeRawPointer { slab.memory + Int(offset) }
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: Int(size)) }
  var view: RowView { RowView(unchecked: bytes, base: base) }
}

/// Memory for the rows of several objects, freed with the last of them.
///
/// A fetch may copy tens of thousands of rows, and one allocation for each would cost more than the copies. A slab is
/// small, because a single remaining object keeps the whole slab alive.
final class RowSlab {
  private static let usualSize = 2048

  let memory: UnsafeRawPointer
  private let size: Int
  private var used: Int

  init(beginningWith bytes: UnsafeRawBufferPointer) {
    size = max(bytes.count, Self.usualSize)
    used = bytes.count
    // An alignment of 1 is enough: rows are read unaligned.
    let made = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    made.copyMemory(from: bytes)
    memory = UnsafeRawPointer(made.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 16).unsafelyUnwrapped)
  }

  deinit { memory.deallocate() }

  var hasRoom: Bool { used < size }

  /// Appends bytes.
  ///
  /// - Returns: Their offset; nil if they do not fit.
  func append(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count <= size - used, let source = bytes.baseAddress else { return nil }
    defer { used += bytes.count }
    UnsafeMutableRawPointer(mutating: memory + used).copyMemory(from: source, byteCount: bytes.count)
    return used
  }
}

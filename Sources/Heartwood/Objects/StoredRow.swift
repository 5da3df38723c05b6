/// A row's bytes in memory of the object's own.
///
/// - Invariant: the bytes have been checked against the layout of the object's entity.
struct StoredRow {
  let base: UnsafeRawPointer
  private let size: UInt32

  init(copying bytes: UnsafeRawBufferPointer) {
    // One byte of alignment: rows are read unaligned.
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    copy.copyMemory(from: bytes)
    base = UnsafeRawPointer(copy.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 16).unsafelyUnwrapped)
    size = UInt32(truncatingIfNeeded: bytes.count)
  }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: Int(size)) }
  var view: RowView { RowView(unchecked: bytes, base: base) }

  /// To be called once, when nobody reads the row any more.
  func free() { base.deallocate() }
}

/// A row's bytes, in memory that it shares with rows that were copied just before or after it.
///
/// - Invariant: The bytes were checked against the layout of the object's entity.
@usableFromInline package struct StoredRow {
  @usableFromInline let slab: RowSlab
  @usableFromInline let offset: UInt32
  @usableFromInline let size: UInt32

  /// Copies a row to the end of `slab`, or into a new slab if it does not fit.
  @inlinable package init(copying bytes: UnsafeRawBufferPointer, into slab: inout RowSlab?) {
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
  @inlinable package var bytes: UnsafeRawBufferPointer { slab.bytes(at: Int(offset), count: Int(size)) }
  @inlinable package var view: RowView { RowView(unchecked: bytes) }
}

/// The columns of a class's properties: for each byte offset of an instance, the column of the property whose wrapper
/// is there.
///
/// A lookup costs one addition and one load, because the compiler knows the offset.
///
/// - Invariant: The table is never freed: it lives as long as the process, like the frozen model that it belongs to.
final class AccessTable: @unchecked Sendable {
  let columns: UnsafePointer<Column>

  /// - Parameters:
  ///   - instanceSize: The size of an instance of the class, in bytes.
  ///   - slotsByOffset: The slots of the properties, by the offset of their wrappers.
  init(instanceSize: Int, slotsByOffset: [Int: Int], layout: RowLayout) {
    let table = UnsafeMutablePointer<Column>.allocate(capacity: instanceSize)
    table.initialize(repeating: .none, count: instanceSize)
    for (offset, slot) in slotsByOffset where (0..<instanceSize).contains(offset) {
      table[offset] = layout.columns[slot]
    }
    columns = UnsafePointer(table)
  }

  /// The table of prototypes, which have no columns.
  nonisolated(unsafe) static let empty: UnsafePointer<Column> = {
    let table = UnsafeMutablePointer<Column>.allocate(capacity: 1)
    table.initialize(to: .none)
    return UnsafePointer(table)
  }()
}

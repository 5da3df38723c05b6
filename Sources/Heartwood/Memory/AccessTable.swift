/// The columns of a class's properties: for each byte offset of an instance, the column of the property whose wrapper
/// is there.
///
/// A lookup costs one addition and one load, because the compiler knows the offset.
///
/// - Invariant: The table is never freed: it lives as long as the process, like the frozen model that it belongs to.
@frozen
public struct _AccessTable: @unchecked Sendable {
  @usableFromInline let columns: UnsafePointer<_Column>

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

  private init() {
    let table = UnsafeMutablePointer<Column>.allocate(capacity: 1)
    table.initialize(to: .none)
    columns = UnsafePointer(table)
  }

  /// The table of prototypes, which have no columns.
  static let empty = _AccessTable()

  /// - Parameter offset: That of a wrapper in an instance of the class, in bytes.
  @inlinable @inline(__always)
  subscript(offset: Int) -> _Column { columns[offset] }
}

typealias AccessTable = _AccessTable

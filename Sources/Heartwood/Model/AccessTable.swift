/// Where the properties of a class lie: for each byte of an instance the column of the property whose
/// wrapper stands there.
///
/// A table by address costs an accessor one addition and one load, as the compiler knows the offset.
///
/// - Invariant: as long as the process, like the model that it is made for.
final class AccessTable: @unchecked Sendable {
  let columns: UnsafePointer<Column>

  /// - Parameters:
  ///   - instanceSize: bytes of an instance of the class.
  ///   - slotsByOffset: the slots of the properties, by the offset of their wrappers.
  init(instanceSize: Int, slotsByOffset: [Int: Int], layout: RowLayout) {
    let table = UnsafeMutablePointer<Column>.allocate(capacity: instanceSize)
    table.initialize(repeating: .none, count: instanceSize)
    for (offset, slot) in slotsByOffset where (0..<instanceSize).contains(offset) {
      table[offset] = layout.columns[slot]
    }
    columns = UnsafePointer(table)
  }

  /// For prototypes, which have no columns.
  nonisolated(unsafe) static let empty: UnsafePointer<Column> = {
    let table = UnsafeMutablePointer<Column>.allocate(capacity: 1)
    table.initialize(to: .none)
    return UnsafePointer(table)
  }()
}

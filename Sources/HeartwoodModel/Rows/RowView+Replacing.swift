extension RowView {
  /// The row with other values in some columns.
  ///
  /// - Parameters:
  ///   - values: By slot.
  ///   - kept: Slots whose values are those of `old`.
  ///   - old: The row that it replaces; nil for nothing.
  /// - Returns: The row, and the slots of `values` that differ from those of `old` or, without it, of this row.
  package func replacing(
    _ values: [Int: Value], kept: [Int] = [], from old: RowView? = nil, _ layout: RowLayout
  ) -> (row: [UInt8], changed: [Int]) {
    var writer = RowWriter(layout, version: version, estimatedVariableSize: bytes.count)
    for column in layout.columns {
      let slot = Int(column.slot)
      if let value = values[slot] {
        writer.write(value, column)
      } else if let old, kept.contains(slot) {
        writer.copy(column, from: old)
      } else {
        writer.copy(column, from: self)
      }
    }
    let changed = writer.row.withUnsafeBytes { bytes in
      let new = RowView(unchecked: bytes)
      return values.keys.filter { !(old ?? self).isSame(layout.columns[$0], in: new) }.sorted()
    }
    return (writer.row, changed)
  }

  /// Whether a column has the same bytes in another row of the same layout.
  package func isSame(_ column: Column, in other: RowView) -> Bool {
    if isNull(column) || other.isNull(column) { return isNull(column) == other.isNull(column) }
    if column.kind.isVariable { return bytes(column).elementsEqual(other.bytes(column)) }
    let cell = Int(column.offset)..<Int(column.offset) + column.kind.width
    return bytes[cell].elementsEqual(other.bytes[cell])
  }
}

/// A row with its key, valid as long as the view or overlay that it came from.
@usableFromInline package struct FoundRow {
  @usableFromInline package let key: UInt64
  @usableFromInline package let row: RowView

  @inlinable package init(key: UInt64, row: RowView) {
    self.key = key
    self.row = row
  }
}

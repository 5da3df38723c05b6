/// A row with its key, valid as long as the view or overlay that it came from.
struct FoundRow {
  let key: UInt64
  let row: RowView
}

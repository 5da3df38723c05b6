/// Copies of rows whose bytes do not stay valid: those of former models, which are converted when they are read.
final class RowCopies {
  private let view: any StoreView
  private var rows: [UInt: StoredRow] = [:]
  private var slab: RowSlab?

  /// - Parameter view: the view that the rows are of, for one reader.
  init(of view: any StoreView) { self.view = view }

  /// Releases other rows that were read to compare copies.
  func releaseReadRows() { view.releaseRows() }

  /// A copy of a row, valid until it is released.
  func copy(_ found: FoundRow) -> FoundRow {
    let row = StoredRow(copying: found.row.bytes, into: &slab)
    rows[row.view.base.address] = row
    return FoundRow(key: found.key, row: row.view)
  }

  /// Releases a copy. Does nothing to other rows.
  func release(_ found: FoundRow) { rows[found.row.base.address] = nil }

  func releaseAll() { (rows, slab) = ([:], nil) }
}

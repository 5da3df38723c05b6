/// Steps through the rows of a table in the order of the file: by rowid, or by the primary key of a table
/// `WITHOUT ROWID`.
///
/// The memory that it uses depends on the longest row, not on their number. One thread uses it at a time.
public final class SQLiteCursor {
  private let tree: TreeCursor
  private let layout: RowLayout
  private var record: Record
  private var chain: OverflowChain

  init(_ source: PageSource, _ table: SQLiteTable, _ layout: RowLayout, from rowid: Int64? = nil)
    throws(SQLiteError)
  {
    if let rowid {
      tree = try TreeCursor(source, root: table.rootPage, from: rowid)
    } else {
      tree = try TreeCursor(source, table.isWithoutRowid ? .index : .table, root: table.rootPage)
    }
    self.layout = layout
    chain = OverflowChain(source)
    record = Record(capacity: layout.valueCount, block: tree.page.block)
  }

  /// Where the current row is: for messages.
  var place: (page: UInt32, offset: Int) { (tree.page.number, tree.cell.start) }

  /// The next row; nil behind the last.
  ///
  /// - Throws: `SQLiteError` with page and offset if the file is damaged there. Do not go on after an error.
  public func next() throws(SQLiteError) -> SQLiteRow? {
    do throws(SQLiteError) {
      guard try tree.next() else { return nil }
      if !isKnownUniquelyReferenced(&record) {
        record = Record(capacity: record.capacity, block: tree.page.block)
      }
      try record.read(tree.cell, in: tree.page, chain: &chain)
    } catch {
      throw error.at(tree.source.path)
    }
    return SQLiteRow(record: record, layout: layout)
  }
}

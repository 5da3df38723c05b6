/// Steps through the rows of a table in the order of the file: by rowid, or by the primary key of a table
/// `WITHOUT ROWID`.
///
/// The memory that it uses depends on the longest row, not on their number. One thread uses it at a time.
public final class SQLiteCursor {
  private let tree: TreeCursor
  /// The number of values that `next` finds in a record.
  private let limit: Int
  // One thread uses a cursor at a time, and no call reaches it from within another.
  @exclusivity(unchecked) private var record: RowRecord
  @exclusivity(unchecked) private var chain: OverflowChain

  /// - Parameter last: The last column that rows have before `readRest`; nil for all.
  init(
    _ source: PageSource, _ table: SQLiteTable, _ layout: RowLayout, from rowid: Int64? = nil,
    through last: Int? = nil
  ) throws(SQLiteError) {
    if let rowid {
      tree = try TreeCursor(source, root: table.rootPage, from: rowid)
    } else {
      tree = try TreeCursor(source, table.isWithoutRowid ? .index : .table, root: table.rootPage)
    }
    limit = last.map { layout.positions.prefix($0 + 1).max().map { $0 + 1 } ?? 0 } ?? layout.valueCount
    chain = OverflowChain(source)
    record = RowRecord(layout, block: tree.block)
  }

  /// Where the current row is: for messages.
  var place: (page: UInt32, offset: Int) { (tree.page.number, tree.cell.start) }

  /// The next row; nil behind the last.
  ///
  /// - Throws: `SQLiteError` with page and offset if the file is damaged there. Do not go on after an error.
  public func next() throws(SQLiteError) -> SQLiteRow? {
    do throws(SQLiteError) {
      guard try tree.next() else { return nil }
      let record = freeRecord()
      try record.read(tree, limit: limit, chain: &chain)
      return SQLiteRow(record: record)
    } catch {
      throw error.at(tree.source.path)
    }
  }

  /// A record that no row refers to.
  @inline(__always)
  private func freeRecord() -> RowRecord {
    if !isKnownUniquelyReferenced(&record) { record = RowRecord(record.layout, block: tree.block) }
    return record
  }

  /// Reads the columns of the current row that follow those that were asked for, into the row that `next` returned.
  ///
  /// Only the thread that uses the cursor may have that row.
  ///
  /// - Throws: As `next()`.
  package func readRest() throws(SQLiteError) {
    do throws(SQLiteError) { try record.readRest(tree) } catch { throw error.at(tree.source.path) }
  }
}

extension SQLiteDatabase {
  /// A cursor before the first row of a table.
  public func rows(of table: SQLiteTable) throws(SQLiteError) -> SQLiteCursor {
    let layout = try layout(table)
    return try located { () throws(SQLiteError) in try SQLiteCursor(source, table, layout) }
  }

  /// A cursor before the first row whose rowid is at least `rowid`.
  ///
  /// - Throws: `.invalidArgument` if the table is `WITHOUT ROWID`.
  /// - Complexity: O(log rows).
  public func rows(of table: SQLiteTable, from rowid: Int64) throws(SQLiteError) -> SQLiteCursor {
    try rows(of: table, from: rowid, through: nil)
  }

  /// A cursor before the first row whose rowid is at least `rowid`. To find a value, all before it in the record are
  /// looked at, so that a scan that needs few columns takes less time.
  ///
  /// - Parameter last: Rows have the columns up to this one, until `SQLiteCursor.readRest()` has read the others; nil
  ///   for all columns. To ask for another one before is a mistake of the program.
  /// - Throws: `.invalidArgument` if the table is `WITHOUT ROWID`.
  /// - Complexity: O(log rows).
  package func rows(
    of table: SQLiteTable, from rowid: Int64, through last: Int?
  ) throws(SQLiteError) -> SQLiteCursor {
    let layout = try layout(table)
    guard !table.isWithoutRowid else {
      throw SQLiteError(.invalidArgument, "The rows of table \(table.name) have no rowid.", path: path)
    }
    return try located { () throws(SQLiteError) in
      try SQLiteCursor(source, table, layout, from: rowid, through: last)
    }
  }

  /// The row with a rowid; nil if there is none.
  ///
  /// - Throws: `.invalidArgument` if the table is `WITHOUT ROWID`.
  /// - Complexity: O(log rows).
  public func row(of table: SQLiteTable, rowid: Int64) throws(SQLiteError) -> SQLiteRow? {
    let cursor = try rows(of: table, from: rowid)
    return try located { () throws(SQLiteError) in
      guard let row = try cursor.next(), row.rowid == rowid else { return nil }
      return row
    }
  }

  /// Calls `body` with each row, in the order of the file.
  public func forEachRow(of table: SQLiteTable, _ body: (SQLiteRow) throws -> Void) throws {
    let cursor = try rows(of: table)
    do {
      while let row = try cursor.next() { try body(row) }
    } catch let error as SQLiteError {
      throw error.at(path)
    }
  }

  /// The number of rows.
  ///
  /// - Complexity: O(pages of the table).
  public func count(of table: SQLiteTable) throws(SQLiteError) -> Int {
    _ = try layout(table)
    return try located { () throws(SQLiteError) in
      let cursor = try TreeCursor(source, table.isWithoutRowid ? .index : .table, root: table.rootPage)
      var count = 0
      while let more = try cursor.skipLeaf() { count += more }
      return count
    }
  }

  /// Adds the path to errors.
  func located<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
    do throws(SQLiteError) { return try body() } catch { throw error.at(path) }
  }
}

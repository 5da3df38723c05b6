extension SQLiteDatabase {
  /// The rowids of the rows whose first columns in an index are equal to values, in the order of the index.
  ///
  /// Values are compared as they are stored: an integer equals a floating-point number of the same value, and text
  /// never equals a number. Null equals null here. A partial index (`isPartial`) has some rows only.
  ///
  /// - Parameters:
  ///   - index: An index of a table that has rowids.
  ///   - values: At least one value, at most one for each column of the index.
  /// - Throws: `.invalidArgument` if there are more values than columns; `.unsupported` if the order of text is one of
  ///   a program.
  /// - Complexity: O(log rows + found rows).
  public func rowids(of index: SQLiteIndex, equalTo values: [SQLiteValue]) throws(SQLiteError) -> [Int64] {
    guard let table = table(named: index.tableName), schema.indexes.contains(index), !table.isWithoutRowid
    else {
      throw SQLiteError(
        .invalidArgument, "Index \(index.name) is of no table with rowids of this database.", path: path)
    }
    guard !values.isEmpty, values.count <= index.columns.count else {
      throw SQLiteError(
        .invalidArgument,
        "Index \(index.name) has \(index.columns.count) columns, and \(values.count) values were passed.",
        path: path)
    }
    return try located { () throws(SQLiteError) in
      let key = try IndexKey(values, index, source.header.encoding)
      let record = Record(capacity: index.columns.count + 1, block: try source.cached(index.rootPage))
      let cursor = try TreeCursor(source, index: index.rootPage) { (tree: TreeCursor) throws(SQLiteError) in
        // A search may meet a record more than once.
        var chain = OverflowChain(source)
        try record.read(tree, chain: &chain)
        return key.comparison(with: record) < 0
      }
      var chain = OverflowChain(source)
      var found: [Int64] = []
      while try cursor.next() {
        try record.read(cursor, chain: &chain)
        guard key.comparison(with: record) == 0 else { break }
        found.append(try rowid(of: record, index, cursor))
      }
      return found
    }
  }

  /// The rowid at the end of a record of an index.
  func rowid(of record: Record, _ index: SQLiteIndex, _ cursor: TreeCursor) throws(SQLiteError) -> Int64 {
    let last = record.count - 1
    guard record.count == index.columns.count + 1, (1...9).contains(record.type(last)), record.type(last) != 7
    else {
      throw SQLiteError.damaged(
        "The record of index \(index.name) does not end with a rowid.", page: cursor.page.number,
        offset: cursor.cell.start)
    }
    return record.integer(last)
  }

  /// The rows whose first columns in an index are equal to values: see `rowids(of:equalTo:)`.
  public func rows(of index: SQLiteIndex, equalTo values: [SQLiteValue]) throws(SQLiteError) -> [SQLiteRow] {
    let rowids = try rowids(of: index, equalTo: values)
    guard let table = table(named: index.tableName) else { return [] }
    var rows: [SQLiteRow] = []
    for rowid in rowids {
      if let row = try row(of: table, rowid: rowid) { rows.append(row) }
    }
    return rows
  }
}

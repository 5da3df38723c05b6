extension SQLiteDatabase {
  /// Whether `rowids(of:equalTo:)` finds all rows of a table by an integer in the first column of an index: the index is in order, and has the integers
  /// and rowids that the table has. Other values than integers are not compared.
  ///
  /// Both are compared by the number of their rows and a sum of checksums, so that memory is constant.
  ///
  /// - Parameter index: An index of this database. One that is partial, begins with an expression, or is of a table without rowids does not find all
  ///   rows.
  /// - Throws: `SQLiteError` if the table cannot be read. An index that is damaged does not find all rows.
  /// - Complexity: O(rows).
  package func findsAllIntegers(_ index: SQLiteIndex) throws(SQLiteError) -> Bool {
    guard let table = table(named: index.tableName), !table.isWithoutRowid, !index.isPartial,
      let column = index.columns.first?.name.flatMap(table.columnIndex)
    else { return false }
    // Its rows have no integers, as they are read.
    guard table.columns[column].affinity != .real else { return true }
    let stored = try integers(of: table, column)
    do throws(SQLiteError) {
      return try located { () throws(SQLiteError) in try integers(of: index) } == stored
    } catch {
      guard error.code == .damaged else { throw error }
      return false
    }
  }

  private func integers(of table: SQLiteTable, _ column: Int) throws(SQLiteError) -> RowSum {
    var sum = RowSum()
    let cursor = try rows(of: table, from: .min, through: column)
    while let row = try cursor.next() {
      if let rowid = row.rowid, let integer = row.integer(column) { sum.add(integer, rowid) }
    }
    return sum
  }

  /// Nil if the index is not in order.
  private func integers(of index: SQLiteIndex) throws(SQLiteError) -> RowSum? {
    let record = Record(capacity: index.columns.count + 1, block: try source.cached(index.rootPage))
    let cursor = try TreeCursor(source, .index, root: index.rootPage)
    var chain = OverflowChain(source)
    var (sum, last) = (RowSum(), IndexPlace?.none)
    while try cursor.next() {
      try record.read(cursor, chain: &chain)
      let rowid = try rowid(of: record, index, cursor)
      let place = IndexPlace(record)
      if let last {
        let isInOrder = index.columns[0].isDescending ? !last.isBefore(place) : !place.isBefore(last)
        guard isInOrder else { return nil }
      }
      last = place
      if let integer = place.integer { sum.add(integer, rowid) }
    }
    return sum
  }
}

/// Which integers are in which rows, whatever their order is: equal ones have equal sums, and others most likely different ones.
private struct RowSum: Equatable {
  private var count = 0
  private var sum: UInt64 = 0

  mutating func add(_ integer: Int64, _ rowid: Int64) {
    count += 1
    sum &+= Self.mixed(Self.mixed(UInt64(bitPattern: integer)) ^ UInt64(bitPattern: rowid))
  }

  /// The step of SplitMix64: each bit of the result depends on all bits.
  private static func mixed(_ bits: UInt64) -> UInt64 {
    var bits = bits &+ 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }
}

/// Where a record is in an index by its first value, as far as a search for an integer needs it: null, numbers, others.
private struct IndexPlace {
  private enum Kind: Int { case null, number, other }

  private let kind: Kind
  /// Nil for another value.
  let integer: Int64?
  private let number: Double

  init(_ record: Record) {
    switch record.type(0) {
    case 0: (kind, integer, number) = (.null, nil, 0)
    case 7:
      number = record.real(0)
      (kind, integer) = (number.isNaN ? .null : .number, nil)
    case 1...9:
      let value = record.integer(0)
      (kind, integer, number) = (.number, value, Double(value))
    default: (kind, integer, number) = (.other, nil, 0)
    }
  }

  func isBefore(_ other: IndexPlace) -> Bool {
    guard kind == other.kind else { return kind.rawValue < other.kind.rawValue }
    guard kind == .number else { return false }
    if let integer, let second = other.integer { return integer < second }
    return number < other.number
  }
}

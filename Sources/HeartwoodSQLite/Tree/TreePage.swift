/// The kinds of b-trees: "Database File Format", section 1.6.
enum TreeKind: Sendable {
  /// Rows by rowid; all rows are in leaves.
  case table
  /// Records by their values, in leaves and in the pages above them.
  case index
}

/// A page of a b-tree whose header was checked. Its reader keeps the block in memory.
struct TreePage {
  let number: UInt32
  let bytes: BorrowedBytes
  let isLeaf: Bool
  let cellCount: Int
  /// The position of the array of cell positions.
  let array: Int
  /// In bytes: where cells must end.
  let usableSize: Int

  init(_ number: UInt32, _ block: ByteBlock, _ kind: TreeKind, usableSize: Int) throws(SQLiteError) {
    let header = number == 1 ? DatabaseHeader.size : 0
    let type = block.byte(header)
    switch (kind, type) {
    case (.table, 13), (.index, 10): isLeaf = true
    case (.table, 5), (.index, 2): isLeaf = false
    default:
      throw SQLiteError.damaged(
        "A page of \(kind == .table ? "a table" : "an index") is expected, and the type of the page is \(type).",
        page: number, offset: header)
    }
    cellCount = block.number16(header + 3)
    array = header + (isLeaf ? 8 : 12)
    guard array + 2 * cellCount <= usableSize else {
      throw SQLiteError.damaged(
        "\(cellCount) cells are more than fit in the page.", page: number, offset: header + 3)
    }
    let contents = block.number16(header + 5)
    guard contents == 0 || contents >= array + 2 * cellCount, contents <= usableSize else {
      throw SQLiteError.damaged(
        "The contents begin at \(contents), outside of the page's room for them.", page: number,
        offset: header + 5)
    }
    (self.number, bytes, self.usableSize) = (number, block.borrowed, usableSize)
  }

  /// The position of a cell; at least four bytes are there.
  @inline(__always)
  func cell(_ index: Int) throws(SQLiteError) -> Int {
    assert(index < cellCount)
    let offset = bytes.number16(array + 2 * index)
    guard offset >= array + 2 * cellCount, offset + 4 <= usableSize else {
      throw Self.cellOutside(index, offset, page: number, array)
    }
    return offset
  }

  // Errors get numbers instead of the page, which would be copied for each cell.

  private static func cellOutside(_ index: Int, _ offset: Int, page: UInt32, _ array: Int) -> SQLiteError {
    .damaged(
      "Cell \(index) begins at \(offset), outside of the page's room for cells.", page: page,
      offset: array + 2 * index)
  }

  /// The page below an inner page that is before cell `index`, or after the last cell.
  func child(_ index: Int) throws(SQLiteError) -> UInt32 {
    index == cellCount ? bytes.number32(array - 4) : bytes.number32(try cell(index))
  }

  /// The key of a cell of an inner page of a table: the largest rowid below its child.
  func key(_ index: Int) throws(SQLiteError) -> Int64 {
    var offset = try cell(index) + 4
    guard let key = bytes.varint(&offset, end: usableSize) else { throw Self.cut(index, page: number, array) }
    return Int64(bitPattern: key)
  }

  static func cut(_ index: Int, page: UInt32, _ array: Int) -> SQLiteError {
    .damaged("Cell \(index) is cut off by the end of the page.", page: page, offset: array + 2 * index)
  }
}

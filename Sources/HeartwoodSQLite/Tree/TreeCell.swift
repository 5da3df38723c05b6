/// A record in a page, as its cell describes it: "Database File Format", section 1.6.
struct TreeCell {
  /// 0 in an index.
  var rowid: Int64 = 0
  /// The length of the record in bytes, with what is in overflow pages.
  var length = 0
  /// The position of the record's first byte in the page.
  var start = 0
  /// The bytes of the record that are in the page.
  var local = 0
}

extension TreePage {
  /// The cell of a record.
  ///
  /// - Parameters:
  ///   - kind: The kind of the b-tree. Inner pages of a table have no records.
  ///   - limit: A record cannot be longer than this.
  @inline(__always)
  func record(_ index: Int, _ kind: TreeKind, limit: Int) throws(SQLiteError) -> TreeCell {
    var offset = try cell(index)
    var cell = TreeCell()
    if kind == .index, !isLeaf { offset += 4 }
    guard let length = bytes.varint(&offset, end: usableSize) else {
      throw Self.cut(index, page: number, array)
    }
    if kind == .table {
      guard let rowid = bytes.varint(&offset, end: usableSize) else {
        throw Self.cut(index, page: number, array)
      }
      cell.rowid = Int64(bitPattern: rowid)
    }
    guard length <= limit else {
      throw SQLiteError.damaged(
        "The record of cell \(index) has \(length) bytes; the database has fewer.", page: number,
        offset: try self.cell(index))
    }
    cell.length = Int(length)
    cell.start = offset
    cell.local = Self.local(cell.length, kind, usableSize: usableSize)
    let end = offset + cell.local + (cell.local < cell.length ? 4 : 0)
    guard end <= usableSize else { throw Self.cut(index, page: number, array) }
    return cell
  }

  /// The bytes of a record that are in its page and not in overflow pages.
  @inline(__always)
  static func local(_ length: Int, _ kind: TreeKind, usableSize: Int) -> Int {
    let maximum = kind == .table ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
    if length <= maximum { return length }
    let minimum = (usableSize - 12) * 32 / 255 - 23
    let local = minimum + (length - minimum) % (usableSize - 4)
    return local <= maximum ? local : minimum
  }
}

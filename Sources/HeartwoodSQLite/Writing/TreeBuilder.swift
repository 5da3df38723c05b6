/// Builds a b-tree from its records in order, page after page: leaves are filled and written, and so are the pages above
/// them when they are full. The memory needed is a page for each level.
final class TreeBuilder {
  private let output: PageOutput
  private let kind: TreeKind
  private var levels: [Level]
  private(set) var lastRowid: Int64?
  private var cell: [UInt8] = []

  private struct Level {
    var page: PageBuilder
    /// In a table: the last child, which gets a cell when another one follows, and the largest rowid in it.
    var last: (page: UInt32, key: Int64)?
    /// In a table: the child of the last cell.
    var previous: (page: UInt32, key: Int64)?
  }

  init(_ output: PageOutput, _ kind: TreeKind) {
    (self.output, self.kind) = (output, kind)
    levels = [Level(page: PageBuilder(pageSize: output.pageSize, isLeaf: true))]
  }

  /// Adds a row of a table; rowids ascend.
  func add(rowid: Int64, _ record: [UInt8]) throws(SQLiteError) {
    try makeCell(record, rowid: rowid)
    if !levels[0].page.fits(cell.count), let lastRowid {
      let number = try output.append(levels[0].page.page(kind))
      levels[0].page.removeAll()
      try addChild(1, number, lastRowid)
    }
    levels[0].page.append(cell)
    lastRowid = rowid
  }

  /// Adds a record of an index.
  func add(_ record: [UInt8]) throws(SQLiteError) {
    try makeCell(record, rowid: nil)
    if !levels[0].page.fits(cell.count) {
      // The last record of the leaf separates it from the next one.
      let separator = levels[0].page.removeLast()
      let number = try output.append(levels[0].page.page(kind))
      levels[0].page.removeAll()
      try addSeparator(1, number, separator)
    }
    levels[0].page.append(cell)
  }

  /// Writes what is left; returns the number of the root.
  func finish() throws(SQLiteError) -> UInt32 {
    let right = try finishLower()
    return try output.append(page(levels.count - 1, right: right))
  }

  /// As `finish()`, for the tree of the schema: its root is page 1, which is returned and not written.
  func finishFirstPage() throws(SQLiteError) -> [UInt8] {
    let right = try finishLower()
    if levels[levels.count - 1].page.fitsFirstPage {
      return page(levels.count - 1, at: DatabaseHeader.size, right: right)
    }
    // As in SQLite, the root has no cell then, and one child.
    let child = try output.append(page(levels.count - 1, right: right))
    return PageBuilder(pageSize: output.pageSize, isLeaf: false).page(
      kind, at: DatabaseHeader.size, right: child)
  }

  /// Writes the pages below the root; returns the number of the last.
  private func finishLower() throws(SQLiteError) -> UInt32 {
    var number: UInt32 = 0
    var level = 0
    while level < levels.count - 1 {
      let key = level == 0 ? lastRowid ?? 0 : levels[level].last?.key ?? 0
      number = try output.append(page(level, right: number))
      // This may add a level.
      if kind == .table { try addChild(level + 1, number, key) }
      level += 1
    }
    return number
  }

  private func page(_ level: Int, at offset: Int = 0, right: UInt32) -> [UInt8] {
    levels[level].page.page(kind, at: offset, right: levels[level].last?.page ?? right)
  }

  private func prepare(_ level: Int) {
    guard level == levels.count else { return }
    levels.append(Level(page: PageBuilder(pageSize: output.pageSize, isLeaf: false)))
  }

  /// Adds a page of a table to the level above it.
  private func addChild(_ level: Int, _ child: UInt32, _ key: Int64) throws(SQLiteError) {
    prepare(level)
    if let last = levels[level].last {
      var cell: [UInt8] = []
      RecordEncoder.appendBigEndian(UInt64(last.page), 4, to: &cell)
      RecordEncoder.appendVarint(UInt64(bitPattern: last.key), to: &cell)
      if !levels[level].page.fits(cell.count), let previous = levels[level].previous {
        // Its last child goes behind the last cell; the next page begins with a cell and has a child behind it.
        _ = levels[level].page.removeLast()
        let number = try output.append(levels[level].page.page(kind, right: previous.page))
        levels[level].page.removeAll()
        try addChild(level + 1, number, previous.key)
      }
      levels[level].page.append(cell)
      levels[level].previous = last
    }
    levels[level].last = (child, key)
  }

  /// Adds a page of an index and the record behind it to the level above.
  private func addSeparator(_ level: Int, _ child: UInt32, _ record: [UInt8]) throws(SQLiteError) {
    prepare(level)
    var cell: [UInt8] = []
    RecordEncoder.appendBigEndian(UInt64(child), 4, to: &cell)
    cell.append(contentsOf: record)
    if !levels[level].page.fits(cell.count) {
      let separator = levels[level].page.removeLast()
      let right = separator.prefix(4).reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
      let number = try output.append(levels[level].page.page(kind, right: right))
      levels[level].page.removeAll()
      try addSeparator(level + 1, number, Array(separator.dropFirst(4)))
    }
    levels[level].page.append(cell)
  }

  /// Fills `cell`; writes the overflow pages of the record.
  private func makeCell(_ record: [UInt8], rowid: Int64?) throws(SQLiteError) {
    cell.removeAll(keepingCapacity: true)
    RecordEncoder.appendVarint(UInt64(record.count), to: &cell)
    if let rowid { RecordEncoder.appendVarint(UInt64(bitPattern: rowid), to: &cell) }
    let local = TreePage.local(record.count, kind, usableSize: output.pageSize)
    guard local < record.count else {
      cell.append(contentsOf: record)
      return
    }
    cell.append(contentsOf: record[..<local])
    RecordEncoder.appendBigEndian(UInt64(output.nextPage), 4, to: &cell)
    var rest = record[local...]
    while !rest.isEmpty {
      let part = rest.prefix(output.pageSize - 4)
      rest = rest.dropFirst(part.count)
      var page: [UInt8] = []
      page.reserveCapacity(output.pageSize)
      let number = output.nextPage
      RecordEncoder.appendBigEndian(rest.isEmpty ? 0 : UInt64(output.pageAfter(number)), 4, to: &page)
      page.append(contentsOf: part)
      page.append(contentsOf: repeatElement(0, count: output.pageSize - page.count))
      _ = try output.append(page)
    }
  }
}

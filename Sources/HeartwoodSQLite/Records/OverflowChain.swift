/// Reads the rest of records that do not fit in a page: "Database File Format", section 1.7. Each page of the chain
/// begins with the number of the next one, 0 in the last.
struct OverflowChain {
  let source: PageSource
  /// Pages that may still be read: in a scan of a tree each overflow page can be met once.
  private var budget: Int

  init(_ source: PageSource) {
    self.source = source
    budget = source.readablePageCount
  }

  /// Puts the record at which a cursor is together in `block`, whose single owner is the caller.
  mutating func read(_ cursor: TreeCursor, into block: ByteBlock) throws(SQLiteError) {
    let (cell, page) = (cursor.cell, cursor.page)
    block.reserve(cell.local, keeping: 0)
    block.base.copyMemory(from: page.bytes.memory + cell.start, byteCount: cell.local)
    var done = cell.local
    var next = page.bytes.number32(cell.start + cell.local)
    var holder = (page: page.number, offset: cell.start + cell.local)
    while done < cell.length {
      guard next != 0, next <= source.pageCount else {
        throw SQLiteError.damaged(
          next == 0
            ? "The record ends after \(done) of \(cell.length) bytes."
            : "The record goes on in page \(next), and the database has \(source.pageCount) pages.",
          page: holder.page, offset: holder.offset)
      }
      guard budget > 0 else {
        throw SQLiteError.damaged("Overflow pages are used by more than one record.", page: next, offset: 0)
      }
      budget -= 1
      let overflow = try source.read(next)
      let count = min(source.usableSize - 4, cell.length - done)
      block.reserve(done + count, keeping: done)
      (block.base + done).copyMemory(from: overflow.base + 4, byteCount: count)
      done += count
      holder = (next, 0)
      next = overflow.number32(0)
    }
  }
}

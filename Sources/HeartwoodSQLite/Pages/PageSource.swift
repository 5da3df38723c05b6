import Synchronization

/// The pages of a database as of one moment. Pages are read with `pread`; those that are likely to be needed again
/// are kept, up to `cacheCapacity` bytes.
final class PageSource: Sendable {
  let path: String
  let header: DatabaseHeader
  let pageSize: Int
  let usableSize: Int
  let pageCount: UInt32
  private let snapshot: Snapshot
  private let cache: Mutex<PageCache>

  /// The pages that can be read: those of the file and those of the overlay.
  let readablePageCount: Int

  var journal: SQLiteJournal { snapshot.journal }

  static let cacheCapacity = 4 << 20

  init(_ snapshot: Snapshot) throws(SQLiteError) {
    self.snapshot = snapshot
    path = snapshot.file.path
    let block = ByteBlock(capacity: 1024)
    let fileSize = try snapshot.file.stamp().size
    let count: Int
    if let place = snapshot.place(of: 1) {
      count = try place.file.read(into: block, 512, at: place.offset)
    } else {
      count = try snapshot.file.read(into: block, 1024, at: 0)
    }
    try DatabaseHeader.checkMagic(block, count: count, fileSize: fileSize)
    header = try DatabaseHeader(block)
    (pageSize, usableSize) = (header.pageSize, header.usableSize)
    let pagesOfFile = UInt32(clamping: fileSize / Int64(pageSize))
    if let first = snapshot.overlays.first {
      for overlay in snapshot.overlays where overlay.pageSize != pageSize {
        throw SQLiteError.damaged(
          "Pages have \(pageSize) bytes here, and \(overlay.pageSize) in \(overlay.file.path).", page: 1,
          offset: 16)
      }
      pageCount = first.pageCount
      let others = snapshot.overlays.reduce(0) { $0 + $1.offsets.count }
      readablePageCount = min(Int(pageCount), Int(pagesOfFile) + others)
    } else {
      pageCount = header.pageCount ?? pagesOfFile
      readablePageCount = Int(pageCount)
      guard pageCount <= pagesOfFile else {
        throw SQLiteError.damaged(
          "The file is cut: it has \(pagesOfFile) of \(pageCount) pages.", page: 1, offset: 28)
      }
    }
    try snapshot.check()
    cache = Mutex(PageCache(capacity: max(8, Self.cacheCapacity / header.pageSize)))
  }

  /// The page, from memory if it is there; it stays in memory for a while.
  func cached(_ number: UInt32) throws(SQLiteError) -> ByteBlock {
    if let block = cache.withLock({ $0.block(number) }) { return block }
    let block = try read(number)
    cache.withLock { $0.insert(number, block) }
    return block
  }

  /// The page, from the file.
  func read(_ number: UInt32) throws(SQLiteError) -> ByteBlock {
    guard number > 0, number <= pageCount else {
      throw SQLiteError.damaged(
        "The page is needed, and the database has \(pageCount) pages.", page: number, offset: 0)
    }
    let block = ByteBlock(uninitialized: pageSize)
    let count = try snapshot.read(number, pageSize: pageSize, into: block)
    guard count == pageSize else {
      throw SQLiteError.damaged("The file ends within the page: it is cut.", page: number, offset: count)
    }
    return block
  }
}

/// Pages in memory: those used lately, and those used before them, which are dropped when the former are too many.
private struct PageCache {
  let capacity: Int
  var recent: [UInt32: ByteBlock] = [:]
  var older: [UInt32: ByteBlock] = [:]

  init(capacity: Int) { self.capacity = capacity }

  mutating func block(_ number: UInt32) -> ByteBlock? {
    if let block = recent[number] { return block }
    guard let block = older[number] else { return nil }
    insert(number, block)
    return block
  }

  mutating func insert(_ number: UInt32, _ block: ByteBlock) {
    if recent.count >= capacity / 2 { (older, recent) = (recent, [:]) }
    recent[number] = block
  }
}

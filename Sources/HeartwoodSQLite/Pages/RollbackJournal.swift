/// The rollback journal beside a database: "Database File Format", section 3.
///
/// While a transaction changes the database file, the journal has the pages as they were before. A journal that is left
/// behind by a process that ended is "hot": the database is what the file is with the journal's pages in it. SQLite
/// writes them into the file; this reader reads them from the journal.
enum RollbackJournal {
  private static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

  /// The pages before the transaction; nil if the journal has no header that counts, or is what remained of a
  /// transaction over several databases that ended.
  static func overlay(_ file: ReadOnlyFile) throws(SQLiteError) -> PageOverlay? {
    let fileSize = try file.stamp().size
    if let name = try superJournal(file, fileSize), try ReadOnlyFile(name) == nil { return nil }
    var offsets: [UInt32: Int64] = [:]
    var first: Segment?
    var position: Int64 = 0
    segments: while let segment = try segment(file, position, fileSize, first) {
      let (pageSize, pageCount) = (segment.pageSize, first?.pageCount ?? segment.pageCount)
      first = first ?? segment
      let block = ByteBlock(capacity: pageSize + 8)
      position += Int64(segment.sectorSize)
      for _ in 0..<segment.recordCount {
        let count = try file.read(into: block, pageSize + 8, at: position)
        let page = block.number32(0)
        guard count == pageSize + 8, page != 0,
          checksum(block, segment.nonce, pageSize) == block.number32(4 + pageSize)
        else { break segments }
        // The first copy of a page is the one from before the transaction.
        if page <= pageCount, offsets[page] == nil { offsets[page] = position + 4 }
        position += Int64(pageSize + 8)
      }
      let sector = Int64(segment.sectorSize)
      position = (position + sector - 1) / sector * sector
    }
    guard let first else { return nil }
    return PageOverlay(file: file, pageSize: first.pageSize, pageCount: first.pageCount, offsets: offsets)
  }

  private struct Segment {
    var recordCount: UInt32
    var nonce: UInt32
    var pageCount: UInt32
    var sectorSize: Int
    var pageSize: Int
  }

  /// The header at a position; nil if there is none that counts.
  ///
  /// - Parameter first: The first header of the journal, whose sizes are those of all.
  private static func segment(
    _ file: ReadOnlyFile, _ position: Int64, _ fileSize: Int64, _ first: Segment?
  ) throws(SQLiteError) -> Segment? {
    let block = ByteBlock(capacity: 28)
    guard try file.read(into: block, 28, at: position) == 28, block.bytes(0, 8).elementsEqual(magic)
    else { return nil }
    let sectorSize = first?.sectorSize ?? Int(block.number32(20))
    let pageSize = first?.pageSize ?? Int(block.number32(24))
    guard sectorSize >= 32, sectorSize <= 65_536, sectorSize & (sectorSize - 1) == 0, pageSize >= 512,
      pageSize <= 65_536, pageSize & (pageSize - 1) == 0
    else { return nil }
    // The number is not there if the journal was not meant to survive a power cut.
    let possible = UInt32(clamping: max(0, fileSize - position - Int64(sectorSize)) / Int64(pageSize + 8))
    return Segment(
      recordCount: min(block.number32(8), possible), nonce: block.number32(12), pageCount: block.number32(16),
      sectorSize: sectorSize, pageSize: pageSize)
  }

  private static func checksum(_ block: ByteBlock, _ nonce: UInt32, _ pageSize: Int) -> UInt32 {
    var sum = nonce
    var index = pageSize - 200
    while index > 0 {
      sum &+= UInt32(block.byte(4 + index))
      index -= 200
    }
    return sum
  }

  /// The path of the journal of a transaction over several databases, which is named at the end of the journal.
  private static func superJournal(_ file: ReadOnlyFile, _ fileSize: Int64) throws(SQLiteError) -> String? {
    guard fileSize >= 16 else { return nil }
    let end = ByteBlock(capacity: 16)
    guard try file.read(into: end, 16, at: fileSize - 16) == 16,
      end.bytes(8, 8).elementsEqual(magic)
    else { return nil }
    let length = Int64(end.number32(0))
    guard length > 0, length <= 4096, length <= fileSize - 16 else { return nil }
    let name = try file.bytes(at: fileSize - 16 - length, count: Int(length))
    let sum = name.reduce(0 as UInt32) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }
    guard sum == end.number32(4) else { return nil }
    return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
  }
}

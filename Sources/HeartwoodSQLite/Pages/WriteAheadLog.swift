/// The write-ahead log beside a database: "WAL-mode File Format", section 2.
///
/// The log is a header of 32 bytes, then frames: 24 bytes with the page's number, and the page. The last frame of a
/// transaction has the size of the database in pages. A frame counts if its salts are those of the header and its
/// checksum, which runs over all frames before it, is right: what is behind the first frame that does not count is a
/// torn end, or what a reset left of an older log.
enum WriteAheadLog {
  static let headerSize = 32
  static let frameHeaderSize = 24

  struct Header: Hashable, Sendable {
    var pageSize: Int
    var salts: UInt64
    var sum: Checksum
  }

  /// The header; nil if the log has none that counts.
  ///
  /// - Throws: If a later version of SQLite wrote it.
  static func header(_ file: ReadOnlyFile) throws(SQLiteError) -> Header? {
    let block = ByteBlock(capacity: headerSize)
    let count = try file.read(into: block, headerSize, at: 0)
    guard count == headerSize, block.number32(0) & 0xFFFF_FFFE == 0x377F_0682 else { return nil }
    let pageSize = Int(block.number32(8))
    guard pageSize >= 512, pageSize <= 65_536, pageSize & (pageSize - 1) == 0 else { return nil }
    var sum = Checksum(bigEndian: block.number32(0) & 1 == 1)
    sum.add(block, 0, 24)
    guard sum.first == block.number32(24), sum.second == block.number32(28) else { return nil }
    guard block.number32(4) == 3_007_000 else {
      throw SQLiteError(
        .newerFormat,
        "A later version of SQLite wrote this log (version \(block.number32(4))); this reader knows 3007000.",
        path: file.path, offset: 4)
    }
    return Header(pageSize: pageSize, salts: block.number64(16), sum: sum)
  }

  /// The pages of all transactions that ended in the log; nil if there is none.
  ///
  /// - Parameter limit: The number of frames that other processes take for valid; nil if no process has the log open.
  /// - Complexity: O(bytes of the log) time, O(different pages in it) memory.
  static func overlay(_ file: ReadOnlyFile, limit: UInt32? = nil) throws(SQLiteError) -> PageOverlay? {
    guard let header = try header(file) else { return nil }
    let frameSize = frameHeaderSize + header.pageSize
    // Many frames a call.
    let batch = max(1, 262_144 / frameSize)
    let block = ByteBlock(capacity: batch * frameSize)
    var sum = header.sum
    var committed: [UInt32: Int64] = [:]
    var pageCount: UInt32 = 0
    // The frames of the transaction that has not ended yet.
    var pending: [(page: UInt32, offset: Int64)] = []
    var (frame, committedFrame): (UInt32, UInt32) = (0, 0)
    var position = Int64(headerSize)
    reading: while true {
      let count = try file.read(into: block, batch * frameSize, at: position)
      for index in 0..<count / frameSize {
        if let limit, frame >= limit { break reading }
        let start = index * frameSize
        guard block.number64(start + 8) == header.salts, block.number32(start) != 0 else { break reading }
        sum.add(block, start, 8)
        sum.add(block, start + frameHeaderSize, header.pageSize)
        guard sum.first == block.number32(start + 16), sum.second == block.number32(start + 20) else {
          break reading
        }
        frame += 1
        pending.append((block.number32(start), position + Int64(start + frameHeaderSize)))
        let size = block.number32(start + 4)
        guard size != 0 else { continue }
        (pageCount, committedFrame) = (size, frame)
        for (page, offset) in pending { committed[page] = offset }
        pending.removeAll(keepingCapacity: true)
      }
      guard count == batch * frameSize else { break }
      position += Int64(count)
    }
    if let limit, committedFrame != limit {
      throw SQLiteError(
        .damaged,
        "Frame \(committedFrame + 1) of the log does not count, and processes that use the log count \(limit).",
        path: file.path, offset: headerSize + Int(committedFrame) * frameSize)
    }
    if pageCount == 0 { return nil }
    return PageOverlay(file: file, pageSize: header.pageSize, pageCount: pageCount, offsets: committed)
  }

  /// The checksum of a log: two sums of 32 bits that depend on each other and on the order of the words.
  struct Checksum: Hashable, Sendable {
    let bigEndian: Bool
    var first: UInt32 = 0
    var second: UInt32 = 0

    init(bigEndian: Bool) { self.bigEndian = bigEndian }

    /// - Parameter count: A multiple of 8.
    mutating func add(_ block: ByteBlock, _ start: Int, _ count: Int) {
      var (s0, s1) = (first, second)
      var offset = start
      while offset < start + count {
        let (x, y) = (block.number32(offset), block.number32(offset + 4))
        s0 = s0 &+ (bigEndian ? x : x.byteSwapped) &+ s1
        s1 = s1 &+ (bigEndian ? y : y.byteSwapped) &+ s0
        offset += 8
      }
      (first, second) = (s0, s1)
    }
  }
}

/// The first 100 bytes of a database: "Database File Format", section 1.3.
struct DatabaseHeader: Hashable, Sendable {
  static let size = 100

  /// In bytes: a power of two, 512 to 65,536.
  var pageSize: Int
  /// The bytes of a page that are not reserved for extensions at its end.
  var usableSize: Int
  /// The pages that the header counts; nil if a version of SQLite wrote the file that did not count them.
  var pageCount: UInt32?
  /// Whether the file says that changes go to a write-ahead log.
  var usesLog: Bool
  /// 1 to 4; 0 in a database without a schema.
  var schemaFormat: UInt32
  var encoding: SQLiteTextEncoding
  /// Not 0 if there are pointer maps.
  var largestRootPage: UInt32
  var userVersion: Int32
  var applicationIdentifier: Int32

  /// - Parameter block: At least 100 bytes.
  init(_ block: ByteBlock) throws(SQLiteError) {
    func damaged(_ offset: Int, _ message: String) -> SQLiteError {
      .damaged(message, page: 1, offset: offset)
    }
    let size = block.number16(16) == 1 ? 65_536 : block.number16(16)
    guard size >= 512, size & (size - 1) == 0 else {
      throw damaged(16, "The size of pages is \(size); it is a power of two from 512 to 65,536.")
    }
    guard block.byte(19) <= 2 else {
      throw SQLiteError(
        .newerFormat,
        "A later version of SQLite wrote this file (read version \(block.byte(19))); this reader knows 1 and 2.",
        page: 1, offset: 19)
    }
    pageSize = size
    usableSize = size - Int(block.byte(20))
    guard usableSize >= 480 else {
      throw damaged(20, "\(block.byte(20)) bytes of each page are reserved; at least 480 must remain.")
    }
    guard block.byte(21) == 64, block.byte(22) == 32, block.byte(23) == 32 else {
      throw damaged(21, "The fractions of payloads are not 64, 32 and 32.")
    }
    usesLog = block.byte(19) == 2
    // The count is valid if the version that noted it made the last change.
    pageCount =
      block.number32(28) != 0 && block.number32(24) == block.number32(92) ? block.number32(28) : nil
    schemaFormat = block.number32(44)
    guard schemaFormat <= 4 else {
      throw SQLiteError(
        .newerFormat, "The format of the schema is \(schemaFormat); this reader knows 1 to 4.", page: 1,
        offset: 44)
    }
    largestRootPage = block.number32(52)
    let code = block.number32(56)
    guard let encoding = SQLiteTextEncoding(rawValue: code == 0 ? 1 : code) else {
      throw damaged(56, "The encoding of text is \(code); it is 1, 2 or 3.")
    }
    self.encoding = encoding
    userVersion = Int32(bitPattern: block.number32(60))
    applicationIdentifier = Int32(bitPattern: block.number32(68))
  }

  /// Throws an error that says what the file is instead, if it does not begin as a database does.
  ///
  /// - Parameters:
  ///   - block: The first bytes.
  ///   - count: The number of bytes that were read.
  ///   - fileSize: In bytes.
  static func checkMagic(_ block: ByteBlock, count: Int, fileSize: Int64) throws(SQLiteError) {
    if count >= 16, block.bytes(0, 16).elementsEqual("SQLite format 3\0".utf8) {
      guard count < size else { return }
      throw SQLiteError(
        .notSQLite,
        "This is no whole database of SQLite: it ends after \(count) bytes, within the header of \(size).",
        offset: count)
    }
    if count >= 512, looksRandom(block.bytes(0, min(count, 1024))) {
      throw SQLiteError(
        .encrypted,
        "This is no database of SQLite that can be read: it looks encrypted. Decrypt it with the program that wrote it, then open the copy.",
        offset: 0)
    }
    if fileSize == 0 {
      throw SQLiteError(.notSQLite, "The file is empty: there is no database in it yet.", offset: 0)
    }
    throw SQLiteError(
      .notSQLite, "This is no database of SQLite: it does not begin with \"SQLite format 3\".", offset: 0)
  }

  /// Whether nearly all values of a byte occur about equally often, as in encrypted bytes.
  private static func looksRandom(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var counts = [Int](repeating: 0, count: 256)
    for byte in bytes { counts[Int(byte)] += 1 }
    let distinct = counts.count { $0 > 0 }
    // Random bytes: 221 distinct values of 512 and 251 of 1,024 are expected.
    return distinct > (bytes.count >= 1024 ? 238 : 200) && (counts.max() ?? 0) < 24
  }
}

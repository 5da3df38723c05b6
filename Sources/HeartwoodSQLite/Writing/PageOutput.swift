import CLibrary
import Foundation

/// The pages of a new database, written one after another into a file of another name beside the one that it becomes.
final class PageOutput {
  let path: String
  let pageSize: Int
  private let temporaryPath: String
  private var descriptor: Int32
  private var buffer: [UInt8] = []
  private(set) var pageCount: UInt32 = 0

  private static let bufferSize = 1 << 20

  init(_ path: String, pageSize: Int) throws(SQLiteError) {
    (self.path, self.pageSize) = (path, pageSize)
    temporaryPath = path + ".new-" + UUID().uuidString.prefix(8)
    descriptor = open(temporaryPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw SQLiteError.system("cannot be created", path) }
    buffer.reserveCapacity(Self.bufferSize + pageSize)
    // Page 1 is written at the end.
    _ = try append([UInt8](repeating: 0, count: pageSize))
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    unlink(temporaryPath)
  }

  /// The number of the page that is written next. The page with the bytes of the locks has no contents.
  var nextPage: UInt32 { pageAfter(pageCount) }

  func pageAfter(_ page: UInt32) -> UInt32 {
    Int64(page) * Int64(pageSize) == DatabaseLock.pending ? page + 2 : page + 1
  }

  /// Writes a page; returns its number.
  func append(_ page: [UInt8]) throws(SQLiteError) -> UInt32 {
    assert(page.count == pageSize)
    guard pageCount < UInt32.max - 4 else {
      throw SQLiteError(.unsupported, "A database cannot have more pages: use larger ones.", path: path)
    }
    if nextPage > pageCount + 1 {
      buffer.append(contentsOf: repeatElement(0, count: pageSize))
      pageCount += 1
    }
    buffer.append(contentsOf: page)
    pageCount += 1
    if buffer.count >= Self.bufferSize { try flush() }
    return pageCount
  }

  private func flush() throws(SQLiteError) {
    let offset = Int64(pageCount) * Int64(pageSize) - Int64(buffer.count)
    try write(buffer, at: offset)
    buffer.removeAll(keepingCapacity: true)
  }

  private func write(_ bytes: [UInt8], at offset: Int64) throws(SQLiteError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress! + done, $0.count - done, off_t(offset) + off_t(done))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SQLiteError.system("cannot be written", path) }
      done += count
    }
  }

  /// Writes the first page, makes the file durable, and gives it its name.
  ///
  /// - Parameter replacing: Whether a file of the name is replaced.
  func finish(firstPage: [UInt8], replacing: Bool) throws(SQLiteError) {
    try flush()
    try write(firstPage, at: 0)
    guard Self.makeDurable(descriptor) else {
      throw SQLiteError.system("cannot be made durable", path)
    }
    // A link does not replace a file that appeared meanwhile; where there are no links, the name is taken as it is.
    var isNamed = !replacing && link(temporaryPath, path) == 0
    if isNamed {
      unlink(temporaryPath)
    } else if replacing || errno != EEXIST {
      isNamed = rename(temporaryPath, path) == 0
    }
    guard isNamed else { throw SQLiteError.system("cannot be given its name", path) }
    close(descriptor)
    descriptor = -1
    let folder = (path as NSString).deletingLastPathComponent
    let folderDescriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC)
    guard folderDescriptor >= 0 else {
      throw SQLiteError.system("cannot be made durable in its folder", path)
    }
    defer { close(folderDescriptor) }
    guard Self.makeDurable(folderDescriptor) else {
      throw SQLiteError.system("cannot be made durable in its folder", path)
    }
  }

  private static func makeDurable(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
      // Nothing less empties the drive's own cache.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(descriptor) == 0
  }
}

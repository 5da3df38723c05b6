import HeartwoodBytes
import Synchronization

/// An open file in memory.
final class MemoryFile: File {
  let name: String
  private let path: String
  private let mode: OpenMode
  private let content: MemoryContent
  private let isClosed = Atomic(false)

  init(name: String, path: String, mode: OpenMode, content: MemoryContent) {
    self.name = name
    self.path = path
    self.mode = mode
    self.content = content
  }

  deinit { content.unlock(ObjectIdentifier(self)) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    require(offset >= 0, "Offsets in a file are not negative.")
    checkOpen()
    return content.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    require(offset >= 0, "Offsets in a file are not negative.")
    require(mode != .readOnly, "A file opened for reading only is never written.")
    try perform(.write) { () throws(FileSystemError) in try content.write(bytes, at: offset) }
    return bytes.count
  }

  func sync(_ kind: SyncKind) throws(FileSystemError) { checkOpen() }

  func size() throws(FileSystemError) -> Int64 {
    checkOpen()
    return Int64(content.size)
  }

  /// Its names are not known here; it counts as one that has a name.
  func status() throws(FileSystemError) -> FileStatus? {
    checkOpen()
    return content.status(links: 1)
  }

  func truncate(to size: Int64) throws(FileSystemError) {
    require(size >= 0, "The length of a file is not negative.")
    require(mode != .readOnly, "A file opened for reading only is never cut.")
    try perform(.truncate) { () throws(FileSystemError) in try content.truncate(to: size) }
  }

  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool {
    require(
      kind == .shared || mode != .readOnly, "A file opened for reading only is locked with others.")
    checkOpen()
    return content.tryLock(ObjectIdentifier(self), exclusively: kind == .exclusive)
  }

  func isLocked() throws(FileSystemError) -> Bool {
    checkOpen()
    return content.isLocked(besides: ObjectIdentifier(self))
  }

  func unlock() throws(FileSystemError) {
    checkOpen()
    content.unlock(ObjectIdentifier(self))
  }

  func map(length: Int) throws(FileSystemError) -> (any FileMap)? {
    require(length >= 0, "The length of a map is not negative.")
    return try perform(.map) { () throws(FileSystemError) in try content.map(length: length) }
  }

  func close() throws(FileSystemError) {
    let wasClosed = isClosed.exchange(true, ordering: .relaxed)
    require(!wasClosed, "A file is closed once.")
    content.unlock(ObjectIdentifier(self))
  }

  /// Runs `call` and adds the path and the operation to its errors, which `MemoryContent` does not know.
  private func perform<Result>(
    _ operation: FileSystemError.Operation, _ call: () throws(FileSystemError) -> Result
  ) throws(FileSystemError) -> Result {
    checkOpen()
    do {
      return try call()
    } catch {
      throw FileSystemError(error.code, operation, path: path, systemNumber: error.systemNumber)
    }
  }

  private func checkOpen() {
    require(!isClosed.load(ordering: .relaxed), "A closed file is not used again.")
  }
}

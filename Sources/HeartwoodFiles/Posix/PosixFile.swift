import HeartwoodBytes
import Synchronization

/// A regular file by its descriptor, which is closed by `close()` or with the last reference.
final class PosixFile: File {
  let name: String
  private let path: String
  private let mode: OpenMode
  private let descriptor: Int32
  /// Relaxed order suffices: closing during another call is an error of the program. The flag only prevents
  /// the use of a descriptor number that the system has assigned again.
  private let isClosed = Atomic(false)
  private let holdsLock = Atomic(false)
  private let forks = ForkCount.current

  init(name: String, path: String, mode: OpenMode, descriptor: Int32) {
    self.name = name
    self.path = path
    self.mode = mode
    self.descriptor = descriptor
  }

  deinit {
    if !isClosed.load(ordering: .relaxed) { try? release() }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    require(offset >= 0, "Offsets in a file are not negative.")
    return try perform(.read) { (file) throws(SystemError) in
      try SystemCall.read(file, buffer, at: offset)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    require(offset >= 0, "Offsets in a file are not negative.")
    require(mode != .readOnly, "A file opened for reading only is never written.")
    return try perform(.write) { (file) throws(SystemError) in
      try SystemCall.write(file, bytes, at: offset)
    }
  }

  func sync(_ kind: SyncKind) throws(FileSystemError) {
    try perform(.sync) { (file) throws(SystemError) in try SystemCall.sync(file, kind) }
  }

  func size() throws(FileSystemError) -> Int64 {
    try perform(.size) { (file) throws(SystemError) in try SystemCall.size(of: file) }
  }

  func status() throws(FileSystemError) -> FileStatus? {
    try perform(.size) { (file) throws(SystemError) in try SystemCall.fileStatus(of: file) }
  }

  func takePermissions(of other: any File) throws(FileSystemError) {
    guard let other = other as? PosixFile else { return }
    let permissions = try other.perform(.size) { (file) throws(SystemError) in
      try SystemCall.permissions(of: file)
    }
    try perform(.open) { (file) throws(SystemError) in try SystemCall.setPermissions(file, permissions) }
  }

  /// The same, of a file by its name in a directory.
  func takePermissions(of name: String, in directory: Int32) throws(FileSystemError) {
    try perform(.open) { (file) throws(SystemError) in
      let permissions = try SystemCall.permissions(of: name, in: directory)
      guard try SystemCall.permissions(of: file) != permissions else { return }
      try SystemCall.setPermissions(file, permissions)
    }
  }

  func truncate(to size: Int64) throws(FileSystemError) {
    require(size >= 0, "The length of a file is not negative.")
    require(mode != .readOnly, "A file opened for reading only is never cut.")
    try perform(.truncate) { (file) throws(SystemError) in try SystemCall.truncate(file, to: size) }
  }

  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool {
    require(
      kind == .shared || mode != .readOnly, "A file opened for reading only is locked with others.")
    let isTaken = try perform(.lock) { (file) throws(SystemError) in
      try SystemCall.tryLock(file, exclusively: kind == .exclusive)
    }
    if isTaken { holdsLock.store(true, ordering: .relaxed) }
    return isTaken
  }

  func unlock() throws(FileSystemError) {
    try perform(.lock) { (file) throws(SystemError) in try SystemCall.unlock(file) }
    holdsLock.store(false, ordering: .relaxed)
  }

  func isLocked() throws(FileSystemError) -> Bool {
    try perform(.lock) { (file) throws(SystemError) in try SystemCall.isLocked(file) }
  }

  func share(length: Int) throws(FileSystemError) -> (any SharedMemory)? {
    require(mode != .readOnly, "A file opened for reading only is mapped.")
    do {
      return try perform(.map) { (file) throws(SystemError) in
        PosixSharedMemory(base: try SystemCall.shareFile(file, length: length), length: length)
      }
    } catch {
      if error.code == .unsupported { return nil }
      throw error
    }
  }

  func window(at offset: Int64, length: Int) throws(FileSystemError) -> (any FileWindow)? {
    require(mode != .readOnly, "A file opened for reading only is never written.")
    return try perform(.map) { (file) throws(SystemError) in
      guard try SystemCall.writesInPlace(file) else { return nil }
      return try PosixFileWindow(file, offset..<offset + Int64(length))
    }
  }

  func map(length: Int) throws(FileSystemError) -> (any FileMap)? {
    require(length >= 0, "The length of a map is not negative.")
    do {
      return try perform(.map) { (file) throws(SystemError) in
        PosixFileMap(base: try SystemCall.mapFile(file, length: max(length, 1)), length: max(length, 1))
      }
    } catch {
      // File systems that cannot map report ENODEV, which has this code.
      if error.code == .unsupported { return nil }
      throw error
    }
  }

  func close() throws(FileSystemError) {
    let wasClosed = isClosed.exchange(true, ordering: .relaxed)
    require(!wasClosed, "A file is closed once.")
    do {
      try release()
    } catch {
      throw FileSystemError(error, .close, path: path)
    }
  }

  private func release() throws(SystemError) {
    // A forked process shares its parent's open file: unlocking it would release the parent's lock.
    if holdsLock.load(ordering: .relaxed), forks == ForkCount.current { try? SystemCall.unlock(descriptor) }
    try SystemCall.close(descriptor)
  }

  @inline(__always)
  private func perform<Result>(
    _ operation: FileSystemError.Operation, _ call: (Int32) throws(SystemError) -> Result
  ) throws(FileSystemError) -> Result {
    require(!isClosed.load(ordering: .relaxed), "A closed file is not used again.")
    do {
      return try call(descriptor)
    } catch {
      throw FileSystemError(error, operation, path: path)
    }
  }
}

/// The first bytes of a file, mapped for reading and writing.
final class PosixSharedMemory: SharedMemory, @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  let length: Int

  init(base: UnsafeMutableRawPointer, length: Int) {
    self.base = base
    self.length = length
  }

  deinit { SystemCall.unmap(base, length) }
}

/// A file's bytes, mapped for reading.
final class PosixFileMap: FileMap, @unchecked Sendable {
  let base: UnsafeRawPointer
  let length: Int

  init(base: UnsafeMutableRawPointer, length: Int) {
    self.base = UnsafeRawPointer(base)
    self.length = length
  }

  deinit { SystemCall.unmap(UnsafeMutableRawPointer(mutating: base), length) }
}

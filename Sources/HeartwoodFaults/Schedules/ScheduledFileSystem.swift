import HeartwoodFiles

/// A wrapper around any file system in which each call is a point at which a ``ScheduleExplorer`` can run
/// another thread. The point is just before the call; the call itself is atomic. Outside of explorations it
/// only forwards.
///
/// Files have no windows: every write is a call.
public final class ScheduledFileSystem: FileSystem {
  private let base: any FileSystem

  /// Wraps a file system.
  ///
  /// - Parameter base: The file system that executes all calls; a ``SimulatedProcess`` if threads represent
  ///   processes.
  public init(base: any FileSystem) { self.base = base }

  /// As the file system that executes the calls says.
  public var forCopies: any FileSystem { base.forCopies }

  /// Opens an existing directory.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    let directory = try scheduled(.openDirectory, path) { () throws(FileSystemError) in
      try base.openDirectory(path)
    }
    return ScheduledDirectory(base: directory)
  }

  /// Creates one directory.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try scheduled(.createDirectory, path) { () throws(FileSystemError) in try base.createDirectory(path) }
  }
}

/// Makes an atomic call after a point.
private func scheduled<Result>(
  _ operation: FileSystemError.Operation, _ path: String, _ call: () throws(FileSystemError) -> Result
) throws(FileSystemError) -> Result {
  guard let scheduler = Scheduling.ofCaller else { return try call() }
  scheduler.reach(operation.rawValue, path)
  return try Scheduling.uninterrupted(call)
}

private final class ScheduledDirectory: Directory {
  private let base: any Directory

  init(base: any Directory) { self.base = base }

  var path: String { base.path }

  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File {
    let filePath = FileName.joined(path, name)
    let file = try scheduled(.open, filePath) { () throws(FileSystemError) in try base.open(name, mode) }
    return ScheduledFile(base: file, path: filePath)
  }

  func entries() throws(FileSystemError) -> [String] {
    try scheduled(.entries, path) { () throws(FileSystemError) in try base.entries() }
  }

  func rename(_ name: String, to newName: String) throws(FileSystemError) {
    try scheduled(.rename, FileName.joined(path, name)) { () throws(FileSystemError) in
      try base.rename(name, to: newName)
    }
  }

  func unlink(_ name: String) throws(FileSystemError) {
    try scheduled(.unlink, FileName.joined(path, name)) { () throws(FileSystemError) in
      try base.unlink(name)
    }
  }

  func isInPlace() throws(FileSystemError) -> Bool { try base.isInPlace() }

  func status() throws(FileSystemError) -> FileStatus? { try base.status() }

  func status(of name: String) throws(FileSystemError) -> FileStatus? { try base.status(of: name) }

  func availableBytes() throws(FileSystemError) -> Int64? { try base.availableBytes() }

  func identity() throws(FileSystemError) -> DirectoryIdentity? { try base.identity() }

  func sync() throws(FileSystemError) {
    try scheduled(.syncDirectory, path) { () throws(FileSystemError) in try base.sync() }
  }
}

private final class ScheduledFile: File {
  private let base: any File
  private let path: String

  init(base: any File, path: String) {
    self.base = base
    self.path = path
  }

  var name: String { base.name }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try scheduled(.read, path) { () throws(FileSystemError) in try base.read(into: buffer, at: offset) }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try scheduled(.write, path) { () throws(FileSystemError) in try base.write(bytes, at: offset) }
  }

  func sync(_ kind: SyncKind) throws(FileSystemError) {
    try scheduled(.sync, path) { () throws(FileSystemError) in try base.sync(kind) }
  }

  func size() throws(FileSystemError) -> Int64 {
    try scheduled(.size, path) { () throws(FileSystemError) in try base.size() }
  }

  func status() throws(FileSystemError) -> FileStatus? { try base.status() }

  func truncate(to size: Int64) throws(FileSystemError) {
    try scheduled(.truncate, path) { () throws(FileSystemError) in try base.truncate(to: size) }
  }

  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool {
    try scheduled(.lock, path) { () throws(FileSystemError) in try base.tryLock(kind) }
  }

  func isLocked() throws(FileSystemError) -> Bool {
    try scheduled(.lock, path) { () throws(FileSystemError) in try base.isLocked() }
  }

  func unlock() throws(FileSystemError) {
    try scheduled(.lock, path) { () throws(FileSystemError) in try base.unlock() }
  }

  func map(length: Int) throws(FileSystemError) -> (any FileMap)? {
    try scheduled(.map, path) { () throws(FileSystemError) in try base.map(length: length) }
  }

  func share(length: Int) throws(FileSystemError) -> (any SharedMemory)? {
    try scheduled(.map, path) { () throws(FileSystemError) in try base.share(length: length) }
  }

  func close() throws(FileSystemError) {
    try scheduled(.close, path) { () throws(FileSystemError) in try base.close() }
  }
}

import HeartwoodFiles
import Workload

/// The real file system with a trace of every call that changes something or makes it durable.
///
/// As on the simulated disk, there are no windows and no shared memory: every write is a call.
struct TracedFileSystem: FileSystem {
  private let base = PosixFileSystem()
  let tracer: Tracer

  func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    TracedDirectory(base: try base.openDirectory(path), tracer: tracer)
  }

  func createDirectory(_ path: String) throws(FileSystemError) {
    try tracer.trace(TraceRecord(.makeFolder)) { () throws(FileSystemError) in
      try base.createDirectory(path)
    }
  }
}

final class TracedDirectory: Directory {
  private let base: any Directory
  private let tracer: Tracer

  init(base: any Directory, tracer: Tracer) {
    (self.base, self.tracer) = (base, tracer)
  }

  var path: String { base.path }

  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File {
    let handle = tracer.takeHandle()
    let record = TraceRecord(mode == .createNew ? .create : .open, handle: handle, name: name)
    let file = try tracer.trace(record) { () throws(FileSystemError) in try base.open(name, mode) }
    return TracedFile(base: file, handle: handle, tracer: tracer)
  }

  func entries() throws(FileSystemError) -> [String] { try base.entries() }

  func rename(_ name: String, to newName: String) throws(FileSystemError) {
    try tracer.trace(TraceRecord(.rename, name: name, otherName: newName)) { () throws(FileSystemError) in
      try base.rename(name, to: newName)
    }
  }

  func unlink(_ name: String) throws(FileSystemError) {
    try tracer.trace(TraceRecord(.unlink, name: name)) { () throws(FileSystemError) in try base.unlink(name) }
  }

  func isInPlace() throws(FileSystemError) -> Bool { try base.isInPlace() }

  func status() throws(FileSystemError) -> FileStatus? { try base.status() }

  func status(of name: String) throws(FileSystemError) -> FileStatus? { try base.status(of: name) }

  func identity() throws(FileSystemError) -> DirectoryIdentity? { try base.identity() }

  func sync() throws(FileSystemError) {
    try tracer.trace(TraceRecord(.syncFolder)) { () throws(FileSystemError) in try base.sync() }
  }

  func watch() throws(FileSystemError) -> (any DirectoryWatch)? { try base.watch() }
}

final class TracedFile: File {
  private let base: any File
  private let handle: UInt64
  private let tracer: Tracer

  init(base: any File, handle: UInt64, tracer: Tracer) {
    (self.base, self.handle, self.tracer) = (base, handle, tracer)
  }

  var name: String { base.name }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try base.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    let record = TraceRecord(.write, handle: handle, number: offset, payload: Array(bytes))
    return try tracer.trace(record) { () throws(FileSystemError) in try base.write(bytes, at: offset) }
  }

  func sync(_ kind: SyncKind) throws(FileSystemError) {
    try tracer.trace(TraceRecord(.sync, handle: handle)) { () throws(FileSystemError) in try base.sync(kind) }
  }

  func size() throws(FileSystemError) -> Int64 { try base.size() }

  func status() throws(FileSystemError) -> FileStatus? { try base.status() }

  func truncate(to size: Int64) throws(FileSystemError) {
    try tracer.trace(TraceRecord(.truncate, handle: handle, number: size)) { () throws(FileSystemError) in
      try base.truncate(to: size)
    }
  }

  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool { try base.tryLock(kind) }

  func unlock() throws(FileSystemError) { try base.unlock() }

  func isLocked() throws(FileSystemError) -> Bool { try base.isLocked() }

  func map(length: Int) throws(FileSystemError) -> (any FileMap)? { try base.map(length: length) }

  func close() throws(FileSystemError) { try base.close() }
}

import HeartwoodFiles
import Synchronization

/// The engine's file `processes`: memory that processes share, with counters and positions. It has no key, value or name of a program, and is
/// not sealed. No more is written to it than the engine does.
final class PlainCountersFile: File {
  private let base: any File
  private let context: EncryptionContext

  init(_ base: any File, _ context: EncryptionContext) {
    self.base = base
    self.context = context
  }

  var name: String { base.name }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try base.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    guard offset <= PlainFile.limit, bytes.count <= PlainFile.limit - offset else {
      throw FileSystemError(.unsupported, .write, path: name)
    }
    return try base.write(bytes, at: offset)
  }

  func sync(_ kind: SyncKind) throws(FileSystemError) { try base.sync(kind) }
  func size() throws(FileSystemError) -> Int64 { try base.size() }
  func status() throws(FileSystemError) -> FileStatus? { try base.status() }
  func truncate(to size: Int64) throws(FileSystemError) { try base.truncate(to: min(size, PlainFile.limit)) }

  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool {
    defer { context.lockCount.wrappingAdd(1, ordering: .acquiringAndReleasing) }
    return try base.tryLock(kind)
  }

  func unlock() throws(FileSystemError) { try base.unlock() }
  func isLocked() throws(FileSystemError) -> Bool { try base.isLocked() }
  func map(length: Int) throws(FileSystemError) -> (any FileMap)? { try base.map(length: length) }
  func share(length: Int) throws(FileSystemError) -> (any SharedMemory)? { try base.share(length: length) }
  func close() throws(FileSystemError) { try base.close() }
}

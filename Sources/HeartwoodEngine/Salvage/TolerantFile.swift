import HeartwoodFiles

/// A file whose unreadable bytes read as zeros, so that checksums find them damaged like any other wrong
/// bytes. Read-only. Reports the offsets of read errors.
final class TolerantFile: File, @unchecked Sendable {
  private let base: any File
  private let report: @Sendable (_ offset: Int64) -> Void

  /// Bytes per read after a longer read fails.
  private static let pieceBytes = 4096

  var name: String { base.name }

  init(_ base: any File, report: @escaping @Sendable (_ offset: Int64) -> Void) {
    self.base = base
    self.report = report
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    do {
      return try base.read(into: buffer, at: offset)
    } catch {
      let count = min(buffer.count, Self.pieceBytes - Int(offset % Int64(Self.pieceBytes)))
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      if count < buffer.count, let read = try? base.read(into: piece, at: offset) { return read }
      for index in 0..<count { piece[index] = 0 }
      report(offset)
      return count
    }
  }

  func size() throws(FileSystemError) -> Int64 { try base.size() }
  func close() throws(FileSystemError) { try base.close() }

  /// Maps nothing: a disk that fails under a map ends the process.
  func map(length: Int) throws(FileSystemError) -> (any FileMap)? { nil }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    throw FileSystemError(.readOnlyFileSystem, .write, path: name)
  }

  func sync(_ kind: SyncKind) throws(FileSystemError) {
    throw FileSystemError(.readOnlyFileSystem, .sync, path: name)
  }

  func truncate(to size: Int64) throws(FileSystemError) {
    throw FileSystemError(.readOnlyFileSystem, .truncate, path: name)
  }

  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool { try base.tryLock(kind) }
  func unlock() throws(FileSystemError) { try base.unlock() }
  func isLocked() throws(FileSystemError) -> Bool { try base.isLocked() }
}

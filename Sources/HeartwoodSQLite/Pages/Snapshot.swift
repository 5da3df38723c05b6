import Foundation

/// The files of a database as of one moment.
final class Snapshot: Sendable {
  let file: ReadOnlyFile
  let overlay: PageOverlay?

  init(path: String) throws(SQLiteError) {
    guard let file = try ReadOnlyFile(path) else {
      throw SQLiteError(.notFound, "There is no such file.", path: path)
    }
    self.file = file
    if let log = try ReadOnlyFile(path + "-wal"), try file.stamp().size > 0 {
      overlay = try WriteAheadLog.overlay(log)
    } else {
      overlay = nil
    }
  }

  /// Reads a page; returns the number of bytes that the files have of it.
  func read(_ number: UInt32, pageSize: Int, into memory: UnsafeMutableRawBufferPointer) throws(SQLiteError)
    -> Int
  {
    if let overlay, let offset = overlay.offsets[number] {
      return try overlay.file.read(into: memory, at: offset)
    }
    return try file.read(into: memory, at: Int64(number - 1) * Int64(pageSize))
  }
}

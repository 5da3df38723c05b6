import CLibrary
import Foundation

/// A file that is open for reading only. Closed with the object; a lock that it holds ends then.
final class ReadOnlyFile: Sendable {
  let path: String
  let descriptor: Int32

  /// Nil if there is no such file.
  init?(_ path: String) throws(SQLiteError) {
    let descriptor = systemOpen(path)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw SQLiteError.system("cannot be opened", path)
    }
    (self.path, self.descriptor) = (path, descriptor)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw SQLiteError(.inputOutput, "This is not a file.", path: path)
    }
  }

  deinit { close(descriptor) }

  /// The marks by which a write to a file is noticed: its length and the time of its last change.
  struct Stamp: Hashable, Sendable {
    var size: Int64
    var seconds: Int
    var nanoseconds: Int
    var device: UInt64
    var number: UInt64

    init(_ status: stat) {
      size = Int64(status.st_size)
      #if canImport(Darwin)
        (seconds, nanoseconds) = (status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec)
      #else
        (seconds, nanoseconds) = (Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec))
      #endif
      device = UInt64(truncatingIfNeeded: status.st_dev)
      number = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// Whether both are of the same file.
    func isSameFile(as other: Stamp) -> Bool { device == other.device && number == other.number }
  }

  /// The stamp of the open file.
  func stamp() throws(SQLiteError) -> Stamp {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw SQLiteError.system("cannot be asked for its size", path)
    }
    return Stamp(status)
  }

  /// The stamp of the file that the path leads to now; nil if there is none.
  func stampOfPath() -> Stamp? {
    var status = stat()
    return stat(path, &status) == 0 ? Stamp(status) : nil
  }

  /// Reads `count` bytes into the beginning of a block, or as many as the file has from `offset` on; returns their
  /// number.
  func read(into block: ByteBlock, _ count: Int, at offset: Int64) throws(SQLiteError) -> Int {
    assert(count <= block.capacity)
    var done = 0
    while done < count {
      let more = pread(descriptor, block.base + done, count - done, off_t(offset) + off_t(done))
      if more == 0 { break }
      if more < 0 {
        if errno == EINTR { continue }
        throw SQLiteError.system("cannot be read at offset \(offset)", path)
      }
      done += more
    }
    return done
  }

  /// The bytes from `offset` on: `count`, or as many as there are.
  func bytes(at offset: Int64, count: Int) throws(SQLiteError) -> [UInt8] {
    let block = ByteBlock(capacity: count)
    return Array(block.bytes(0, try read(into: block, count, at: offset)))
  }
}

extension SQLiteError {
  /// A call of the system failed: `errno` has the reason.
  static func system(_ what: String, _ path: String) -> SQLiteError {
    SQLiteError(.inputOutput, "The file \(what): \(String(cString: strerror(errno))).", path: path)
  }
}

/// Opens without blocking, so that a pipe under the name cannot stop the process.
private func systemOpen(_ path: String) -> Int32 {
  while true {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor >= 0 || errno != EINTR { return descriptor }
  }
}

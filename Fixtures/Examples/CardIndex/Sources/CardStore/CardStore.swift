import Foundation
import Synchronization

/// Keys and values in the order of the keys: all of them in memory, and on disk as the changes that made them.
///
/// A folder has two files, `cards` with everything as it was at the last `compact`, and `log` with the commits since. Each commit is one
/// frame with a checksum; opening the store reads both files, and cuts off the end of the log that a crash left torn.
///
/// - A synced commit is on the disk when it returns, and so is every one before it. Another one has been handed to the
///   system: it outlives this process, but not a power cut.
/// - A commit that throws changes nothing that readers see. If its frame was written already, it may be there when the store is
///   opened again, and until then the store takes no further commit.
/// - One process at a time: a second one cannot open the folder.
package final class CardStore: Sendable {
  private let path: String
  private let folder: File
  private let log: Mutex<Log>
  private let newest: Mutex<CardTable>

  /// Opens the store in a folder that is there, or makes it.
  package init(at path: String) throws {
    let folder = try File(path, O_RDONLY | O_DIRECTORY)
    guard flock(folder.descriptor, LOCK_EX | LOCK_NB) == 0 else { throw CardError("\(path) is in use") }
    var table = CardTable()
    if FileManager.default.fileExists(atPath: path + "/cards") {
      let cards = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + "/cards")))
      guard table.apply(framesOf: cards) == cards.count else { throw CardError("\(path)/cards is damaged") }
    }
    let file = try File(path + "/log", O_RDWR | O_CREAT)
    let frames = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + "/log")))
    let end = table.apply(framesOf: frames)
    if end < frames.count { try file.cut(at: end) }
    // The file's name, where it is new.
    try folder.syncEntries()
    (self.path, self.folder) = (path, folder)
    log = Mutex(Log(file: file, end: end))
    newest = Mutex(table)
  }

  /// The state now, which stays as it is.
  package var table: CardTable { newest.withLock { $0 } }

  /// Calls `body` with the newest value of a key; returns `nil` where there is none.
  package func withValue<Result: Sendable>(
    of key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result? {
    try newest.withLock { try $0.withValue(of: key, body) }
  }

  /// Commits what `body` changes, all of it or nothing. Writers wait for one another.
  package func commit(synced: Bool, _ body: (CardChanges) throws -> Void) throws {
    let changes = CardChanges()
    try body(changes)
    let frame = changes.frame()
    try log.withLock { log in
      try log.change { log in
        try log.file.write(frame, at: log.end)
        if synced { try log.file.sync() }
        log.end += frame.count
      }
      newest.withLock { _ = $0.apply(framesOf: frame) }
    }
  }

  /// Writes everything anew, without what was replaced, and empties the log.
  package func compact() throws {
    try log.withLock { log in
      try log.change { log in
        let changes = CardChanges()
        table.scan(from: nil) { key, value in
          changes.put(key, value)
          return true
        }
        let new = try File(path + "/cards.new", O_RDWR | O_CREAT | O_TRUNC)
        try new.write(changes.frame(), at: 0)
        try new.sync()
        // A crash before the log is empty makes its changes once more. They end as they did, if none of them is missing.
        try log.file.sync()
        guard rename(new.path, path + "/cards") == 0 else { throw new.failure("renamed") }
        try folder.syncEntries()
        try log.file.cut(at: 0)
        log.end = 0
      }
    }
  }

  /// Ends the writing, so that the folder can be opened again.
  package func close() {
    log.withLock { log in
      log.isSound = false
      _ = flock(folder.descriptor, LOCK_UN)
    }
  }
}

/// The end of the log, where the next frame goes.
private struct Log {
  let file: File
  var end: Int
  /// Whether every call for the file has succeeded.
  var isSound = true

  /// After an error the file may have more than this process knows: only opening it again tells.
  mutating func change(_ body: (inout Log) throws -> Void) throws {
    guard isSound else { throw CardError("the store is closed, or could not write: open it again") }
    isSound = false
    try body(&self)
    isSound = true
  }
}

/// A file or a folder that is open, until the last reference to it is gone.
private final class File: Sendable {
  let descriptor: Int32
  let path: String

  init(_ path: String, _ flags: Int32) throws {
    (self.path, descriptor) = (path, open(path, flags | O_CLOEXEC, 0o644))
    guard descriptor >= 0 else { throw failure("opened") }
  }

  deinit { close(descriptor) }

  func failure(_ verb: String) -> CardError {
    CardError("\(path) cannot be \(verb): \(String(cString: strerror(errno)))")
  }

  func write(_ bytes: [UInt8], at offset: Int) throws {
    try bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
        let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + written))
        guard count > 0 || count < 0 && errno == EINTR else { throw failure("written") }
        written += max(0, count)
      }
    }
  }

  /// Waits until the bytes are on the disk.
  func sync() throws {
    #if os(Linux)
      guard fdatasync(descriptor) == 0 else { throw failure("synced") }
    #else
      guard fcntl(descriptor, F_FULLFSYNC) == 0 else { throw failure("synced") }
    #endif
  }

  /// Waits until the names in a folder are on the disk.
  func syncEntries() throws {
    guard fsync(descriptor) == 0 else { throw failure("synced") }
  }

  func cut(at end: Int) throws {
    guard ftruncate(descriptor, off_t(end)) == 0 else { throw failure("cut off") }
    try sync()
  }
}

/// The reason why a store cannot be opened, or does not take a commit.
package struct CardError: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

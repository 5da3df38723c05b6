import HeartwoodFiles

/// The lock on the file `lock` of a store's folder. Only the process that holds it writes the store.
///
/// The system grants the lock to an open file, not to a thread: locking twice succeeds twice, and the first
/// unlock releases both. So the lock is represented by a value, of which at most one exists.
final class WriterFileLock: @unchecked Sendable {
  private let lock = Lock()
  /// Nil once closed. Guarded by `lock`, like `isTaken`.
  private var file: (any File)?
  private var isTaken = false

  init(_ file: any File) { self.file = file }

  /// Tries to acquire the lock; nil if another process or this one holds it.
  func tryAcquire() throws(FileSystemError) -> HeldFileLock? {
    let isAcquired = try lock.withLock { () throws(FileSystemError) in
      guard let file else { return false }
      guard !isTaken else { return false }
      isTaken = try file.tryLock(.exclusive)
      return isTaken
    }
    return isAcquired ? HeldFileLock(self) : nil
  }

  /// Whether another process holds the lock now. False if this one does.
  func isHeldElsewhere() throws(FileSystemError) -> Bool {
    try lock.withLock { () throws(FileSystemError) in
      guard let file, !isTaken else { return false }
      return try file.isLocked()
    }
  }

  /// Whether the file has no name any more.
  var isDeleted: Bool { lock.withLock { (try? file?.status())?.links == 0 } }

  /// If unlocking fails, this process keeps the lock until the file is closed. Other processes wait, and
  /// nothing is lost.
  fileprivate func release() {
    lock.withLock {
      try? file?.unlock()
      isTaken = false
    }
  }

  /// Closes the file, which releases the lock.
  func close() {
    lock.withLock {
      try? file?.close()
      file = nil
    }
  }
}

/// The file lock, held as long as this value exists.
struct HeldFileLock: ~Copyable, Sendable {
  private let lock: WriterFileLock

  fileprivate init(_ lock: WriterFileLock) { self.lock = lock }

  deinit { lock.release() }
}

import HeartwoodFiles

/// The lock on the file `lock` of a store's folder: the process that has it is the only one that writes the store.
///
/// The system gives the lock to an open file, not to a thread: to ask for it twice succeeds twice, and the first release ends both.
/// So it is handed out as a value, of which there is one at a time.
final class WriterFileLock: @unchecked Sendable {
  private let lock = Lock()
  /// Nil once closed. Guarded by `lock`, like `isTaken`.
  private var file: (any File)?
  private var isTaken = false

  init(_ file: any File) { self.file = file }

  /// Acquires the lock; nil where another process has it, or this one.
  func tryAcquire() throws(FileSystemError) -> HeldFileLock? {
    let isAcquired = try lock.withLock { () throws(FileSystemError) in
      guard let file else { return false }
      guard !isTaken else { return false }
      isTaken = try file.tryLock(.exclusive)
      return isTaken
    }
    return isAcquired ? HeldFileLock(self) : nil
  }

  /// What fails here leaves the lock to this process until the file is closed: others wait, and nothing is lost.
  fileprivate func release() {
    lock.withLock {
      try? file?.unlock()
      isTaken = false
    }
  }

  /// Closes the file, and with it releases the lock.
  func close() {
    lock.withLock {
      try? file?.close()
      file = nil
    }
  }
}

/// The file lock, held for as long as this value exists.
struct HeldFileLock: ~Copyable, Sendable {
  private let lock: WriterFileLock

  fileprivate init(_ lock: WriterFileLock) { self.lock = lock }

  deinit { lock.release() }
}

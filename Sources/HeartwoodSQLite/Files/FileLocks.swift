import CLibrary

/// Locks on ranges of bytes, by which processes that use a database tell each other what they do. The ranges are those
/// of SQLite ("File Locking And Concurrency In SQLite Version 3", and `os_unix.c`'s description of them).
///
/// On Linux a lock belongs to the open file, so that two databases of this process do not disturb each other. On other
/// systems it belongs to the process, and closing any of its descriptors of the file ends it. On every system closing
/// the file ends the locks that SQLite itself has on it in the same process: a program should not read a file with this
/// module while it has it open with SQLite.
extension ReadOnlyFile {
  enum LockResult {
    case held
    /// Another process has a lock that excludes it.
    case busy
    /// The file system has no locks.
    case unsupported
  }

  /// Takes a shared lock on a range; it is held until the file is closed.
  func lockShared(_ offset: Int64, _ count: Int64) -> LockResult {
    while true {
      var lock = Self.lock(F_RDLCK, offset, count)
      if fcntl(descriptor, setLock, &lock) == 0 { return .held }
      switch errno {
      case EINTR: continue
      case EAGAIN, EACCES: return .busy
      default: return .unsupported
      }
    }
  }

  /// Releases a range.
  func unlock(_ offset: Int64, _ count: Int64) {
    var lock = Self.lock(F_UNLCK, offset, count)
    _ = fcntl(descriptor, setLock, &lock)
  }

  /// Whether another open file has any lock in a range.
  func isLockedElsewhere(_ offset: Int64, _ count: Int64) -> Bool {
    var lock = Self.lock(F_WRLCK, offset, count)
    return fcntl(descriptor, getLock, &lock) == 0 && Int32(lock.l_type) != Int32(F_UNLCK)
  }

  private static func lock(_ type: some BinaryInteger, _ offset: Int64, _ count: Int64) -> flock {
    var lock = flock()
    lock.l_type = .init(truncatingIfNeeded: type)
    lock.l_whence = .init(SEEK_SET)
    lock.l_start = .init(offset)
    lock.l_len = .init(count)
    return lock
  }
}

#if os(Linux) || os(Android)
  // `F_OFD_SETLK` and `F_OFD_GETLK`: the lock belongs to the open file.
  private let setLock: Int32 = 37
  private let getLock: Int32 = 36
#else
  private let setLock = F_SETLK
  private let getLock = F_GETLK
#endif

/// The ranges of the database file.
enum DatabaseLock {
  /// A process that holds it waits until no reader is left.
  static let pending: Int64 = 0x4000_0000
  /// A process that holds it is going to write.
  static let reserved: Int64 = pending + 1
  /// Readers share it; a process that writes holds all of it.
  static let shared: Int64 = pending + 2
  static let sharedCount: Int64 = 510
}

/// The ranges of the shared memory: "WAL-mode File Format", section 3.
enum SharedMemoryLock {
  /// Holds back processes that copy the log into the database file.
  static let firstReader: Int64 = 123
  /// Every process that uses the shared memory holds it.
  static let users: Int64 = 128
}

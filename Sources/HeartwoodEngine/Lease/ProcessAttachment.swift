import HeartwoodFiles
import Synchronization

/// The registration of a process that has a store open for writing.
///
/// - `processes`: locked shared by every attached process, and exclusively by a process that opens or closes
///   the store while no other is attached. Its contents are valid only while other processes are attached.
/// - `lock`: locked by the writer, the only process that writes to the store's files.
///
/// The system releases the locks when their process ends, even if it is killed.
final class ProcessAttachment: @unchecked Sendable {
  static let lockName = "lock"
  static let processesName = "processes"
  /// The file of `FolderLock`, which stays in the folder.
  static let migrationName = "migration"

  /// Whether a file of the store's folder is used for coordination only and contains no data.
  static func isFile(_ name: String) -> Bool {
    name == lockName || name == processesName || name == migrationName
  }

  /// The lock of the writer.
  let fileLock: WriterFileLock
  private let processes: any File
  let page: SharedHeader
  /// Identifies this open store in records. Differs from the names of all attached stores.
  let name: UInt64

  /// The attach count when this process last had the store exclusively; `never` if it never had. Changed by
  /// the process that holds the file lock, read by any thread. A stale count only makes this process assume
  /// that others are still attached.
  private let attachCountWhenAlone: Atomic<UInt64>
  private static let never = UInt64.max
  /// The file lock of a process that opened the store with no other attached, until its lease takes it. Used
  /// only by the thread that opens the store.
  private var initialLock: HeldFileLock?

  private init(
    _ fileLock: WriterFileLock, processes: any File, _ page: SharedHeader, isAlone: Bool
  ) throws(FileSystemError) {
    self.fileLock = fileLock
    self.processes = processes
    self.page = page
    name = isAlone ? try page.attachCount() : try page.noteAttach()
    // Processes that attached earlier count as other processes too.
    attachCountWhenAlone = Atomic(isAlone ? name : Self.never)
  }

  /// The result of attaching.
  enum Attachment {
    /// No other process is attached, and none can attach before `admitOthers`. This process holds the file
    /// lock.
    case exclusive(ProcessAttachment)
    /// Other processes are attached.
    case shared(ProcessAttachment)
  }

  /// Attaches this process, and waits up to `busyTimeout` seconds until that is possible.
  ///
  /// - Throws: `.locked` if another process or engine opens, closes or copies the store for all of
  ///   `busyTimeout`, or has it open exclusively.
  static func attach(_ directory: any Directory, _ options: EngineOptions) throws(EngineError) -> Attachment {
    do {
      let fileLock = WriterFileLock(try open(lockName, directory))
      let processes: any File
      do {
        processes = try open(processesName, directory)
      } catch {
        fileLock.close()
        throw error
      }
      do {
        return try enter(fileLock, processes, directory, options)
      } catch {
        fileLock.close()
        try? processes.close()
        throw error
      }
    } catch let error as FileSystemError {
      throw EngineError.files(error, "the store could not be locked")
    } catch let error as EngineError {
      throw error
    } catch {
      throw EngineError(
        .inputOutput, "the store could not be locked", file: directory.path, underlying: error)
    }
  }

  /// Opens a file of coordination, and creates it if it is missing.
  static func open(_ name: String, _ directory: any Directory) throws(FileSystemError) -> any File {
    while true {
      do {
        return try directory.open(name, .readWrite)
      } catch {
        guard error.code == .notFound else { throw error }
      }
      do {
        return try directory.create(name, like: Format.anchorName)
      } catch {
        // Another process has just created the file.
        guard error.code == .alreadyExists else { throw error }
      }
    }
  }

  private static func enter(
    _ fileLock: WriterFileLock, _ processes: any File, _ directory: any Directory, _ options: EngineOptions
  ) throws -> Attachment {
    var backoff = Backoff(seconds: options.busyTimeout)
    repeat {
      if try processes.tryLock(.exclusive) {
        // With no other process attached the file lock is free, unless a process is still closing.
        if let held = try fileLock.tryAcquire() {
          let page = try SharedHeader(laying: processes)
          let attachment = try ProcessAttachment(fileLock, processes: processes, page, isAlone: true)
          attachment.initialLock = consume held
          return .exclusive(attachment)
        }
        try processes.unlock()
      } else if options.sharing == .processes, try processes.tryLock(.shared) {
        let page = try SharedHeader(processes, isWritten: true)
        return .shared(try ProcessAttachment(fileLock, processes: processes, page, isAlone: false))
      }
    } while backoff.wait()
    throw busy(
      directory.path, "the store is open elsewhere, in this program or another; close it there first")
  }

  static func busy(_ path: String, _ message: String) -> EngineError {
    EngineError(.locked, message, file: path)
  }

  /// Returns the file lock that attaching acquired, once.
  func takeInitialLock() -> HeldFileLock? { initialLock.take() }

  // MARK: Others

  /// Lets other processes attach, if the shared header has room on disk.
  ///
  /// - Precondition: The process holds the file lock.
  func admitOthers() throws(FileSystemError) {
    guard page.isThere else { return }
    // If the system does not downgrade a lock atomically, another process may lock `processes` in between. It
    // then needs the file lock, which this process holds, and backs off.
    while try !processes.tryLock(.shared) { CurrentThread.pause() }
  }

  /// Whether other processes may be attached.
  var hasOtherProcesses: Bool {
    let count = attachCountWhenAlone.load(ordering: .relaxed)
    return count == Self.never || (try? page.attachCount()) != count
  }

  /// Keeps other processes from attaching, if none is attached.
  ///
  /// - Precondition: The process holds the file lock.
  /// - Returns: False if another process is attached.
  func excludeOthers() throws(FileSystemError) -> Bool {
    guard try processes.tryLock(.exclusive) else {
      // On some systems the failed attempt drops the shared lock. A process that opens the store now also
      // needs the file lock, and backs off.
      try admitOthers()
      return false
    }
    attachCountWhenAlone.store(try page.attachCount(), ordering: .relaxed)
    return true
  }

  /// The name of a file of coordination that was deleted: processes that open the store now lock another one.
  var missingFile: String? {
    if fileLock.isDeleted { return Self.lockName }
    return (try? processes.status())?.links == 0 ? Self.processesName : nil
  }

  /// Detaches this process and releases its locks.
  func close() {
    _ = takeInitialLock()
    fileLock.close()
    page.close()
  }
}

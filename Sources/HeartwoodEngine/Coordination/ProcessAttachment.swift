import HeartwoodFiles
import Synchronization

/// A process's place among those that have a store open for writing.
///
/// - `processes`: locked by everybody who is there, with others; by one alone while it opens or closes the store with nobody
///   else there. What the file holds is believed only where others are there already.
/// - `lock`: locked by the one that leads: it alone writes to the store's files.
///
/// Locks end with their process, whatever becomes of it.
final class ProcessAttachment: @unchecked Sendable {
  static let lockName = "lock"
  static let processesName = "processes"

  /// Whether a file of the store's folder holds nothing of the store itself.
  static func isFile(_ name: String) -> Bool { name == lockName || name == processesName }

  /// The lock of the one that leads.
  let fileLock: WriterFileLock
  private let processes: any File
  let page: SharedHeader
  /// What this open store is called in records: another number than those that are there now.
  let name: UInt64

  /// How many had come when nobody else was there; `never` where that has never been. The one that leads changes it, any thread
  /// reads it: an old count only makes a process take others for attached that have gone.
  private let attachCountWhenAlone: Atomic<UInt64>
  private static let never = UInt64.max
  /// The file lock of a process that has entered with no other attached, until its lease has it. By the thread that opens.
  private var initialLock: HeldFileLock?

  private init(
    _ fileLock: WriterFileLock, processes: any File, _ page: SharedHeader, isAlone: Bool
  ) throws(FileSystemError) {
    self.fileLock = fileLock
    self.processes = processes
    self.page = page
    name = isAlone ? try page.attachCount() : try page.noteAttach()
    // Those that were there before are company, too.
    attachCountWhenAlone = Atomic(isAlone ? name : Self.never)
  }

  /// How a process finds the store.
  enum Attachment {
    /// Nobody else has it open, nor comes in before `admitOthers`. This one leads.
    case exclusive(ProcessAttachment)
    /// Others have it open.
    case shared(ProcessAttachment)
  }

  /// Waits until the store can be entered.
  ///
  /// - Throws: `.locked` where somebody opens, closes or copies the store for all of `busyTimeout`, or keeps it for itself.
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

  private static func open(_ name: String, _ directory: any Directory) throws(FileSystemError) -> any File {
    while true {
      do {
        return try directory.open(name, .readWrite)
      } catch {
        guard error.code == .notFound else { throw error }
      }
      do {
        return try directory.open(name, .createNew)
      } catch {
        // Somebody else has just made it.
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
        // Who leads is there, unless it is just leaving.
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

  /// The file lock that entering has acquired, once.
  func takeInitialLock() -> HeldFileLock? { initialLock.take() }

  // MARK: Others

  /// Lets others attach, if they can be told anything. By the process that has the file lock.
  func admitOthers() throws(FileSystemError) {
    guard page.isThere else { return }
    // Where the system does not change a lock's kind at once, another process may come in between; it then needs the file lock,
    // which this one has, and goes.
    while try !processes.tryLock(.shared) { CurrentThread.pause() }
  }

  /// Whether others may be there.
  var hasOtherProcesses: Bool {
    let count = attachCountWhenAlone.load(ordering: .relaxed)
    return count == Self.never || (try? page.attachCount()) != count
  }

  /// Keeps others out, if none is attached. By the process that has the file lock.
  func excludeOthers() throws(FileSystemError) -> Bool {
    guard try processes.tryLock(.exclusive) else {
      // Some systems take away what was held before. Whoever opens the store now needs the lead too, and gives way.
      try admitOthers()
      return false
    }
    attachCountWhenAlone.store(try page.attachCount(), ordering: .relaxed)
    return true
  }

  /// Leaves.
  func close() {
    _ = takeInitialLock()
    fileLock.close()
    page.close()
  }
}

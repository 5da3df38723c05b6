import HeartwoodFiles

/// A process's place among those that have a store open for writing.
///
/// - `processes`: locked by everybody who is there, with others; by one alone while it opens or closes the store with nobody
///   else there. What the file holds is believed only where others are there already.
/// - `lock`: locked by the one that leads: it alone writes to the store's files.
///
/// Locks end with their process, whatever becomes of it.
final class Membership: @unchecked Sendable {
  static let lockName = "lock"
  static let processesName = "processes"

  /// Whether a file of the store's folder holds nothing of the store itself.
  static func isFile(_ name: String) -> Bool { name == lockName || name == processesName }

  private let lock: any File
  private let processes: any File
  let page: ProcessPage
  /// What this open store is called in records: another number than those that are there now.
  let name: UInt64

  /// How many had come when nobody else was there; nil where that has never been.
  private var arrivalsAlone: UInt64?

  private init(
    lock: any File, processes: any File, _ page: ProcessPage, isAlone: Bool
  ) throws(FileSystemError) {
    self.lock = lock
    self.processes = processes
    self.page = page
    name = isAlone ? try page.arrivalCount() : try page.noteArrival()
    // Those that were there before are company, too.
    arrivalsAlone = isAlone ? name : nil
  }

  /// How a process finds the store.
  enum Arrival {
    /// Nobody else has it open, nor comes in before `settle`. This one leads.
    case alone(Membership)
    /// Others have it open.
    case amongOthers(Membership)
  }

  /// Waits until the store can be entered.
  ///
  /// - Throws: `.locked` where somebody opens, closes or copies the store for all of `busyTimeout`, or keeps it for itself.
  static func join(_ directory: any Directory, _ options: EngineOptions) throws(EngineError) -> Arrival {
    do {
      let files = (
        lock: try open(lockName, directory), processes: try open(processesName, directory)
      )
      do {
        return try enter(files.lock, files.processes, directory, options)
      } catch {
        try? files.lock.close()
        try? files.processes.close()
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
    _ lock: any File, _ processes: any File, _ directory: any Directory, _ options: EngineOptions
  ) throws -> Arrival {
    var patience = Patience(seconds: options.busyTimeout)
    repeat {
      if try processes.tryLock(.exclusive) {
        // Who leads is there, unless it is just leaving.
        if try lock.tryLock(.exclusive) {
          let page = try ProcessPage(laying: processes)
          return .alone(try Membership(lock: lock, processes: processes, page, isAlone: true))
        }
        try processes.unlock()
      } else if options.sharing == .processes, try processes.tryLock(.shared) {
        let page = try ProcessPage(processes, isWritten: true)
        return .amongOthers(try Membership(lock: lock, processes: processes, page, isAlone: false))
      }
    } while patience.wait()
    throw busy(
      directory.path, "the store is open elsewhere, in this program or another; close it there first")
  }

  static func busy(_ path: String, _ message: String) -> EngineError {
    EngineError(.locked, message, file: path)
  }

  // MARK: Others

  /// Lets others in, if they can be told anything.
  func settle() throws(FileSystemError) {
    if page.isThere { _ = try processes.tryLock(.shared) }
  }

  /// Whether others may be there.
  var hasCompany: Bool {
    guard let arrivalsAlone else { return true }
    return (try? page.arrivalCount()) != arrivalsAlone
  }

  /// Keeps others out, if nobody is there. By the one that leads.
  func tryBeAlone() throws(FileSystemError) -> Bool {
    guard try processes.tryLock(.exclusive) else {
      // Some systems take away what was held before. Whoever opens the store now needs the lead too, and gives way.
      while try !processes.tryLock(.shared) { CurrentThread.pause() }
      return false
    }
    arrivalsAlone = try page.arrivalCount()
    return true
  }

  // MARK: Leading

  func tryLead() throws(FileSystemError) -> Bool {
    #if DELIBERATE_BUGS
      if DeliberateBug.isOn(.leadsBesideOthers) { return true }
    #endif
    return try lock.tryLock(.exclusive)
  }

  func letGo() throws(FileSystemError) { try lock.unlock() }

  /// Leaves.
  func close() {
    try? lock.close()
    try? processes.close()
  }
}

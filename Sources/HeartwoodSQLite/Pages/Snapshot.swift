import Foundation

/// The files of a database as of one moment, and what keeps them so.
///
/// A snapshot does what a reader of SQLite does, as far as that can be done without writing:
///
/// 1. It takes the shared lock on the database file. Without a write-ahead log nothing more is needed: who wants to
///    write has to wait, and a rollback journal is hot or belongs to a process that has not written yet. Pages of a hot
///    journal are those of the database, and the log changes these, as SQLite plays the journal before it opens the log.
/// 2. Where processes have the log open, their shared memory says how many frames count. The snapshot takes the lock of
///    the first reader's mark, so that no frame is copied into the database file, nor the log begun from its start.
///    Processes can still add frames, which the snapshot does not see. (A reader of SQLite would rather note its own
///    mark in the shared memory, so that frames up to it could still be copied; that would be writing.)
/// 3. Where no process has the log open, the shared memory is not there, or what a process that ended left in it. The
///    snapshot reads the log itself. Nothing can keep a process from opening the database then, adding to the log and
///    copying it into the file: each read therefore looks afterwards whether the file's length and time of change, and
///    the log's header, are what they were before the log was opened. The same is done where the file system has no
///    locks.
final class Snapshot: Sendable {
  let file: ReadOnlyFile
  /// The overlays in place of pages of the file; the first one that has a page counts.
  let overlays: [PageOverlay]
  /// The journal that the database is read from besides its file.
  let journal: SQLiteJournal
  private let guarding: Guarding

  /// The protection of the files from changes.
  private enum Guarding {
    /// The lock on the database file, and that on the shared memory where a log is open.
    case locks(sharedMemory: ReadOnlyFile?)
    /// Nothing: each read looks afterwards whether they are what they were.
    case checks(file: ReadOnlyFile.Stamp, log: ReadOnlyFile?, header: WriteAheadLog.Header?)
  }

  /// - Parameters:
  ///   - timeout: How long to wait for other processes.
  ///   - beforeUnguarded: Called before files that no lock guards are looked at; for tests.
  init(path: String, timeout: Duration, beforeUnguarded: () -> Void) throws(SQLiteError) {
    guard let file = try ReadOnlyFile(path) else {
      throw SQLiteError(.notFound, "There is no such file.", path: path)
    }
    let deadline = ContinuousClock.now + timeout
    self.file = file
    let isLocked = try Self.lockShared(file, deadline)
    let stamp = try file.stamp()
    let before = stamp.size > 0 ? try Self.hotJournal(file, isLocked) : nil
    var files: (guarding: Guarding, overlay: PageOverlay?)?
    if stamp.size == 0 {
      files = (isLocked ? .locks(sharedMemory: nil) : .checks(file: stamp, log: nil, header: nil), nil)
    }
    while files == nil {
      if isLocked { files = try Self.guarded(file, hasJournal: before != nil, deadline) }
      if files == nil {
        beforeUnguarded()
        files = try Self.unguarded(file)
      }
      // A process that writes to the file may have the log open by now, and locks guard it then.
      if files == nil, ContinuousClock.now >= deadline { throw Self.changed(path) }
    }
    let overlay = files?.overlay
    guarding = files?.guarding ?? .locks(sharedMemory: nil)
    overlays = [overlay, before].compactMap { $0 }
    journal = overlay != nil ? .writeAheadLog : before != nil ? .rollbackJournal : .none
    guard let now = file.stampOfPath(), now.isSameFile(as: stamp) else {
      throw SQLiteError(.changed, "Another file took the place of this one. Open it again.", path: path)
    }
    try check()
  }

  /// Reads a page; returns the number of bytes that the files have of it.
  func read(_ number: UInt32, pageSize: Int, into block: ByteBlock) throws(SQLiteError)
    -> Int
  {
    let place = place(of: number) ?? (file, Int64(number - 1) * Int64(pageSize))
    let count = try place.file.read(into: block, pageSize, at: place.offset)
    try check()
    return count
  }

  /// Where a page is that is not in the database file.
  func place(of number: UInt32) -> (file: ReadOnlyFile, offset: Int64)? {
    for overlay in overlays {
      if let offset = overlay.offsets[number] { return (overlay.file, offset) }
    }
    return nil
  }

  /// Throws if what was read may be of a later moment than the snapshot.
  func check() throws(SQLiteError) {
    guard case .checks(let stamp, let log, let header) = guarding else { return }
    var isSame = try file.stamp() == stamp
    if isSame, let header, let log { isSame = try WriteAheadLog.header(log) == header }
    guard isSame else { throw Self.changed(file.path) }
  }

  private static func changed(_ path: String) -> SQLiteError {
    SQLiteError(
      .changed,
      "Another process changed the file while it was read, which no lock can prevent where no process has its log open at first. Open it again.",
      path: path)
  }

  // MARK: - Locks

  /// Takes the shared lock; false if the file system has no locks.
  private static func lockShared(_ file: ReadOnlyFile, _ deadline: ContinuousClock.Instant)
    throws(SQLiteError) -> Bool
  {
    while true {
      var result = file.lockShared(DatabaseLock.pending, 1)
      if result == .held {
        result = file.lockShared(DatabaseLock.shared, DatabaseLock.sharedCount)
        file.unlock(DatabaseLock.pending, 1)
      }
      if result != .busy { return result == .held }
      try wait(deadline, file, "A process is writing to the file")
    }
  }

  /// The files where locks guard them: no process can begin a log, or processes have one open and the snapshot becomes
  /// a reader of it. Nil if no lock guards them.
  private static func guarded(
    _ file: ReadOnlyFile, hasJournal: Bool, _ deadline: ContinuousClock.Instant
  ) throws(SQLiteError) -> (guarding: Guarding, overlay: PageOverlay?)? {
    guard let log = try ReadOnlyFile(file.path + "-wal") else {
      // A process may begin a log beside a database that says so in its header, whatever locks there are.
      let version = try file.bytes(at: 19, count: 1)
      return version == [2] && !hasJournal ? nil : (.locks(sharedMemory: nil), nil)
    }
    guard let memory = try ReadOnlyFile(file.path + "-shm"), let state = try join(memory, deadline) else {
      return nil
    }
    return (
      .locks(sharedMemory: memory), state.copiedFrameCount < state.frameCount ? try overlay(log, state) : nil
    )
  }

  /// The files as they are now, to be checked after each read; nil if the database changes at the moment.
  private static func unguarded(
    _ file: ReadOnlyFile
  ) throws(SQLiteError) -> (guarding: Guarding, overlay: PageOverlay?)? {
    // The log is opened after the stamp is taken. A process that was copying a log into the file at that moment either
    // still has this log, with all that it copies, or changes the file again, which `check` sees.
    guard let stamp = try settledStamp(file) else { return nil }
    guard let log = try ReadOnlyFile(file.path + "-wal") else {
      return (.checks(file: stamp, log: nil, header: nil), nil)
    }
    let header = try WriteAheadLog.header(log)
    return (.checks(file: stamp, log: log, header: header), try WriteAheadLog.overlay(log))
  }

  /// Becomes a reader of a log that processes have open; nil if none has, or if a process ended while it changed the
  /// shared memory, which the next process that uses SQLite has to make again.
  private static func join(
    _ memory: ReadOnlyFile, _ deadline: ContinuousClock.Instant
  ) throws(SQLiteError) -> SharedMemory? {
    // If none of the locks is held, what is in the memory may be of another log: SQLite too makes it again then.
    guard memory.isLockedElsewhere(SharedMemoryLock.users, 1) else { return nil }
    var attempts = 0
    while true {
      switch memory.lockShared(SharedMemoryLock.users, 1) {
      case .held: break
      case .unsupported: return nil
      case .busy:
        try wait(deadline, memory, "A process is making the shared memory")
        continue
      }
      switch memory.lockShared(SharedMemoryLock.firstReader, 1) {
      case .held:
        if let first = try SharedMemory(memory), try SharedMemory(memory) == first { return first }
        memory.unlock(SharedMemoryLock.firstReader, 1)
        attempts += 1
        if attempts == 100 { return nil }
      case .busy: break
      case .unsupported: return nil
      }
      try wait(deadline, memory, "A process is copying its log into the database")
    }
  }

  private static func wait(
    _ deadline: ContinuousClock.Instant, _ file: ReadOnlyFile, _ what: String
  ) throws(SQLiteError) {
    guard ContinuousClock.now < deadline else {
      throw SQLiteError(.locked, "\(what). Try again later, or read a copy.", path: file.path)
    }
    Thread.sleep(forTimeInterval: 0.002)
  }

  /// The frames that count to the processes that have the log open.
  private static func overlay(_ log: ReadOnlyFile, _ state: SharedMemory) throws(SQLiteError) -> PageOverlay?
  {
    guard try WriteAheadLog.header(log)?.salts == state.salts else {
      throw SQLiteError(
        .damaged, "The log is not the one that the shared memory describes.", path: log.path, offset: 16)
    }
    return try WriteAheadLog.overlay(log, limit: state.frameCount)
  }

  // MARK: - Files

  /// The stamp of the file, taken when a change that follows is sure to change it: times are as coarse as the system's
  /// clock ticks. Nil if the file changes at the moment.
  private static func settledStamp(_ file: ReadOnlyFile) throws(SQLiteError) -> ReadOnlyFile.Stamp? {
    let stamp = try file.stamp()
    let age = Date().timeIntervalSince1970 - Double(stamp.seconds) - Double(stamp.nanoseconds) / 1e9
    guard age >= 0, age < 0.012 else { return stamp }
    Thread.sleep(forTimeInterval: 0.012)
    return try file.stamp() == stamp ? stamp : nil
  }

  /// The pages before a transaction that was interrupted; nil if there is none.
  private static func hotJournal(_ file: ReadOnlyFile, _ isLocked: Bool) throws(SQLiteError) -> PageOverlay? {
    guard let journal = try ReadOnlyFile(file.path + "-journal") else { return nil }
    // A process that is going to write has made it, and cannot have written while this one has the shared lock.
    if isLocked, file.isLockedElsewhere(DatabaseLock.reserved, 1) { return nil }
    // A journal that is kept for the next transaction begins with zeros.
    guard let first = try journal.bytes(at: 0, count: 1).first, first != 0 else { return nil }
    return try RollbackJournal.overlay(journal)
  }
}

/// The journal that a database was read from besides its file.
public enum SQLiteJournal: String, Hashable, Sendable {
  /// Nothing.
  case none
  /// Transactions in the write-ahead log that were not copied into the file yet.
  case writeAheadLog
  /// A rollback journal: a process ended within a transaction, which is left out.
  case rollbackJournal
}

import HeartwoodFiles

/// Settles what a writer has left that ended before it released the lease, before this process answers from the store.
///
/// Such a writer may have left a whole transaction in the log that it did not publish. The next writer adopts it, acknowledged or not. So an
/// opening, and a reader of the newest state, adopt it first, or read it where they may not write: otherwise a transaction whose outcome is
/// unknown would be absent at first and present later.
struct Settlement {
  private let store: OpenStore

  @inline(__always)
  init(_ store: OpenStore) { self.store = store }

  // MARK: Looking

  /// Seconds to wait for a process that acquires the file lock, and may have been killed meanwhile.
  private static let patience = 0.25

  /// Whether the newest record is settled, for a process that does not hold the lease.
  ///
  /// - Parameter ownName: The name of this process in records; 0 if it is not attached.
  static func settling(
    _ record: WriterRecord, _ folder: StoreFolder, _ page: SharedHeader, ownName: UInt64
  ) throws(EngineError) -> LeaseMachine.Settling {
    // A thread of this process may be recovering the log.
    let isHeld = record.isHeld && (record.writer != ownName || ownName == 0 || record.isRecovering)
    guard isHeld else { return .isSettled }
    let isFree = try folder.isWriterGone()
    do {
      let hasSuccessor = try page.hasSuccessor()
      return LeaseMachine.settling(
        isHeld: isHeld, isRecovering: record.isRecovering, isFileLockFree: isFree, hasSuccessor: hasSuccessor,
        // The counter of a record that a crash has torn does not count.
        isNewest: try page.newest()?.counter == record.counter)
    } catch {
      throw EngineError.files(error, "the shared header of the store could not be read")
    }
  }

  /// Waits until the newest record is settled, or its writer has ended.
  ///
  /// - Returns: The record of the writer that has ended; nil if the newest record is settled.
  /// - Throws: `.locked` if another process recovers the log for all of `busyTimeout`.
  static func abandonedRecord(
    _ folder: StoreFolder, _ page: SharedHeader, ownName: UInt64, busyTimeout: Double
  ) throws(EngineError) -> WriterRecord? {
    var backoff = Backoff(seconds: busyTimeout, guaranteedPauses: 1)
    var patience = Backoff(seconds: min(busyTimeout, Self.patience))
    while let record = try Refresh.newestRecord(page) {
      switch try settling(record, folder, page, ownName: ownName) {
      case .isSettled: return nil
      case .isAbandoned: return record
      case .isOpen:
        if record.isRecovering {
          guard backoff.wait() else {
            throw ProcessAttachment.busy(
              folder.path, isRecovered)
          }
        } else {
          guard patience.wait() else { return nil }
        }
      }
    }
    return nil
  }

  // MARK: Opening

  /// Settles the store before it is used. It is open for writing beside other processes.
  ///
  /// - Throws: The error of the recovery: the opening fails then, as that of a store that no other process has open.
  func beforeFirstAnswer() throws(EngineError) {
    guard let page = store.page, store.attachment != nil else { return }
    var backoff = Backoff(seconds: store.options.busyTimeout, guaranteedPauses: 1)
    while try abandonedRecord(page) != nil {
      if try recover() { return }
      guard backoff.wait() else { throw ProcessAttachment.busy(store.path, Self.isRecovered) }
    }
  }

  private static let isRecovered =
    "the store is being recovered elsewhere, in this program or another; try again"

  private func abandonedRecord(_ page: SharedHeader) throws(EngineError) -> WriterRecord? {
    try Self.abandonedRecord(
      store.folder, page, ownName: store.lease.name, busyTimeout: store.options.busyTimeout)
  }

  /// Acquires the lease, which recovers the log, and releases it.
  ///
  /// - Returns: False if another process was faster.
  private func recover() throws(EngineError) -> Bool {
    do throws(EngineError) {
      try Coordinator(store).acquireLease(timeout: 0)
    } catch {
      guard error.code == .locked else { throw error }
      return false
    }
    store.writer.withLockInBackground { Coordinator(store).releaseOrWatch($0) }
    return true
  }

  // MARK: Reading

  /// Settles the store of a reader, if the newest record says that another process writes and that process has ended.
  ///
  /// - Complexity: O(1) unless it has: three loads from shared memory; while another process writes, a system call too.
  @inline(__always)
  func beforeReading() throws(EngineError) {
    let isHeld: Bool
    if let memory = store.lease.records {
      isHeld = memory.isNewestHeld
    } else {
      isHeld = try isNewestHeld()
    }
    if isHeld, let page = store.page { try settleReading(page) }
  }

  @inline(never)
  private func isNewestHeld() throws(EngineError) -> Bool {
    do {
      return try store.page?.isNewestHeld() ?? false
    } catch {
      throw EngineError.files(error, "the shared header of the store could not be read")
    }
  }

  @inline(never)
  private func settleReading(_ page: SharedHeader) throws(EngineError) {
    let lease = store.lease
    guard !store.writer.isHeldHere, !store.status.isStopped, let newest = try Refresh.newestRecord(page),
      newest.identifier == store.identifier,
      newest.counter > lease.settledRecord.load(ordering: .relaxed),
      try Self.settling(newest, store.folder, page, ownName: lease.name) != .isSettled
    else { return }
    do throws(EngineError) {
      try settleReading(page, lease)
    } catch {
      // Reading continues with what was published, as on a full disk, or while another process recovers the store for long. The next write
      // tries again, and reports the error.
      if error.code == .damaged || error.code == .closed { throw error }
    }
    try Refresh(store).ifBehind()
  }

  private func settleReading(_ page: SharedHeader, _ lease: WriterLease) throws(EngineError) {
    var backoff = Backoff(seconds: store.options.busyTimeout, guaranteedPauses: 1)
    while let record = try abandonedRecord(page) {
      // Not tried again for each read if it fails.
      lease.settledRecord.store(record.counter, ordering: .relaxed)
      if store.attachment == nil { return try readUnpublished(record, page) }
      if try recover() { return }
      guard backoff.wait() else { return }
    }
  }

  /// Reads what the next writer adopts, in a store that is open for reading only.
  private func readUnpublished(_ record: WriterRecord, _ page: SharedHeader) throws(EngineError) {
    let refresh = Refresh(store)
    try refresh.retryingIfChanged { () throws(EngineError) in
      try refresh.refreshing { (writer, checkpoints) throws(EngineError) in
        let contents = try store.anchor.file.reload(store.folder)
        let found = try LogSearch(store.folder, store.anchor.file, store.options).run(
          contents, showsUnproven: true)
        // Another process may have begun to write meanwhile; the next read follows it.
        guard try Refresh.newestRecord(page)?.counter == record.counter,
          found.log.end.generation > writer.tree.tip.generation
        else { return }
        try CheckpointReload(store.folder, writer, checkpoints, found.image).run()
      }
    }
  }
}

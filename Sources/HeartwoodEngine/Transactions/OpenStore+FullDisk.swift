/// Keeps commits that fail on a full disk from using up space themselves.
extension OpenStore {
  /// Overwrites the torn write of a commit that ran out of space, so that the log continues in place.
  ///
  /// Continuing in a new segment, as after other failures, would need space and leave a file for each refused commit. If
  /// overwriting fails too, the log does continue in a new segment.
  ///
  /// - Precondition: The caller holds the writer lock.
  func eraseRefusedWrite() {
    guard log.lacksRoom, log.mustRoll, !status.isStopped else { return }
    do {
      // 1. Write both slots of the anchor so that neither names a segment begun for a rolled-back transaction, then
      //    unlink those files.
      if !log.abandoned.isEmpty {
        let (last, knownDurable, upcoming) = (log.last.number, log.durable, numbers.upcoming)
        try updateAnchor {
          $0.lastLogSegment = last
          $0.knownDurable = knownDurable
          $0.nextSegment = upcoming
          $0.isClean = false
        }
        try unlinkAbandoned()
      }
      // 2. Overwrite the torn write with zeros and sync. A crash before that leaves an ordinary torn tail.
      try log.zeroAfterEnd()
      try syncs.sync(SyncRequest(files: [log.last], point: log.durable))
      log.continueInPlace()
    } catch {
      // The log continues in a new segment. A failed sync has stopped the store.
    }
  }

  // MARK: The reserve

  /// Creates the reserve file if it is missing and the disk has room for it.
  ///
  /// The process with the lease calls this when it opens the store or takes it over, after a checkpoint, and after
  /// every `StoreFolder.leastBytesForReserve` bytes of log.
  ///
  /// - Precondition: The caller holds `checkpoints`, as this sums the sizes of files.
  func updateReserve() {
    guard attachment != nil else { return }
    isReserveSpent.store(!folder.layReserve(storeBytes: Occupancy.total(self)), ordering: .relaxed)
  }

  /// Deletes the reserve file to make room for reclamation. Returns whether there was one.
  ///
  /// - Precondition: The process holds the lease.
  func spendReserve() -> Bool {
    guard attachment != nil, folder.spendReserve() else { return false }
    isReserveSpent.store(true, ordering: .relaxed)
    return true
  }

  /// Deletes the reserve file to make room for a transaction, if it deletes at least as many keys as it puts.
  ///
  /// - Precondition: The process holds the lease.
  func spendReserve(for transaction: WriteTransaction) -> Bool { transaction.makesRoom && spendReserve() }

  /// Refuses a transaction that does not delete while the reserve is spent: the remaining space is kept for deletions,
  /// reclamation and recovery.
  ///
  /// - Precondition: The caller holds the writer lock.
  /// - Throws: `.noSpace` if the disk has no room for the reserve again.
  func checkLeavesReserve(_ transaction: WriteTransaction) throws(EngineError) {
    guard isReserveSpent.load(ordering: .relaxed), !transaction.isInternal, !transaction.makesRoom else {
      return
    }
    let bytes = (try? fileBytes()).map { Int($0) } ?? 0
    guard !folder.layReserve(storeBytes: bytes, ifRoomFor: 2) else {
      return isReserveSpent.store(false, ordering: .relaxed)
    }
    let error = EngineError(
      .noSpace,
      "the disk is full: its last space is reserved for deletions and reclamation; free disk space or delete keys, and try again",
      file: path)
    log.noteFailure(error)
    throw error
  }
}

extension WriteTransaction {
  /// Whether it deletes at least as many keys as it puts.
  fileprivate var makesRoom: Bool { deletes > 0 && deletes >= puts }
}

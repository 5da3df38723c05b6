/// Keeps commits that fail on a full disk from using up space themselves.
extension WriterState {
  /// Overwrites the torn write of a commit that ran out of space, so that the log continues in place.
  ///
  /// Continuing in a new segment, as after other failures, would need space and leave a file for each refused commit. If
  /// overwriting fails too, the log does continue in a new segment.
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

  /// Deletes the reserve file to make room for a transaction, if it deletes at least as many keys as it puts.
  func spendReserve(for transaction: WriteTransaction) -> Bool { transaction.makesRoom && reserve.spend() }

  /// Refuses a transaction that does not delete while the reserve is spent: the remaining space is kept for deletions,
  /// reclamation and recovery.
  ///
  /// - Throws: `.noSpace` if the disk has no room for the reserve again.
  func checkLeavesReserve(_ transaction: WriteTransaction) throws(EngineError) {
    guard reserve.isSpent, !transaction.isInternal, !transaction.makesRoom else {
      return
    }
    let bytes = (try? folder.fileBytes()).map { Int($0) } ?? 0
    guard !reserve.restore(storeBytes: bytes) else { return }
    let error = EngineError(
      .noSpace,
      "the disk is full: its last space is reserved for deletions and reclamation; free disk space or delete keys, and try again",
      file: folder.path)
    log.noteFailure(error)
    throw error
  }
}

extension WriteTransaction {
  /// Whether it deletes at least as many keys as it puts.
  fileprivate var makesRoom: Bool { deletes > 0 && deletes >= puts }
}

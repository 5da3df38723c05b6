/// What a store does so that commits which are refused for want of room take no room themselves.
extension OpenStore {
  /// After a write that found no room: overwrites its remains, so that the log goes on in place. Going on in a new segment, as
  /// after other failures, would need room, and leave a file for each commit that is refused. Where this fails too, the log
  /// goes on in a new segment after all. Under the writer lock.
  func eraseRefusedWrite() {
    guard log.lacksRoom, log.mustRoll, !status.isStopped else { return }
    do {
      // 1. No slot of the anchor names a segment that was begun for what was given up; the files are unlinked.
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
      // 2. Durable zeros take the place of the remains. A crash before leaves a torn tail as any other.
      try log.zeroAfterEnd()
      try syncs.sync(SyncRequest(files: [log.last], point: log.durable))
      log.continueInPlace()
    } catch {
      // A sync that failed has stopped the writer.
    }
  }

  // MARK: The reserve

  /// Lays the reserve if it is missing and the disk has room for it. By the process with the lease, when it opens the store or takes
  /// it over, and after a checkpoint. Under the lock of checkpoints, as it sums the sizes of files.
  func updateReserve() {
    guard attachment != nil else { return }
    isReserveSpent.store(!folder.layReserve(storeBytes: Occupancy.total(self)), ordering: .relaxed)
  }

  /// Gives the reserve to compaction that finds no room. Under the lease.
  func spendReserve() -> Bool {
    guard attachment != nil, folder.spendReserve() else { return false }
    isReserveSpent.store(true, ordering: .relaxed)
    return true
  }

  /// Gives the reserve to a transaction that finds no room, if it deletes. Under the lease.
  func spendReserve(for transaction: WriteTransaction) -> Bool { transaction.makesRoom && spendReserve() }

  /// Refuses a transaction that does not delete while the reserve is spent: the room that is left is for deleting, for compaction and
  /// for recovery. Under the writer lock.
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
      "the disk is full: what is left is kept for deleting and reclaiming; free some space there or in the store, and try again",
      file: path)
    log.noteFailure(error)
    throw error
  }
}

extension WriteTransaction {
  /// Whether it deletes at least as many keys as it puts.
  fileprivate var makesRoom: Bool { deletes > 0 && deletes >= puts }
}

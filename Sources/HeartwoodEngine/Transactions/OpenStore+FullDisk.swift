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

  /// Gives the reserve to reclamation that finds no room. Under the lease.
  func spendReserve() -> Bool { attachment != nil && folder.spendReserve() }

  /// Gives the reserve to a transaction that finds no room, if it deletes. Under the lease.
  func spendReserve(for transaction: WriteTransaction) -> Bool {
    transaction.deletes > 0 && transaction.deletes >= transaction.puts && spendReserve()
  }
}

import HeartwoodFiles

/// Refreshes or recovers the store of a process that has just acquired the file lock, before it writes.
extension OpenStore {
  /// - Precondition: The caller holds `checkpoints` and the writer lock.
  func takeOver(_ attachment: ProcessAttachment) throws(EngineError) {
    try status.checkWritable()
    try folder.checkIsInPlace()
    let record = try newestRecord(attachment.page)
    let takeover = takeover(record)
    // 1. Refresh or recover the log, and the tree unless it must be reloaded from a checkpoint.
    switch takeover {
    case .resume: break
    case .refresh(let record): try refresh(record)
    case .recover: try recover(record)
    }
    try log.resume()
    // 2. After a recovery, publish the new end of the log.
    if case .recover = takeover { try publishRecord() }
    // 3. Reload the tree if another process wrote pages.
    if case .checkpoint(let checkpoint) = pendingReload { try reload(from: checkpoint) }
    if case .resume = takeover {
    } else {
      pages.sealIfLonger()
      updateReserve()
    }
    // 4. Let threads of this process write.
    lease.complete()
  }

  private enum Takeover {
    case resume
    case refresh(WriterRecord)
    case recover
  }

  private func takeover(_ record: WriterRecord?) -> Takeover {
    let lastOwn = lease.lastOwnRecord.load(ordering: .relaxed)
    switch LeaseMachine.takeover(counter: record?.counter, isHeld: record?.isHeld ?? true, lastOwn: lastOwn) {
    case .resume: return .resume
    case .recover: return .recover
    case .refresh:
      guard let record, record.identifier == log.identifier else { return .recover }
      return .refresh(record)
    }
  }

  private func refresh(_ record: WriterRecord) throws(EngineError) {
    try CatchUp(store: self, end: record.end, durable: record.durable).run()
    numbers.raise(to: record.nextSegment)
    let slot = try anchor.reload(folder).slot
    try makeDurable(slot)
    try notePeerCheckpoint(slot)
  }

  /// Performs the syncs that a writer with `Durability.none` omitted.
  private func makeDurable(_ slot: AnchorSlot) throws(EngineError) {
    if slot.isUnsynced, options.durability != .none { try folder.syncEverything() }
  }

  /// Schedules a reload of the tree if another process wrote pages: from its newest checkpoint, or from the
  /// last known one if this process appended pages that no checkpoint names, since they may have been
  /// overwritten.
  private func notePeerCheckpoint(_ slot: AnchorSlot) throws(EngineError) {
    guard case .none = pendingReload else { return }
    if let position = slot.checkpoint, position.rawValue > lastCheckpoint?.position.rawValue ?? 0 {
      pendingReload = .checkpoint(try NamedCheckpoint.named(by: slot, in: log.segments, folder: folder))
    } else if hasUnnamedPages {
      pendingReload = .checkpoint(lastCheckpoint)
    }
  }

  private var hasUnnamedPages: Bool {
    return !pages.has(lastCheckpoint?.pageSegments ?? [])
  }

  /// Recovers the log. The last writer was killed or failed before it released the lease.
  private func recover(_ record: WriterRecord?) throws(EngineError) {
    try announceRecovery(record)
    let contents = try anchor.reload(folder)
    try makeDurable(contents.slot)
    let found = try Opening(path, options, fileSystem).find(
      folder, anchor, contents, endsAsSaid: false, PublishedRecord())
    numbers.raise(to: found.next)
    let end = found.log.end
    let adoption = try CheckpointReload(
      self, found.checkpoint, found.log.segments, end: end, durable: end)
    pages.seal()
    guard end.generation > generations.tip.generation else {
      guard end.generation == generations.tip.generation else {
        throw EngineError.damaged(
          "published transactions were lost in a recovery; close the store and open it again", file: path)
      }
      return adoption.reloadLogOnly()
    }
    try adoption.run()
  }

  /// Must be called before any file is changed: if this process is killed, the next one also recovers.
  private func announceRecovery(_ record: WriterRecord?) throws(EngineError) {
    guard var record, let attachment else { return }
    (record.writer, record.isHeld) = (lease.name, true)
    do {
      _ = try attachment.page.write(record)
    } catch {
      throw EngineError.files(error, "the recovery could not be announced to other processes")
    }
  }

  /// Reloads the tree from a checkpoint of another process, inside an empty internal transaction.
  private func reload(from checkpoint: NamedCheckpoint?) throws(EngineError) {
    let (adoption, bytes, generation) = try writeHoldingLock(isForced: true) {
      (transaction) throws(EngineError) -> (CheckpointReload, Int, UInt64) in
      let adoption = try CheckpointReload(
        self, checkpoint, log.segments, end: transaction.start, durable: log.durable)
      return (adoption, try adoption.begin(), transaction.number)
    }
    adoption.end(bytes, generation: generation)
  }
}

import HeartwoodFiles

/// What a process does that has just got the file lock, before it writes: it brings its store up to what others have written.
extension OpenStore {
  /// Under the locks of checkpoints and of the writer.
  func takeOver(_ attachment: ProcessAttachment) throws(EngineError) {
    try status.checkWritable()
    try folder.checkIsInPlace()
    let record = try newestRecord(attachment.page)
    let takeover = takeover(record)
    // 1. The log, and the tree where it follows from that.
    switch takeover {
    case .resume: break
    case .refresh(let record): try refresh(record)
    case .recover: try recover(record)
    }
    try log.resume()
    // 2. Others learn where the log ends now.
    if case .recover = takeover { try publishRecord() }
    // 3. The tree begins again where another process has written pages.
    if case .checkpoint(let checkpoint) = pendingReload { try reload(from: checkpoint) }
    pages.sealIfLonger()
    if case .resume = takeover {} else { updateReserve() }
    // 4. Threads of this process may write.
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

  /// Makes up for a process that writes without syncs.
  private func makeDurable(_ slot: AnchorSlot) throws(EngineError) {
    if slot.isUnsynced, options.durability != .none { try folder.syncEverything() }
  }

  /// The tree is reloaded where another process has written pages: from its newest checkpoint; or from the last one that is known
  /// here, where this process has appended pages that no checkpoint names, as they may have been overwritten.
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

  /// The process that wrote last was killed, or has failed, before it released the lease.
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
          "transactions that were there are not any more; close the store and open it again", file: path)
      }
      return adoption.reloadLogOnly()
    }
    try adoption.run()
  }

  /// Before any file is changed: should this process be killed in the middle, the next one recovers too.
  private func announceRecovery(_ record: WriterRecord?) throws(EngineError) {
    guard var record, let attachment else { return }
    (record.writer, record.isHeld) = (lease.name, true)
    do {
      _ = try attachment.page.write(record)
    } catch {
      throw EngineError.files(error, "other processes could not be told that the store is recovered")
    }
  }

  /// Begins the tree again from a checkpoint of another process, by an empty transaction of the store's own.
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

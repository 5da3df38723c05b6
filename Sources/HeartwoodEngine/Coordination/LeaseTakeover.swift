import HeartwoodFiles

/// Refreshes or recovers the store of a process that has just acquired the file lock, before it writes.
struct LeaseTakeover {
  private let store: OpenStore
  private let attachment: ProcessAttachment
  private let writer: WriterState
  private let checkpoints: CheckpointState

  init(
    _ store: OpenStore, _ attachment: ProcessAttachment, _ writer: WriterState, _ checkpoints: CheckpointState
  ) {
    self.store = store
    self.attachment = attachment
    self.writer = writer
    self.checkpoints = checkpoints
  }

  func run() throws(EngineError) {
    try store.status.checkWritable()
    try store.folder.checkIsInPlace()
    let record = try Refresh.newestRecord(attachment.page)
    let takeover = takeover(record)
    // 1. Refresh or recover the log, and the tree unless it must be reloaded from a checkpoint.
    switch takeover {
    case .resume: break
    case .refresh(let record): try refresh(record)
    case .recover: try recover(record)
    }
    try writer.log.resume()
    // 2. After a recovery, publish the new end of the log.
    if case .recover = takeover { try store.records.publish(writer.held) }
    // 3. Reload the tree if another process wrote pages.
    if case .checkpoint(let checkpoint) = writer.pendingReload { try reload(from: checkpoint) }
    if case .resume = takeover {
    } else {
      checkpoints.pages.sealIfLonger()
      store.reserve.update(storeBytes: checkpoints.storeBytes(store.logSegments))
    }
    // 4. Let threads of this process write.
    store.lease.complete(writer.held)
  }

  private enum Way {
    case resume
    case refresh(WriterRecord)
    case recover
  }

  private func takeover(_ record: WriterRecord?) -> Way {
    let lastOwn = store.lease.lastOwnRecord.load(ordering: .relaxed)
    switch LeaseMachine.takeover(counter: record?.counter, isHeld: record?.isHeld ?? true, lastOwn: lastOwn) {
    case .resume: return .resume
    case .recover: return .recover
    case .refresh:
      guard let record, record.identifier == store.identifier else { return .recover }
      return .refresh(record)
    }
  }

  private func refresh(_ record: WriterRecord) throws(EngineError) {
    try CatchUp(store, writer, checkpoints, end: record.end, durable: record.durable).run()
    store.numbers.raise(to: record.nextSegment)
    let slot = try store.anchor.file.reload(store.folder).slot
    try makeDurable(slot)
    try notePeerCheckpoint(slot)
  }

  /// Performs the syncs that a writer with `Durability.none` omitted.
  private func makeDurable(_ slot: AnchorSlot) throws(EngineError) {
    if slot.isUnsynced, store.options.durability != .none { try store.folder.syncEverything() }
  }

  /// Schedules a reload of the tree if another process wrote pages: from its newest checkpoint, or from the
  /// last known one if this process appended pages that no checkpoint names, since they may have been
  /// overwritten.
  private func notePeerCheckpoint(_ slot: AnchorSlot) throws(EngineError) {
    guard !writer.hasPendingReload else { return }
    if let position = slot.checkpoint, position.rawValue > checkpoints.last?.position.rawValue ?? 0 {
      writer.pendingReload = .checkpoint(
        try NamedCheckpoint.named(by: slot, in: writer.log.segments, folder: store.folder))
    } else if checkpoints.hasUnnamedPages {
      writer.pendingReload = .checkpoint(checkpoints.last)
    }
  }

  /// Recovers the log. The last writer was killed or failed before it released the lease.
  private func recover(_ record: WriterRecord?) throws(EngineError) {
    try announceRecovery(record)
    let contents = try store.anchor.file.reload(store.folder)
    try makeDurable(contents.slot)
    let found = try LogSearch(store.folder, store.anchor.file, store.options).run(contents)
    store.numbers.raise(to: found.next)
    let end = found.log.end
    let reload = try CheckpointReload(store.folder, writer, checkpoints, found.image)
    checkpoints.pages.seal()
    store.lastReplay.forget()
    let tip = writer.tree.tip.generation
    guard end.generation > tip else {
      guard end.generation == tip else {
        throw EngineError.damaged(
          "published transactions were lost in a recovery; close the store and open it again",
          file: store.path)
      }
      return reload.reloadLogOnly()
    }
    try reload.run()
  }

  /// Must be called before any file is changed: if this process is killed, the next one also recovers.
  private func announceRecovery(_ record: WriterRecord?) throws(EngineError) {
    guard var record else { return }
    (record.writer, record.isHeld, record.isRecovering) = (store.lease.name, true, true)
    do {
      _ = try attachment.page.write(record)
    } catch {
      throw EngineError.files(error, "the recovery could not be announced to other processes")
    }
  }

  /// Reloads the tree from a checkpoint of another process, inside an empty internal transaction.
  private func reload(from checkpoint: NamedCheckpoint?) throws(EngineError) {
    let (reload, bytes, generation) = try writer.writeInternally(isForced: true) {
      (transaction) throws(EngineError) -> (CheckpointReload, Int, UInt64) in
      let image = StoreImage(
        checkpoint, writer.log.segments, end: transaction.start, durable: writer.log.durable)
      let reload = try CheckpointReload(store.folder, writer, checkpoints, image)
      return (reload, try reload.begin(), transaction.number)
    }
    reload.end(bytes, generation: generation)
    store.lastReplay.forget()
  }
}

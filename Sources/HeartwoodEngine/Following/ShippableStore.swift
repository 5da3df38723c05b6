import HeartwoodFiles

/// The state of an open store that can be shipped, and the store's lineage.
struct ShippableStore {
  let store: OpenStore

  /// The published state, made durable; nil if the store has to be opened again, because its tree is based on an
  /// older checkpoint than its log.
  ///
  /// The log is synced here, also where commits are not: what is shipped must not be lost by the store.
  func contents() throws(EngineError) -> BackupContents? {
    try store.status.checkOpen()
    try Refresh(store).ifStale()
    let contents = try store.checkpoints.withLock { (checkpoints) throws(EngineError) -> BackupContents? in
      guard try !store.writer.withLock({ $0.hasPendingReload }) else { return nil }
      return try BackupOperation(store: store).contents(checkpoints, upTo: store.logSegments.published)
    }
    guard let contents, contents.isComplete else { return nil }
    try sync(contents)
    return contents
  }

  private func sync(_ contents: BackupContents) throws(EngineError) {
    let durable = store.synced.durable
    guard store.options.durability == .none || durable.sequence < contents.end.sequence else { return }
    for part in contents.logs where part.header.number >= durable.position.segment {
      guard let segment = contents.files.logs[part.header.number] else { continue }
      do {
        try segment.file.sync(DurableState.commitSync)
      } catch {
        throw EngineError.files(error, "the log could not be synced, which is done before it is shipped")
      }
    }
  }

  /// The store's lineage, which is made if it has none.
  func lineage(_ entropy: any Entropy) throws(EngineError) -> Lineage {
    if let mark = try store.folder.lineage(), mark.identifier == store.identifier { return mark.lineage }
    let lineage = Lineage(low: entropy.next(), high: entropy.next())
    let mark = ShippingMark(identifier: store.identifier, lineage: lineage)
    do {
      try store.folder.directory.replace(PieceFormat.lineageName, with: mark.encoded(), entropy)
      return lineage
    } catch {
      throw EngineError.files(error, "the lineage of the store could not be written")
    }
  }
}

extension Directory {
  /// Replaces a small file, durably.
  func replace(
    _ name: String, with bytes: [UInt8], _ entropy: any Entropy = SystemEntropy()
  ) throws(FileSystemError) {
    try bytes.withBytes { (bytes) throws(FileSystemError) in
      try AtomicReplacement.replace(name, in: self, with: bytes, entropy: entropy)
    }
  }
}

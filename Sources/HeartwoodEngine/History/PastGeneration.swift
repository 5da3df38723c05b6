/// A past generation: a tree of its own, built from the pages of a checkpoint and the log after it.
final class PastGeneration: @unchecked Sendable {
  let view: ReadView
  /// Retains the pages that the replay created.
  private let replay: Replay

  /// - Throws: `.generationUnavailable` if the checkpoints or the log that it needs are reclaimed.
  /// - Complexity: O(size of the log between the checkpoint and the generation).
  init(_ store: OpenStore, _ generation: UInt64) throws(EngineError) {
    let end = store.logSegments.published
    let space = try PageSpace()
    // The lock keeps segments from being reclaimed meanwhile.
    let (segments, checkpoint) = try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
      let all = store.logSegments.segments
      let held = Self.held(generation, store, all)
      var checkpoint = held?.checkpoint
      if held == nil { checkpoint = try Self.checkpoint(notAfter: generation, store, checkpoints, all) }
      try Self.addPages(of: checkpoint, to: space, store)
      return (held?.segments ?? all, checkpoint)
    }
    try UntrustedTree.check(checkpoint, space, store.options, path: store.path)
    let image = StoreImage(checkpoint, segments, end: end, durable: end)
    replay = try Replay(image, in: space, upTo: generation)
    // A separate table, because the store may reclaim segments that this generation needs.
    for segment in segments where segment.firstGeneration <= generation { space.values.add(segment) }
    view = ReadView(TreeView(space: space, root: replay.tree.tip.root))
  }

  /// The checkpoint of a hold of this generation, and the segments up to its last frame; nil if none is held, or if its files are gone.
  private static func held(
    _ generation: UInt64, _ store: OpenStore, _ segments: [LogSegment]
  ) -> (segments: [LogSegment], checkpoint: NamedCheckpoint?)? {
    // Without the file the generation may be there, too.
    let holds = (try? store.folder.holds(of: store.identifier).holds.map(\.needs)) ?? []
    for hold in holds where hold.generation == generation {
      let needed = segments.filter { $0.number <= hold.lastLogSegment }
      guard let position = hold.checkpoint else {
        guard let first = LogSegments.tail(of: needed).first, first.header.predecessor == nil else {
          continue
        }
        return (needed, nil)
      }
      if let checkpoint = try? NamedCheckpoint.read(
        at: position, checksum: hold.checkpointChecksum, in: needed, folder: store.folder)
      {
        return (needed, checkpoint)
      }
    }
    return nil
  }

  private static func addPages(
    of checkpoint: NamedCheckpoint?, to space: PageSpace, _ store: OpenStore
  ) throws(EngineError) {
    let files = PageSegmentFiles(
      folder: store.folder, identifier: store.identifier, options: store.options)
    for named in checkpoint?.pageSegments ?? [] {
      let part = try files.open(named)
      part.segment.add(to: space, pageCount: part.extent.pages)
    }
  }

  /// The newest checkpoint that is not newer than a generation; nil if the log contains everything from the
  /// beginning.
  static func checkpoint(
    notAfter generation: UInt64, _ store: OpenStore, _ checkpoints: CheckpointState, _ segments: [LogSegment]
  ) throws(EngineError) -> NamedCheckpoint? {
    var chain = CheckpointChain(store.folder, checkpoints, segments)
    while let found = try chain.nextAlive() {
      if found.record.generation <= generation { return found }
    }
    guard LogSegments.tail(of: segments).first?.header.predecessor == nil else {
      throw EngineError(
        .generationUnavailable,
        "generation \(generation) can't be opened any more: space that it needs was reclaimed",
        file: store.path)
    }
    return nil
  }
}

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
      let segments = store.logSegments.segments
      let checkpoint = try Self.checkpoint(notAfter: generation, store, checkpoints, segments)
      try Self.addPages(of: checkpoint, to: space, store)
      return (segments, checkpoint)
    }
    try UntrustedTree.check(checkpoint, space, store.options, path: store.path)
    let image = StoreImage(checkpoint, segments, end: end, durable: end)
    replay = try Replay(image, in: space, upTo: generation)
    // A separate table, because the store may reclaim segments that this generation needs.
    for segment in segments where segment.firstGeneration <= generation { space.values.add(segment) }
    view = ReadView(TreeView(space: space, root: replay.tree.tip.root))
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
  private static func checkpoint(
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

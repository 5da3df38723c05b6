extension OpenStore {
  /// The newest generation, pinned.
  func newestSnapshot() throws(EngineError) -> Snapshot {
    try status.checkOpen()
    let pinned = PinnedGeneration(generations)
    let view = ReadView(view: TreeView(space: space, root: pinned.pin.root), table: log.table)
    return Snapshot(pinned, view: view, generation: Generation(rawValue: pinned.pin.generation))
  }

  /// A past generation, from the newest checkpoint that is not after it.
  func snapshot(at generation: UInt64) throws(EngineError) -> Snapshot {
    let newest = try newestSnapshot()
    guard generation <= newest.generation.rawValue else {
      throw EngineError(
        .generationUnavailable,
        "generation \(generation) is newer than the newest, which is \(newest.generation)", file: path)
    }
    if generation == newest.generation.rawValue { return newest }
    let past = try PastGeneration(self, generation)
    return Snapshot(past, view: past.view, generation: Generation(rawValue: generation))
  }
}

/// A past generation: a tree of its own, from the pages of a checkpoint and the log behind it.
final class PastGeneration: SnapshotSource, @unchecked Sendable {
  let view: ReadView
  /// Keeps the pages that were made by replaying.
  private let replay: Replay

  init(_ store: OpenStore, _ generation: UInt64) throws(EngineError) {
    let end = store.log.settledEnd
    let log = store.log.segments
    let checkpoint = try Self.checkpoint(notAfter: generation, store)
    let space = try PageSpace()
    let files = PageSegmentFiles(
      folder: store.folder, identifier: store.log.identifier, options: store.options)
    for named in checkpoint?.pageSegments ?? [] {
      let part = try files.open(named)
      part.segment.add(to: space, pageCount: part.extent.pages)
    }
    replay = try Replay(space: space, from: checkpoint, log: log, end: end, last: generation)
    let root = replay.generations.tip.root
    view = ReadView(view: TreeView(space: space, root: root), table: store.log.table)
  }

  /// The newest checkpoint that is not after a generation; nil where there is none.
  private static func checkpoint(
    notAfter generation: UInt64, _ store: OpenStore
  ) throws(EngineError) -> NamedCheckpoint? {
    var checkpoint = store.checkpoints.withLock { store.newestCheckpoint }
    while let found = checkpoint, found.record.generation > generation {
      guard let position = found.record.previous else { return nil }
      checkpoint = try NamedCheckpoint.read(
        at: position, checksum: found.record.previousChecksum, in: store.log.segments, folder: store.folder)
      guard let older = checkpoint, older.record.generation < found.record.generation else {
        throw EngineError.damaged("checkpoints do not follow one another", file: store.path)
      }
    }
    return checkpoint
  }
}

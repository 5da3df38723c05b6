/// The content and size of a store in numbers.
public struct EngineStatistics: Hashable, Sendable {
  /// The newest generation.
  public var generation: Generation
  /// The number of keys.
  public var keys: UInt64
  /// The number of branch levels above each leaf of the tree.
  public var treeLevels: Int
  /// The generation of the newest checkpoint; 0 if there is none.
  public var checkpoint: Generation
  /// Bytes of the log in use, without preallocation.
  public var logBytes: Int64
  /// The number of log segments.
  public var logSegments: Int
  /// Bytes of the tree's pages on disk, including older versions of them.
  public var pageBytes: Int64
  /// The number of page segments.
  public var pageSegments: Int
  /// Bytes of all files of the store.
  public var fileBytes: Int64
  /// Bytes of the tree in memory.
  public var memoryBytes: Int64
  /// The oldest generation that a snapshot holds; nil if none is held.
  public var oldestPinned: Generation?
  /// The number of generations that snapshots of this process hold.
  public var pinnedGenerations: Int
  /// The number of files that are no longer part of the store, and stay open and keep their space on disk because held snapshots of this
  /// process need them. They have no names, so that they are in no listing of the folder and not in `fileBytes`.
  public var unlinkedFiles: Int
  /// The bytes of these files.
  public var unlinkedBytes: Int64
  /// The number of transactions at the end of the log that a store open for reading only leaves out, because
  /// the writer did not close the store, nothing proves them durable, and syncing them failed. Opening the
  /// store for writing recovers them.
  public var unrecoveredTransactions: Int
}

/// Computes the statistics of a store.
struct Statistics {
  let store: OpenStore

  func run() throws(EngineError) -> EngineStatistics {
    try store.status.checkOpen()
    // Commits of other processes that cannot be read are left out, as in `Engine.newestGeneration`.
    try? Refresh(store).ifStale()
    // Before this call pins one itself.
    var pins: [UInt64] = []
    _ = store.generations.newest(pins: &pins)
    let unlinked = store.unlinked.now
    let pinned = PinnedGeneration(store.generations)
    let (checkpoint, parts, fileBytes) = try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
      (checkpoints.newest, checkpoints.pages.parts, try store.folder.fileBytes())
    }
    let path = store.logSegments.segments
    return EngineStatistics(
      generation: Generation(rawValue: pinned.pin.generation), keys: pinned.pin.root.count,
      treeLevels: pinned.pin.root.level,
      checkpoint: Generation(rawValue: checkpoint?.record.generation ?? 0), logBytes: logBytes(path),
      logSegments: path.count,
      pageBytes: parts.reduce(0) { $0 + Int64($1.extent.pages) * Int64(Format.pageBytes) },
      pageSegments: parts.count, fileBytes: fileBytes, memoryBytes: Int64(store.space.arenaBytesInUse),
      oldestPinned: pins.min().map(Generation.init(rawValue:)), pinnedGenerations: Set(pins).count,
      unlinkedFiles: unlinked.files, unlinkedBytes: unlinked.bytes,
      unrecoveredTransactions: store.unrecoveredTransactions)
  }

  private func logBytes(_ path: [LogSegment]) -> Int64 {
    let end = store.logSegments.published.position
    return path.reduce(0) { sum, segment in
      sum
        + Int64(
          segment.number == end.segment ? end.offset : store.logSegments.end(of: segment.number)?.offset ?? 0)
    }
  }
}

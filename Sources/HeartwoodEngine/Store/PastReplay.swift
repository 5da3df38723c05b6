import HeartwoodFiles

/// A replay of the log after a checkpoint, as a tree of its own. It goes on to later generations, which share with the earlier ones all pages
/// that are equal, while readers hold those.
final class PastReplay: Sendable {
  /// The state that the writer of the tree changes.
  private final class Progress {
    let generations: Generations
    let tree: TreeWriter
    /// The end of what was applied.
    var point: LogPoint
    /// The generations that can be read again, the last used one last.
    var retained: [PinnedGeneration] = []
    /// The segments that the tree's values may be in.
    var segments: Set<UInt32> = []

    init(_ space: PageSpace, _ checkpoint: NamedCheckpoint?, from point: LogPoint) {
      let root = checkpoint?.root ?? .empty
      generations = Generations(space: space, generation: checkpoint?.record.generation ?? 0, root: root)
      tree = TreeWriter(space: space, generations: generations)
      self.point = point
    }
  }

  /// Retained generations keep pages in memory.
  private static let mostRetained = 4

  private let checkpoint: NamedCheckpoint?
  let space: PageSpace
  private let progress: StateLock<Progress>

  /// - Parameters:
  ///   - checkpoint: Nil for the start of the log.
  ///   - space: Has the checkpoint's pages.
  ///   - start: The end of the log that the checkpoint has.
  init(_ checkpoint: NamedCheckpoint?, in space: PageSpace, from start: LogPoint) {
    self.checkpoint = checkpoint
    self.space = space
    progress = StateLock(Progress(space, checkpoint, from: start))
  }

  /// Whether this replay began at a checkpoint.
  func begins(at other: NamedCheckpoint?) -> Bool { checkpoint?.position == other?.position }

  /// The bytes of memory that the pages need.
  var memoryBytes: Int { space.arenaBytesInUse }

  /// A generation that it has, or that it can go on to.
  ///
  /// - Parameters:
  ///   - segments: The live segments, in order; nil to take it only if it is there.
  ///   - end: The published end of the log.
  /// - Returns: Nil if the replay is past the generation, and does not retain it.
  /// - Throws: `.damaged` if the log between cannot be read. The replay is as it was before.
  /// - Complexity: O(size of the log from where the replay is to the generation).
  func view(
    of generation: UInt64, _ segments: [LogSegment]?, upTo end: LogPoint
  ) throws(EngineError) -> PastGeneration? {
    try progress.withLock { (progress) throws(EngineError) in
      if let index = progress.retained.firstIndex(where: { $0.pin.generation == generation }) {
        let found = progress.retained.remove(at: index)
        progress.retained.append(found)
        return PastGeneration(found, space, of: self)
      }
      guard let segments, generation >= progress.tree.tip.generation else { return nil }
      try advance(progress, to: generation, segments, upTo: end)
      let pinned = PinnedGeneration(progress.generations)
      if progress.retained.count == Self.mostRetained { progress.retained.removeFirst() }
      progress.retained.append(pinned)
      return PastGeneration(pinned, space, of: self)
    }
  }

  private func advance(
    _ progress: Progress, to target: UInt64, _ segments: [LogSegment], upTo end: LogPoint
  ) throws(EngineError) {
    // A table of its own, because the store may reclaim segments that this tree needs.
    for segment in segments where segment.firstGeneration <= target {
      if progress.segments.insert(segment.number).inserted { space.values.add(segment) }
    }
    let tree = progress.tree
    guard target > tree.tip.generation else { return }
    // All transactions form one generation, because no reader can see those in between.
    tree.begin(generation: target)
    do {
      let image = StoreImage(checkpoint, segments, end: end, durable: end)
      let read = try Replay.apply(image, to: tree, from: progress.point, upTo: target)
      progress.point = read.end
    } catch {
      tree.rollback()
      throw error
    }
    progress.generations.publish(target, tree.commit())
  }
}

/// A past generation that is being read.
final class PastGeneration: Sendable {
  let view: ReadView
  /// Keeps the pages of the generation, and the replay they belong to.
  private let pinned: PinnedGeneration
  private let replay: PastReplay

  fileprivate init(_ pinned: PinnedGeneration, _ space: PageSpace, of replay: PastReplay) {
    (self.pinned, self.replay) = (pinned, replay)
    view = ReadView(TreeView(space: space, root: pinned.pin.root))
  }
}

/// The last replay to a past generation: who asks next often wants the same generation again, or a later one.
final class LastReplay: Sendable {
  /// A replay with more pages in memory than this is known only while a reader has a generation of it.
  private static let mostKeptBytes = 16 << 20

  private struct Known: Sendable {
    weak var replay: PastReplay?
    var kept: PastReplay?
  }

  private let known = Guarded(Known())

  /// Nil if there is none.
  var found: PastReplay? { known.withLock { $0.replay } }

  func keep(_ replay: PastReplay) {
    replace(by: Known(replay: replay, kept: replay.memoryBytes <= Self.mostKeptBytes ? replay : nil))
  }

  /// Forgets it: its files may be gone, or be of another past.
  func forget() { replace(by: Known()) }

  private func replace(by new: Known) {
    // Unmapping takes milliseconds, so it is done without the lock.
    let former = known.withLock { known in
      defer { known = new }
      return known
    }
    withExtendedLifetime(former) {}
  }
}

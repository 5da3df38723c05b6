import HeartwoodFiles

/// Finds past generations, and keeps the last replay for those who ask next: they often ask for the same generation again, or for a later one.
///
/// The lock guards which replays are known, not the replays.
final class PastGenerations: Sendable {
  /// A replay with more pages in memory than this is known only while a reader has a generation of it.
  private static let mostKeptBytes = 16 << 20

  private struct Known: Sendable {
    weak var last: PastReplay?
    var kept: PastReplay?
  }

  private let known = Guarded(Known())

  /// A past generation.
  ///
  /// - Throws: `.generationUnavailable` if the checkpoints or the log that it needs are reclaimed.
  /// - Complexity: O(size of the log between the checkpoint before it and the generation), less what the last replay has applied.
  func find(_ generation: UInt64, in store: OpenStore) throws(EngineError) -> PastGeneration {
    let last = known.withLock { $0.last }
    let end = store.logSegments.published
    if let found = try last?.view(of: generation, nil, upTo: end) { return found }
    return try replaying(last, store) { (checkpoints) throws(EngineError) in
      try PastBase(generation, store, checkpoints)
    } body: { (replay, base) throws(EngineError) in
      try replay.view(of: generation, base.segments, upTo: end)
    }
  }

  /// Two past generations, in one tree if one checkpoint is the newest before both.
  ///
  /// - Parameter newest: The snapshot to take for `later` if the two have no tree in common, and it is that generation.
  func findPair(
    _ earlier: UInt64, _ later: UInt64, newest: Snapshot, in store: OpenStore
  ) throws(EngineError) -> (earlier: Snapshot, later: Snapshot) {
    let end = store.logSegments.published
    let isShared = try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
      try PastBase(earlier, store, checkpoints).isSame(as: PastBase(later, store, checkpoints))
    }
    guard isShared else {
      let isNewest = newest.generation.rawValue == later
      return (
        Snapshot(try find(earlier, in: store), of: earlier),
        isNewest ? newest : Snapshot(try find(later, in: store), of: later)
      )
    }
    return try replaying(known.withLock { $0.last }, store) { (checkpoints) throws(EngineError) in
      try PastBase(later, store, checkpoints)
    } body: { (replay, base) throws(EngineError) in
      guard let first = try replay.view(of: earlier, base.segments, upTo: end),
        let second = try replay.view(of: later, base.segments, upTo: end)
      else { return nil }
      return (Snapshot(first, of: earlier), Snapshot(second, of: later))
    }
  }

  /// Runs `body` with the last replay if it begins at a checkpoint, and with a new one if it does not, or if `body` returned nil.
  ///
  /// - Parameter base: Called with the lock that keeps segments from being reclaimed.
  private func replaying<Result>(
    _ last: PastReplay?, _ store: OpenStore,
    from base: (CheckpointState) throws(EngineError) -> PastBase,
    body: (PastReplay, PastBase) throws(EngineError) -> Result?
  ) throws(EngineError) -> Result {
    for candidate in [last, nil] {
      let (base, replay) = try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
        let base = try base(checkpoints)
        if let candidate, base.isContinued(by: candidate) { return (base, candidate) }
        return (base, try base.replay(store))
      }
      if let found = try body(replay, base) {
        keep(replay)
        return found
      }
    }
    throw EngineError.damaged("a generation precedes its checkpoint", file: store.path)
  }

  /// Forgets the last replay, whose files may be gone or be of another past.
  func forget() {
    // Unmapping takes milliseconds, so it is done without the lock.
    let released = known.withLock { known in
      defer { known = Known() }
      return known
    }
    withExtendedLifetime(released) {}
  }

  private func keep(_ replay: PastReplay) {
    let isSmall = replay.memoryBytes <= Self.mostKeptBytes
    let former = known.withLock { known in
      defer { known = Known(last: replay, kept: isSmall ? replay : nil) }
      return known
    }
    withExtendedLifetime(former) {}
  }
}

extension Snapshot {
  convenience init(_ past: PastGeneration, of generation: UInt64) {
    self.init(past.view, of: Generation(rawValue: generation), keeping: past)
  }
}

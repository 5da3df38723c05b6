/// Finds past generations: by the last replay, or a new one.
struct PastGenerations {
  private let store: OpenStore

  init(_ store: OpenStore) { self.store = store }

  /// A past generation.
  ///
  /// - Throws: `.generationUnavailable` if the checkpoints or the log that it needs are reclaimed.
  /// - Complexity: O(size of the log between the checkpoint before it and the generation), less what the last replay has applied.
  func find(_ generation: UInt64) throws(EngineError) -> PastGeneration {
    let last = store.lastReplay.found
    let end = store.logSegments.published
    if let found = try last?.view(of: generation, nil, upTo: end) { return found }
    let replayed = try replaying(last) { (checkpoints) throws(EngineError) in
      try PastBase(generation, store, checkpoints)
    } body: { (replay, base) throws(EngineError) in
      try replay.view(of: generation, base.segments, upTo: end)
    }
    guard let replayed else {
      throw EngineError.damaged("a generation precedes its checkpoint", file: store.path)
    }
    return replayed
  }

  /// Two past generations, in one tree if one checkpoint is the newest before both.
  ///
  /// - Parameter newest: The snapshot to take for `later` if the two have no tree in common, and it is that generation.
  func findPair(
    _ earlier: UInt64, _ later: UInt64, newest: Snapshot
  ) throws(EngineError) -> (earlier: Snapshot, later: Snapshot) {
    let end = store.logSegments.published
    let shared = try replaying(store.lastReplay.found) { checkpoints in
      PastBase.shared(by: earlier, later, store, checkpoints)
    } body: { (replay, base) throws(EngineError) -> (earlier: Snapshot, later: Snapshot)? in
      guard let first = try replay.view(of: earlier, base.segments, upTo: end),
        let second = try replay.view(of: later, base.segments, upTo: end)
      else { return nil }
      return (Snapshot(first, of: earlier), Snapshot(second, of: later))
    }
    if let shared { return shared }
    let isNewest = newest.generation.rawValue == later
    return (
      Snapshot(try find(earlier), of: earlier), isNewest ? newest : Snapshot(try find(later), of: later)
    )
  }

  /// Runs `body` with the last replay if it begins at a checkpoint, and with a new one if it does not, or if `body` returned nil.
  ///
  /// - Parameter base: Called with the lock that keeps segments from being reclaimed; nil if there is none.
  /// - Returns: Nil if there is no base, or `body` returned nil with a new replay.
  private func replaying<Result>(
    _ last: PastReplay?,
    from base: (CheckpointState) throws(EngineError) -> PastBase?,
    body: (PastReplay, PastBase) throws(EngineError) -> Result?
  ) throws(EngineError) -> Result? {
    for candidate in [last, nil] {
      let begun = try store.checkpoints.withLock {
        (checkpoints) throws(EngineError) -> (base: PastBase, replay: PastReplay)? in
        guard let base = try base(checkpoints) else { return nil }
        if let candidate, base.isContinued(by: candidate) { return (base, candidate) }
        return (base, try base.replay(store, checkpoints))
      }
      guard let (base, replay) = begun else { return nil }
      if replay !== candidate {
        try UntrustedTree.check(base.checkpoint, replay.space, store.options, path: store.path)
      }
      if let found = try body(replay, base) {
        store.lastReplay.keep(replay)
        return found
      }
    }
    return nil
  }
}

extension Snapshot {
  convenience init(_ past: PastGeneration, of generation: UInt64) {
    self.init(past.view, of: Generation(rawValue: generation), keeping: past)
  }
}

/// Where the replay to a past generation begins.
struct PastBase {
  /// Nil for the start of the log.
  let checkpoint: NamedCheckpoint?
  /// The live segments; of a hold, up to its last frame.
  let segments: [LogSegment]
  /// Whether a hold names them: segments after those may be gone.
  let isHeld: Bool
}

extension PastBase {
  /// Whether a replay that began before can go on to what this one is about.
  func isContinued(by replay: PastReplay) -> Bool { !isHeld && replay.begins(at: checkpoint) }

  /// - Throws: `.generationUnavailable` if the checkpoints or the log that it needs are reclaimed.
  init(
    _ generation: UInt64, _ store: OpenStore, _ checkpoints: CheckpointState
  ) throws(EngineError) {
    let all = store.logSegments.segments
    if let held = Self.held(generation, store, all) {
      self = held
    } else {
      checkpoint = try Self.checkpoint(notAfter: generation, store, checkpoints, all)
      (segments, isHeld) = (all, false)
    }
  }

  /// Where one replay to two generations begins, the files of holds aside; nil if each needs its own.
  static func shared(
    by earlier: UInt64, _ later: UInt64, _ store: OpenStore, _ checkpoints: CheckpointState
  ) -> PastBase? {
    let all = store.logSegments.segments
    do {
      let first = try checkpoint(notAfter: earlier, store, checkpoints, all)
      let second = try checkpoint(notAfter: later, store, checkpoints, all)
      guard first?.position == second?.position else { return nil }
      return PastBase(checkpoint: second, segments: all, isHeld: false)
    } catch {
      // A hold may still have the files of one of them.
      return nil
    }
  }

  /// The checkpoint of a hold of this generation, and the segments up to its last frame; nil if none is held, or if its files are gone.
  private static func held(
    _ generation: UInt64, _ store: OpenStore, _ segments: [LogSegment]
  ) -> PastBase? {
    // Without the file the generation may be there, too.
    let holds = (try? store.folder.holds(of: store.identifier).holds.map(\.needs)) ?? []
    for hold in holds where hold.generation == generation {
      let needed = segments.filter { $0.number <= hold.lastLogSegment }
      guard let position = hold.checkpoint else {
        guard let first = LogSegments.tail(of: needed).first, first.header.predecessor == nil else {
          continue
        }
        return PastBase(checkpoint: nil, segments: needed, isHeld: true)
      }
      if let checkpoint = try? NamedCheckpoint.read(
        at: position, checksum: hold.checkpointChecksum, in: needed, folder: store.folder)
      {
        return PastBase(checkpoint: checkpoint, segments: needed, isHeld: true)
      }
    }
    return nil
  }

  /// A replay that begins here.
  ///
  /// - Throws: A stale error if a file is gone.
  func replay(_ store: OpenStore, _ checkpoints: CheckpointState) throws(EngineError) -> PastReplay {
    let space = try PageSpace()
    for named in checkpoint?.pageSegments ?? [] {
      let part = try checkpoints.pages.partForOtherSpace(named)
      part.segment.add(to: space, pageCount: part.extent.pages)
    }
    let end = store.logSegments.published
    let image = StoreImage(checkpoint, segments, end: end, durable: end)
    return PastReplay(checkpoint, in: space, from: image.start)
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

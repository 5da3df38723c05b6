extension OpenStore {
  /// Pins the newest generation.
  func newestSnapshot() throws(EngineError) -> Snapshot {
    try status.checkOpen()
    try refreshIfStale()
    return Snapshot(generations, space)
  }

  /// Calls `body` with the newest value of a key if it exists. Pins the generation without allocating an
  /// object.
  func readNewest(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try status.checkOpen()
    try refreshIfStale()
    let pin = generations.pin()
    defer { pin.release() }
    if let value = try space.value(of: key, from: pin.root) { try body(value) }
  }

  /// A past generation, replayed from the newest checkpoint that is not newer.
  func snapshot(at generation: UInt64) throws(EngineError) -> Snapshot {
    try retryingIfChanged { () throws(EngineError) in try refreshedSnapshot(at: generation) }
  }

  private func refreshedSnapshot(at generation: UInt64) throws(EngineError) -> Snapshot {
    let newest = try newestSnapshot()
    guard generation <= newest.generation.rawValue else {
      throw EngineError(
        .generationUnavailable,
        "generation \(generation) is newer than the newest, which is \(newest.generation)", file: path)
    }
    if generation == newest.generation.rawValue { return newest }
    return Snapshot(try PastGeneration(self, generation), Generation(rawValue: generation))
  }
}

/// A past generation: a tree of its own, built from the pages of a checkpoint and the log after it.
final class PastGeneration: @unchecked Sendable {
  let view: ReadView
  /// Keeps the pages that replaying has created.
  private let replay: Replay

  init(_ store: OpenStore, _ generation: UInt64) throws(EngineError) {
    let end = store.log.published
    let space = try PageSpace()
    // The lock keeps segments from being reclaimed meanwhile.
    let (segments, checkpoint) = try store.checkpoints.withLock { () throws(EngineError) in
      let segments = store.log.segments
      let checkpoint = try Self.checkpoint(notAfter: generation, store, segments)
      try Self.addPages(of: checkpoint, to: space, store)
      return (segments, checkpoint)
    }
    try UntrustedOpening.check(checkpoint, space, store.options, path: store.path)
    replay = try Replay(
      space: space, from: checkpoint, log: LogSegments.tail(of: segments), end: end, last: generation)
    let root = replay.generations.tip.root
    // A table of its own: the store may reclaim segments that this generation needs.
    for segment in segments { space.values.add(segment) }
    view = ReadView(TreeView(space: space, root: root))
  }

  private static func addPages(
    of checkpoint: NamedCheckpoint?, to space: PageSpace, _ store: OpenStore
  ) throws(EngineError) {
    let files = PageSegmentFiles(
      folder: store.folder, identifier: store.log.identifier, options: store.options)
    for named in checkpoint?.pageSegments ?? [] {
      let part = try files.open(named)
      part.segment.add(to: space, pageCount: part.extent.pages)
    }
  }

  /// The newest checkpoint that is not newer than a generation; nil if the log contains everything from the
  /// beginning.
  private static func checkpoint(
    notAfter generation: UInt64, _ store: OpenStore, _ segments: [LogSegment]
  ) throws(EngineError) -> NamedCheckpoint? {
    var checkpoints = CheckpointChain(store, segments)
    while let found = try checkpoints.nextAlive() {
      if found.record.generation <= generation { return found }
    }
    guard LogSegments.tail(of: segments).first?.header.predecessor == nil else {
      throw store.generationReclaimed(generation)
    }
    return nil
  }
}

/// The checkpoints of a store, from the newest back.
///
/// - Precondition: The caller holds the lock `checkpoints`.
struct CheckpointChain {
  private let store: OpenStore
  private let segments: [LogSegment]
  private let newest: NamedCheckpoint?
  private var last: NamedCheckpoint?

  /// - Parameter segments: The log's segments; a checkpoint in any other segment ends the chain.
  init(_ store: OpenStore, _ segments: [LogSegment]) {
    self.store = store
    self.segments = segments
    newest = store.newestCheckpoint
  }

  /// The next checkpoint if all of its segments still exist; nil at the first that has lost one.
  mutating func nextAlive() throws(EngineError) -> NamedCheckpoint? {
    guard let found = try next() else { return nil }
    let logs = Set(segments.map(\.number))
    let pages = Set(store.pages.parts.map(\.segment.number))
    return found.record.segments.allSatisfy { ($0.isLog ? logs : pages).contains($0.number) } ? found : nil
  }

  mutating func next() throws(EngineError) -> NamedCheckpoint? {
    guard let last else {
      last = newest
      return newest
    }
    guard let position = last.record.previous, segments.contains(where: { $0.number == position.segment })
    else { return nil }
    let older = try NamedCheckpoint.read(
      at: position, checksum: last.record.previousChecksum, in: segments, folder: store.folder)
    guard older.precedes(last) else {
      throw EngineError.damaged("checkpoints do not follow one another", file: store.path)
    }
    self.last = older
    return older
  }
}

extension OpenStore {
  /// The oldest generation that can be opened: 0 if the log goes back to the beginning.
  func oldestAvailable() throws(EngineError) -> UInt64 {
    try checkpoints.withLock { () throws(EngineError) in
      let segments = log.segments
      guard LogSegments.tail(of: segments).first?.header.predecessor != nil else { return 0 }
      var checkpoints = CheckpointChain(self, segments)
      var oldest = generations.newest
      while let found = try checkpoints.nextAlive() { oldest = found.record.generation }
      return oldest
    }
  }

  func generationReclaimed(_ generation: UInt64) -> EngineError {
    EngineError(
      .generationUnavailable,
      "generation \(generation) can't be opened any more: space that it needs was reclaimed", file: path)
  }
}

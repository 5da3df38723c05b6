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
    let past = try PastGeneration(self, generation)
    return Snapshot(past.view, of: Generation(rawValue: generation), keeping: past)
  }

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

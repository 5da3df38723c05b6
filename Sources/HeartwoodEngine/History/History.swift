/// The past generations of a store.
struct History {
  let store: OpenStore

  /// A past generation, replayed from the newest checkpoint that is not newer.
  func snapshot(at generation: UInt64) throws(EngineError) -> Snapshot {
    let refresh = Refresh(store)
    return try refresh.retryingIfChanged { () throws(EngineError) in
      let newest = try refresh.newestSnapshot()
      try check(generation, notAfter: newest)
      if generation == newest.generation.rawValue { return newest }
      return Snapshot(try PastGenerations(store).find(generation), of: generation)
    }
  }

  /// Two generations, whose trees have what is equal in common as far as that costs no further replay.
  ///
  /// - Parameter present: Nil for the newest, which other processes may replace, and reclaim, at any time.
  func snapshots(
    at former: UInt64, and present: UInt64?
  ) throws(EngineError) -> (former: Snapshot, present: Snapshot) {
    let refresh = Refresh(store)
    return try refresh.retryingIfChanged { () throws(EngineError) in
      let newest = try refresh.newestSnapshot()
      let present = present ?? newest.generation.rawValue
      let (earlier, later) = (min(former, present), max(former, present))
      try check(later, notAfter: newest)
      if earlier == newest.generation.rawValue { return (newest, newest) }
      let found = try PastGenerations(store).findPair(earlier, later, newest: newest)
      return former <= present ? found : (found.later, found.earlier)
    }
  }

  private func check(_ generation: UInt64, notAfter newest: Snapshot) throws(EngineError) {
    guard generation > newest.generation.rawValue else { return }
    throw EngineError(
      .generationUnavailable,
      "generation \(generation) is newer than the newest, which is \(newest.generation)", file: store.path)
  }

  /// The oldest generation that can be opened: 0 if the log goes back to the beginning.
  private func oldestAvailable() throws(EngineError) -> UInt64 {
    try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
      let segments = store.logSegments.segments
      guard LogSegments.tail(of: segments).first?.header.predecessor != nil else { return 0 }
      var chain = CheckpointChain(store.folder, checkpoints, segments)
      var oldest = store.generations.newest
      while let found = try chain.nextAlive() { oldest = found.record.generation }
      return oldest
    }
  }

  /// The transactions in the log whose generations can be opened, oldest first.
  func records() throws(EngineError) -> [GenerationRecord] {
    try store.status.checkOpen()
    let oldest = try oldestAvailable()
    let path = store.logSegments.tail
    let end = store.logSegments.published
    guard let first = path.first else { return [] }
    var records: [GenerationRecord] = []
    var walk = try LogWalk(path[...], from: first.header.firstPoint, upTo: end.position)
    var bytes: Int64 = 0
    while let frame = try walk.nextOutline() {
      guard frame.header.kind == Format.transactionKind else { continue }
      bytes += Int64(frame.header.totalBytes)
      guard frame.header.isLast else { continue }
      defer { bytes = 0 }
      guard frame.header.transaction >= oldest else { continue }
      records.append(
        GenerationRecord(
          generation: Generation(rawValue: frame.header.transaction), time: frame.header.time,
          puts: frame.header.puts, deletes: frame.header.deletes, bytes: bytes,
          isInternal: frame.header.flags & Format.internalFlag != 0))
    }
    guard walk.point.position == end.position else {
      throw EngineError.damaged(
        "the log is damaged: a frame is not readable; run verify, and restore the file from a backup",
        file: walk.segment.path, offset: walk.point.position.offset)
    }
    return records
  }
}

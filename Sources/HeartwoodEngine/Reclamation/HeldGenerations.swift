import HeartwoodFiles

/// Generations that are held by name.
///
/// A hold names a checkpoint and the segments that reading its generation needs. Compaction leaves these segments where they are, in every
/// process: it reads the holds under the lease before it unlinks any, and a hold is written under the lease, after its checkpoint is durable. So a
/// hold that is in the file always has its files.
struct HeldGenerations {
  private let store: OpenStore

  init(_ store: OpenStore) { self.store = store }

  /// The holds, in the order of their names.
  func list() throws(EngineError) -> [GenerationHold] {
    try store.status.checkOpen()
    return try store.folder.holds(of: store.identifier).holds.map(GenerationHold.init)
  }

  /// Holds a generation.
  ///
  /// - Parameter generation: Nil for the newest.
  func hold(
    _ name: String, _ generation: UInt64?, seconds: Double?
  ) throws(EngineError) -> GenerationHold {
    guard (1...HoldList.nameLimit).contains(name.utf8.count) else {
      throw EngineError(
        .invalidKey,
        "a held generation has a name of 1 to \(HoldList.nameLimit) bytes, not of \(name.utf8.count)",
        file: store.path)
    }
    return try changing { (list, checkpoints) throws(EngineError) in
      if let known = list.holds.first(where: { $0.name == name }) {
        throw EngineError(
          .exists,
          "generation \(known.needs.generation) is held as \"\(name)\" already; release it first, or choose another name",
          file: store.path)
      }
      try Checkpoint(store, checkpoints).run(isForced: generation == nil)
      let now = store.options.clock.nanosecondsSince1970
      let needs = try needs(generation, list, checkpoints)
      let record = HoldRecord(name: name, created: now, end: Self.end(now, seconds), needs)
      list.holds.append(record)
      list.holds.sort { $0.name < $1.name }
      return GenerationHold(record)
    }
  }

  /// Ends a hold.
  ///
  /// - Returns: False if there is none of this name.
  func release(_ name: String) throws(EngineError) -> Bool {
    try changing { (list, _) throws(EngineError) in
      let count = list.holds.count
      list.holds.removeAll { $0.name == name }
      return list.holds.count < count
    }
  }

  /// How many bytes reclamation could free for each hold, by its name: those in files which the hold keeps, and which the newest generation does not need.
  ///
  /// - Complexity: O(number of keys).
  func bytes() throws(EngineError) -> [String: Int64] {
    let list = try store.folder.holds(of: store.identifier)
    guard !list.holds.isEmpty else { return [:] }
    let garbage = try store.reclamation.withLock { (reclamation) throws(EngineError) in
      try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
        let occupancy = try Occupancy(store, checkpoints, reclamation, readsTail: true)
        return Dictionary(
          (occupancy.logs + occupancy.pages).map { ($0.number, Int64($0.bytes - $0.live)) },
          uniquingKeysWith: +)
      }
    }
    return Dictionary(
      list.holds.map { hold in (hold.name, hold.needs.segments.reduce(0) { $0 + (garbage[$1] ?? 0) }) },
      uniquingKeysWith: +)
  }

  /// Removes the holds that are over, before their files are unlinked.
  ///
  /// - Precondition: The process holds the lease, and the caller the checkpoint lock.
  func forgetThoseOver() throws(EngineError) {
    let former = try store.folder.holds(of: store.identifier)
    let now = store.options.clock.nanosecondsSince1970
    let rest = HoldList(holds: former.holds.filter { !$0.isOver(at: now) })
    if rest != former { try store.folder.write(rest, of: store.identifier) }
  }

  private func changing<Result>(
    _ body: (inout HoldList, CheckpointState) throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    try store.checkMayWrite()
    try store.status.checkWritable()
    return try Coordinator(store).withLease { () throws(EngineError) in
      // Compaction of this process has chosen what to unlink before, or chooses after it.
      try store.reclamation.withLock { (_) throws(EngineError) in
        try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
          let former = try store.folder.holds(of: store.identifier)
          var list = former
          let result = try body(&list, checkpoints)
          if list != former { try store.folder.write(list, of: store.identifier) }
          return result
        }
      }
    }
  }

  /// The files that a generation needs.
  private func needs(
    _ generation: UInt64?, _ list: HoldList, _ checkpoints: CheckpointState
  ) throws(EngineError) -> HoldRecord.Needs {
    let generation = generation ?? checkpoints.newest?.record.generation ?? 0
    // Another hold may be all that keeps it.
    if let other = list.holds.first(where: { $0.needs.generation == generation }) { return other.needs }
    let segments = store.logSegments.segments
    guard generation <= store.generations.newest else {
      throw EngineError(
        .generationUnavailable,
        "generation \(generation) can't be held: the newest is \(store.generations.newest)", file: store.path)
    }
    let checkpoint = try PastBase.checkpoint(notAfter: generation, store, checkpoints, segments)
    let last = try lastSegment(of: generation, after: checkpoint, segments)
    let first = checkpoint?.record.replay.position.segment ?? 0
    let replayed = segments.map(\.number).filter { $0 >= first && $0 <= last }
    return HoldRecord.Needs(
      generation: generation, checkpoint: checkpoint?.position, checkpointChecksum: checkpoint?.checksum ?? 0,
      lastLogSegment: last,
      segments: Set((checkpoint?.record.segments ?? []).map(\.number) + replayed).sorted())
  }

  private static func end(_ now: Int64, _ seconds: Double?) -> Int64 {
    guard let nanoseconds = seconds.flatMap({ Int64(exactly: (max(0, $0) * 1e9).rounded()) }) else {
      return .max
    }
    let (end, overflows) = now.addingReportingOverflow(nanoseconds)
    return overflows ? .max : end
  }

  /// The segment with the last frame of a generation, or with the frame of the checkpoint if that is later.
  private func lastSegment(
    of generation: UInt64, after checkpoint: NamedCheckpoint?, _ segments: [LogSegment]
  ) throws(EngineError) -> UInt32 {
    let tail = LogSegments.tail(of: segments)
    var last = checkpoint?.position.segment ?? 0
    guard generation > checkpoint?.record.generation ?? 0,
      let start = checkpoint?.record.replay ?? tail.first?.header.firstPoint
    else { return max(last, tail.first?.number ?? 0) }
    var walk = try LogWalk(tail[...], from: start, upTo: store.logSegments.published.position)
    while walk.point.generation < generation, let frame = try walk.nextOutline() {
      last = max(last, frame.position.segment)
    }
    return last
  }
}

extension HoldList {
  /// The segments that compaction leaves where they are, at a time in nanoseconds since 1970.
  func segments(at time: Int64) -> SegmentSet {
    SegmentSet(Array(Set(holds.filter { !$0.isOver(at: time) }.flatMap(\.needs.segments))))
  }
}

extension OpenStore {
  /// The segments that holds need.
  func heldSegments() throws(EngineError) -> SegmentSet {
    try folder.holds(of: identifier).segments(at: options.clock.nanosecondsSince1970)
  }
}

extension VictimSegments {
  /// These segments without some.
  func without(_ held: SegmentSet) -> VictimSegments {
    guard !held.isEmpty else { return self }
    var rest = self
    rest.logs.removeAll { held.contains($0) }
    rest.pages.removeAll { held.contains($0) }
    return rest
  }
}

import HeartwoodFiles

/// Gives space back that nothing of the newest generation needs.
///
/// 1. `LiveCounts` says how much of each segment still lives.
/// 2. `Evacuation` moves what lives out of the segments with little left, step by step, while commits go on.
/// 3. A checkpoint names the segments that remain; both slots of the anchor name the checkpoint.
/// 4. Only then the files are unlinked. Who holds an older generation keeps their bytes: they stay mapped,
///    or open, until no pin is older than the evacuation.
///
/// A crash anywhere leaves a store whose newest checkpoint has all of its segments.
final class Reclaimer: @unchecked Sendable {
  /// Held by the one who gives space back.
  let lock = Lock()
  /// Unlinked segments that older generations may need, and the generation from which on nobody does. Under the
  /// writer lock.
  private var unlinked: [(segments: Victims, generation: UInt64)] = []
  /// How many records each sealed segment has.
  private var recordCounts: [UInt32: Int] = [:]

  /// The segments to be emptied.
  struct Victims {
    var logs: [UInt32] = []
    var pages: [UInt32] = []
    var isEmpty: Bool { logs.isEmpty && pages.isEmpty }
  }

  /// Segments are emptied of which less than this lives.
  static let wantedShare = 0.85
  /// Below so many bytes of pages nothing is gained.
  private static let leastPageBytes = 1 << 20

  // MARK: Choosing

  /// What is worth emptying. Under the lock of checkpoints, and this one's.
  func victims(_ store: OpenStore, share: Double) throws(EngineError) -> Victims {
    let pinned = PinnedGeneration(store.generations)
    let counts = try LiveCounts(TreeView(space: store.space, root: pinned.pin.root))
    var victims = Victims()
    for segment in store.log.segments where segment.number != store.log.last.number {
      let records = try recordCount(of: segment, store.log)
      if Double(counts.values[segment.number]) < share * Double(records) {
        victims.logs.append(segment.number)
      }
    }
    let parts = store.pages.parts
    let live = parts.reduce(0) { $0 + counts.pages[$1.segment.number] }
    let all = parts.reduce(0) { $0 + $1.extent.pages }
    if all * Format.pageBytes > Self.leastPageBytes, Double(live) < share * Double(all) {
      victims.pages = parts.map(\.segment.number)
    }
    return victims
  }

  private func recordCount(of segment: LogSegment, _ log: Log) throws(EngineError) -> Int {
    if let known = recordCounts[segment.number] { return known }
    guard let end = log.end(of: segment.number) else { return 0 }
    let position = LogPosition(segment: segment.number, offset: end.offset)
    var walk = try LogWalk([segment][...], from: segment.header.firstPoint, upTo: position)
    var count = 0
    while let frame = try walk.nextOutline() { count += Int(frame.header.recordCount) }
    recordCounts[segment.number] = count
    return count
  }

  // MARK: Giving back

  /// Lets go of segments that nothing refers to. Under the lock of checkpoints, and this one's, when a
  /// checkpoint without them is named by both slots of the anchor.
  func unlink(_ victims: Victims, _ store: OpenStore) {
    store.folder.unlink(victims.logs.map(SegmentName.log) + victims.pages.map(SegmentName.pages))
    for number in victims.logs { recordCounts[number] = nil }
    store.writer.withLockInBackground {
      unlinked.append((victims, store.generations.newest))
      release(store)
    }
  }

  /// Gives the memory and the bytes of unlinked segments back that no pin needs any more. Under the locks of
  /// checkpoints and of the writer.
  func release(_ store: OpenStore) {
    guard let first = unlinked.first else { return }
    if let oldest = store.generations.oldestPinned, oldest < first.generation { return }
    unlinked.removeFirst()
    for number in first.segments.logs { store.log.table.remove(number) }
    for number in first.segments.pages { store.space.removeSegment(number) }
    release(store)
  }
}

/// What giving space back has done.
public struct ReclaimedSpace: Hashable, Sendable {
  /// The bytes of all files before.
  public var bytesBefore: Int64
  /// The bytes of all files after.
  public var bytesAfter: Int64
  /// How many values were moved.
  public var movedValues: Int
  /// How many bytes of the log the moved values take.
  public var movedBytes: Int64
}

extension OpenStore {
  /// Gives all space back that is worth it.
  func reclaim() throws(EngineError) -> ReclaimedSpace {
    try checkMayWrite()
    try writer.withLock { () throws(EngineError) in try status.checkWritable() }
    return try reclaimer.lock.withLock { () throws(EngineError) in
      var space = ReclaimedSpace(bytesBefore: try fileBytes(), bytesAfter: 0, movedValues: 0, movedBytes: 0)
      let victims = try beginReclaiming()
      if !victims.isEmpty {
        var evacuation = Evacuation(self, victims)
        while try evacuation.step() {}
        space.movedValues = evacuation.movedValues
        space.movedBytes = Int64(evacuation.movedBytes)
        try finishReclaiming(victims)
      }
      space.bytesAfter = try fileBytes()
      return space
    }
  }

  /// Chooses the segments, and sees to it that nothing is written to them any more.
  private func beginReclaiming() throws(EngineError) -> Reclaimer.Victims {
    try checkpoints.withLock { () throws(EngineError) in
      // What the log ends in may be the worst of all; frames behind the checkpoint have to stay.
      try writer.withLock { () throws(EngineError) in
        try commits.drain()
        if log.end.position.offset > Format.segmentHeaderBytes { try roll() }
      }
      try takeCheckpoint(isForced: true)
      let victims = try reclaimer.victims(self, share: Reclaimer.wantedShare)
      if !victims.pages.isEmpty { pages.seal() }
      return victims
    }
  }

  private func finishReclaiming(_ victims: Reclaimer.Victims) throws(EngineError) {
    try checkpoints.withLock { () throws(EngineError) in
      // No checkpoint is under way that could still name them, with a tree that needs them.
      log.drop(SegmentSet(victims.logs))
      pages.drop(SegmentSet(victims.pages))
      try takeCheckpoint(isForced: true)
      // The other slot too: a store is opened by either.
      try updateAnchor { _ in }
      reclaimer.unlink(victims, self)
    }
  }
}

extension Evacuation {
  init(_ store: OpenStore, _ victims: Reclaimer.Victims) {
    self.init(store, logs: SegmentSet(victims.logs), pages: SegmentSet(victims.pages))
  }
}

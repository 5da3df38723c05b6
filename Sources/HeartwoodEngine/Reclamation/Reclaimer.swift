import HeartwoodFiles
import Synchronization

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
  /// Held by the one who gives space back. With it, this process may give way to others that write.
  let lock = Lock()
  /// Unlinked segments that older generations may need, and the generation from which on nobody does. Under the
  /// writer lock.
  private var unlinked: [(segments: Victims, generation: UInt64)] = []
  /// What each segment has that is not written any more.
  private var contents: [UInt32: Contents] = [:]

  /// What a segment of the log has, dead or alive.
  struct Contents {
    var records = 0
    /// Without the frames that they lie in.
    var recordBytes = 0
  }

  /// The segments to be emptied.
  struct Victims {
    var logs: [UInt32] = []
    var pages: [UInt32] = []
    /// Leaves that have room are to be filled.
    var compactsLeaves = false
    var isEmpty: Bool { count == 0 }
    var count: Int { logs.count + pages.count }
  }

  /// What is moved beside commits at once: so much at most, and a part of what lives. Until the end, it is there twice.
  private static let leastMove = 32 << 20
  /// Beside commits space is given back above so many times what lives, down to this.
  private static let targetSpaceAmplification = 1.2
  /// How much a file has to shrink that it is done beside commits.
  private static let maxSpaceAmplification = 1.3
  /// Above so many times what lives, checkpoints come twice as often: each is an occasion to give space back.
  private static let urgentSpaceAmplification = 1.5

  /// What the files took when they were looked through beside commits the last time.
  private var lastSurvey: SpaceSurvey?
  /// Whether there was so much garbage then that the next checkpoint is not to wait for its usual time.
  let needsEarlyCheckpoint = Atomic(false)

  /// What was seen when the tree was walked.
  struct SpaceSurvey {
    /// The least that the files took since.
    var total: Int
    let live: Int
    let keys: UInt64

    /// Whether it is worth while to walk the tree again. That takes O(number of keys), so it is not done at each checkpoint
    /// of a large store: only where there is much garbage if values are as long as they were, and, as they may not be, where
    /// the files have grown by a quarter of what lived.
    func isStale(total: Int, keys: UInt64) -> Bool {
      let expected = Double(live) * Double(keys) / Double(max(1, self.keys))
      return Double(total) > maxSpaceAmplification * expected || total - self.total > live / 4
    }
  }

  /// What is worth emptying beside commits. Under the lock of checkpoints, and this one's.
  func victims(_ store: OpenStore) throws(EngineError) -> Victims {
    needsEarlyCheckpoint.store(false, ordering: .relaxed)
    guard mayExceedThreshold(store) else { return Victims() }
    let occupancy = try Occupancy(store)
    // Full leaves are split by the next new keys, so they are filled where there are hardly any.
    let isSteady =
      lastSurvey.map { max($0.keys, occupancy.keys) - min($0.keys, occupancy.keys) < $0.keys / 64 } ?? false
    lastSurvey = SpaceSurvey(total: occupancy.total, live: occupancy.live, keys: occupancy.keys)
    guard exceedsThreshold(occupancy, store.options) else { return Victims() }
    let victims = occupancy.victims(
      Occupancy.Aim(
        pageShare: 0.6, rest: Self.targetSpaceAmplification, limit: max(Self.leastMove, occupancy.live / 4),
        compactsLeaves: isSteady
      ))
    let isPressing = Double(occupancy.total) > Self.urgentSpaceAmplification * Double(occupancy.live)
    needsEarlyCheckpoint.store(isPressing && !victims.isEmpty, ordering: .relaxed)
    return victims
  }

  /// Whether to walk the tree may find enough.
  private func mayExceedThreshold(_ store: OpenStore) -> Bool {
    guard var look = lastSurvey else { return true }
    let total = Occupancy.total(store)
    look.total = min(look.total, total)
    lastSurvey = look
    return look.isStale(total: total, keys: PinnedGeneration(store.generations).pin.root.count)
  }

  /// What a segment has that is not written any more. Under this lock.
  func contents(of segment: LogSegment, _ log: Log) throws(EngineError) -> Contents {
    if let known = contents[segment.number] { return known }
    var found = Contents()
    guard let end = log.path.end(of: segment.number) else { return found }
    let position = LogPosition(segment: segment.number, offset: end.offset)
    var walk = try LogWalk([segment][...], from: segment.header.firstPoint, upTo: position)
    while let frame = try walk.nextOutline() {
      found.records += Int(frame.header.recordCount)
      found.recordBytes += Int(frame.header.payloadBytes)
    }
    contents[segment.number] = found
    return found
  }

  /// Whether it is worth while to give space back unasked.
  func exceedsThreshold(_ occupancy: Occupancy, _ options: EngineOptions) -> Bool {
    occupancy.total - occupancy.live > options.toleratedGarbage
      && Double(occupancy.total) > Self.maxSpaceAmplification * Double(occupancy.live)
  }

  // MARK: Giving back

  /// Lets go of segments that nothing refers to. Under the lock of checkpoints, and this one's, when a
  /// checkpoint without them is named by both slots of the anchor.
  func unlink(_ victims: Victims, _ store: OpenStore) {
    // Other processes know where to look instead.
    guard (try? store.publishRecord()) != nil else { return }
    store.folder.unlink(victims.logs.map(SegmentName.log) + victims.pages.map(SegmentName.pages))
    for number in victims.logs { contents[number] = nil }
    // Unmapping takes milliseconds: not while commits wait.
    let released = store.writer.withLockInBackground {
      unlinked.append((victims, store.generations.newest))
      return release(store)
    }
    withExtendedLifetime(released) {}
  }

  /// Takes note of segments that another process has given back, which generations before this one may need. Under the
  /// writer lock.
  func notePeerReclaimed(_ victims: Victims, generation: UInt64) {
    if !victims.isEmpty { unlinked.append((victims, generation)) }
  }

  /// Takes the unlinked segments out of the store that no pin needs any more. Under the locks of checkpoints and of
  /// the writer.
  ///
  /// - Returns: what keeps their memory and their bytes, to be let go of without the writer lock.
  func release(_ store: OpenStore) -> [AnyObject] {
    var released: [AnyObject?] = []
    while let first = unlinked.first, !isNeeded(first.generation, store) {
      unlinked.removeFirst()
      released += first.segments.logs.map { store.log.table.remove($0) }
      released += first.segments.pages.map { store.space.removeSegment($0) }
    }
    return released.compactMap { $0 }
  }

  /// Whether somebody holds a generation before this one.
  private func isNeeded(_ generation: UInt64, _ store: OpenStore) -> Bool {
    return store.generations.oldestPinned.map { $0 < generation } ?? false
  }
}

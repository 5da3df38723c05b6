import HeartwoodFiles
import Synchronization

/// Reclaims space that the newest generation does not reference.
///
/// 1. `LiveCounts` counts the live data in each segment.
/// 2. `Evacuation` moves the live data out of segments with a small live share, step by step, while commits continue.
/// 3. A checkpoint references the remaining segments; both slots of the anchor reference the checkpoint.
/// 4. Only then are the files unlinked. They stay mapped or open for readers of older generations, until no pin is older
///    than the evacuation.
///
/// A crash at any point leaves a store whose newest checkpoint has all of its segments.
final class Reclaimer: @unchecked Sendable {
  /// Held while space is reclaimed, and by verification and backup, which keep reclamation out. A thread that holds it may
  /// wait for the lease.
  let lock = Lock()
  /// Unlinked segments that older generations may need, and the first generation that does not. Guarded by the writer
  /// lock.
  private var unlinked: [(segments: VictimSegments, generation: UInt64)] = []
  /// The records of complete log segments, by segment number. Guarded by `lock`.
  private var contents: [UInt32: Contents] = [:]

  /// The records of a log segment, live or not.
  struct Contents {
    var records = 0
    /// Without frame headers.
    var recordBytes = 0
  }

  /// Bytes that one background reclamation may move in any case; in a large store it may move a quarter of the live bytes.
  /// Limited because moved data is stored twice until the end.
  private static let leastMove = 32 << 20
  /// Background reclamation aims at files of this multiple of the live bytes.
  private static let targetSpaceAmplification = 1.2
  /// Background reclamation starts when files exceed this multiple of the live bytes.
  private static let maxSpaceAmplification = 1.3
  /// Above this multiple of the live bytes, checkpoints are taken twice as often, because reclamation runs with them.
  private static let urgentSpaceAmplification = 1.5

  /// The last survey of the background reclamation. Guarded by `lock`.
  private var lastSurvey: SpaceSurvey?
  /// Whether the last survey found so much garbage that checkpoints are taken twice as often.
  let needsEarlyCheckpoint = Atomic(false)

  /// The result of a walk of the tree.
  struct SpaceSurvey {
    /// The smallest size of all files since, in bytes.
    var total: Int
    /// Live bytes.
    let live: Int
    let keys: UInt64

    /// Whether to walk the tree again. A walk takes O(number of keys), so it is not done at each checkpoint: only if there
    /// is much garbage, assuming that the average size of a value is unchanged, or if the files have grown by a quarter of
    /// the live bytes, as it may have changed.
    func isStale(total: Int, keys: UInt64) -> Bool {
      let expected = Double(live) * Double(keys) / Double(max(1, self.keys))
      return Double(total) > maxSpaceAmplification * expected || total - self.total > live / 4
    }
  }

  /// The segments that a background reclamation empties; none if there is little garbage.
  ///
  /// - Precondition: The caller holds `OpenStore.checkpoints` and `lock`.
  /// - Complexity: O(number of keys) if the last survey is stale, else O(number of segments).
  func victims(_ store: OpenStore) throws(EngineError) -> VictimSegments {
    needsEarlyCheckpoint.store(false, ordering: .relaxed)
    guard mayExceedThreshold(store) else { return VictimSegments() }
    let occupancy = try Occupancy(store)
    // New keys would split full leaves again, so leaves are compacted only if the number of keys is nearly constant.
    let isSteady =
      lastSurvey.map { max($0.keys, occupancy.keys) - min($0.keys, occupancy.keys) < $0.keys / 64 } ?? false
    lastSurvey = SpaceSurvey(total: occupancy.total, live: occupancy.live, keys: occupancy.keys)
    guard exceedsThreshold(occupancy, store.options) else { return VictimSegments() }
    let victims = occupancy.victims(
      Occupancy.Aim(
        pageShare: 0.6, rest: Self.targetSpaceAmplification, limit: max(Self.leastMove, occupancy.live / 4),
        compactsLeaves: isSteady
      ))
    let isPressing = Double(occupancy.total) > Self.urgentSpaceAmplification * Double(occupancy.live)
    needsEarlyCheckpoint.store(isPressing && !victims.isEmpty, ordering: .relaxed)
    return victims
  }

  /// Whether a walk of the tree may find enough garbage.
  private func mayExceedThreshold(_ store: OpenStore) -> Bool {
    guard var look = lastSurvey else { return true }
    let total = Occupancy.total(store)
    look.total = min(look.total, total)
    lastSurvey = look
    return look.isStale(total: total, keys: PinnedGeneration(store.generations).pin.root.count)
  }

  /// The records of a complete log segment. Reads the frame headers once, then remembers the result.
  ///
  /// - Precondition: The caller holds `lock`.
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

  /// Whether there is enough garbage for reclamation without a request.
  func exceedsThreshold(_ occupancy: Occupancy, _ options: EngineOptions) -> Bool {
    occupancy.total - occupancy.live > options.toleratedGarbage
      && Double(occupancy.total) > Self.maxSpaceAmplification * Double(occupancy.live)
  }

  // MARK: Releasing

  /// Unlinks segments that the newest generation does not reference.
  ///
  /// - Precondition: The caller holds `OpenStore.checkpoints` and `lock`. Both slots of the anchor reference a checkpoint
  ///   without these segments.
  func unlink(_ victims: VictimSegments, _ store: OpenStore) {
    // Publish a record first: a process that misses a file then finds a changed record, and reloads from the new
    // checkpoint. If publishing fails, the files stay.
    guard (try? store.publishRecord()) != nil else { return }
    store.folder.unlink(victims.logs.map(SegmentName.log) + victims.pages.map(SegmentName.pages))
    for number in victims.logs { contents[number] = nil }
    // Unmapping takes milliseconds, so it is done without the writer lock.
    let released = store.writer.withLockInBackground {
      unlinked.append((victims, store.generations.newest))
      return release(store)
    }
    withExtendedLifetime(released) {}
  }

  /// Records segments that another process has reclaimed and that generations before `generation` may need.
  ///
  /// - Precondition: The caller holds the writer lock.
  func notePeerReclaimed(_ victims: VictimSegments, generation: UInt64) {
    if !victims.isEmpty { unlinked.append((victims, generation)) }
  }

  /// Removes unlinked segments from the store's tables once no pinned generation needs them.
  ///
  /// - Precondition: The caller holds `OpenStore.checkpoints` and the writer lock.
  /// - Returns: The owners of their memory and files, which the caller releases without the writer lock.
  func release(_ store: OpenStore) -> [AnyObject] {
    var released: [AnyObject?] = []
    while let first = unlinked.first, !isNeeded(first.generation, store) {
      unlinked.removeFirst()
      released += first.segments.logs.map { store.log.table.remove($0) }
      released += first.segments.pages.map { store.space.removeSegment($0) }
    }
    return released.compactMap { $0 }
  }

  /// Whether an older generation than this one is pinned.
  private func isNeeded(_ generation: UInt64, _ store: OpenStore) -> Bool {
    return store.generations.oldestPinned.map { $0 < generation } ?? false
  }
}

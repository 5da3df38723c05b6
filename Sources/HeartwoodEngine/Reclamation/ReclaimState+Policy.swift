/// Decides whether and what to compact.
extension ReclaimState {
  /// Bytes that one background reclamation may move in any case; in a large store it may move a quarter of the live bytes.
  /// Limited because moved data is stored twice until the end.
  private static let leastMove = 32 << 20
  /// Background reclamation aims at files of this multiple of the live bytes.
  private static let targetSpaceAmplification = 1.2
  /// Background reclamation starts when files exceed this multiple of the live bytes.
  fileprivate static let maxSpaceAmplification = 1.3
  /// Above this multiple of the live bytes, checkpoints are taken twice as often, because reclamation runs with them.
  private static let urgentSpaceAmplification = 1.5

  /// The segments that a background reclamation empties; none if there is little garbage.
  ///
  /// - Complexity: O(number of keys) if the last survey is stale, else O(number of segments).
  func victims(_ store: OpenStore, _ checkpoints: CheckpointState) throws(EngineError) -> VictimSegments {
    store.throttle.needsEarlyCheckpoint.store(false, ordering: .relaxed)
    guard mayExceedThreshold(store, checkpoints) else { return VictimSegments() }
    let occupancy = try Occupancy(store, checkpoints, self)
    // New keys would split full leaves again, so leaves are compacted only if the number of keys is nearly constant.
    let isSteady =
      lastSurvey.map { max($0.keys, occupancy.keys) - min($0.keys, occupancy.keys) < $0.keys / 64 } ?? false
    lastSurvey = SpaceSurvey(
      total: occupancy.total, live: occupancy.live, keys: occupancy.keys, heldGarbage: occupancy.heldGarbage)
    guard exceedsThreshold(occupancy, tolerated: store.options.toleratedGarbage) else {
      return VictimSegments()
    }
    let victims = occupancy.victims(
      Occupancy.Aim(
        pageShare: 0.6, rest: Self.targetSpaceAmplification, limit: max(Self.leastMove, occupancy.live / 4),
        compactsLeaves: isSteady
      ))
    let isPressing = Double(occupancy.reclaimable) > Self.urgentSpaceAmplification * Double(occupancy.live)
    store.throttle.needsEarlyCheckpoint.store(isPressing && !victims.isEmpty, ordering: .relaxed)
    return victims
  }

  /// Whether a walk of the tree may find enough garbage.
  private func mayExceedThreshold(_ store: OpenStore, _ checkpoints: CheckpointState) -> Bool {
    guard var survey = lastSurvey else { return true }
    let total = checkpoints.storeBytes(store.logSegments)
    survey.total = min(survey.total, total)
    lastSurvey = survey
    return survey.isStale(total: total, keys: PinnedGeneration(store.generations).pin.root.count)
  }

  /// The records of a complete log segment. Reads the frame headers once, then remembers the result.
  func contents(of segment: LogSegment, _ log: LogSegments) throws(EngineError) -> Contents {
    if let known = contents[segment.number] { return known }
    guard let end = log.end(of: segment.number) else { return Contents() }
    let found = try Contents(
      of: segment, upTo: LogPosition(segment: segment.number, offset: end.offset))
    contents[segment.number] = found
    return found
  }

  /// Whether there is enough garbage for reclamation without a request.
  ///
  /// - Parameter tolerated: The bytes of garbage that are not worth the work.
  func exceedsThreshold(_ occupancy: Occupancy, tolerated: Int) -> Bool {
    occupancy.reclaimable - occupancy.live > tolerated
      && Double(occupancy.reclaimable) > Self.maxSpaceAmplification * Double(occupancy.live)
  }
}

extension ReclaimState.Contents {
  /// Reads the frame headers of a log segment.
  init(of segment: LogSegment, upTo end: LogPosition) throws(EngineError) {
    var walk = try LogWalk([segment][...], from: segment.header.firstPoint, upTo: end)
    while let frame = try walk.nextOutline() {
      records += Int(frame.header.recordCount)
      recordBytes += Int(frame.header.payloadBytes)
    }
  }
}

extension ReclaimState.SpaceSurvey {
  /// Whether to walk the tree again. A walk takes O(number of keys), so it is not done at each checkpoint: only if there
  /// is much garbage, assuming that the average size of a value is unchanged, or if the files have grown by a quarter of
  /// the live bytes, as it may have changed.
  func isStale(total: Int, keys: UInt64) -> Bool {
    let expected = Double(live) * Double(keys) / Double(max(1, self.keys))
    return Double(total - heldGarbage) > ReclaimState.maxSpaceAmplification * expected
      || total - self.total > live / 4
  }
}

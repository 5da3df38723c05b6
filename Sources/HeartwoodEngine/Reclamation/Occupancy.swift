/// The live bytes of each file of a store: those that the newest generation references.
struct Occupancy {
  /// A log segment that is no longer written, or a page segment.
  struct Part {
    let number: UInt32
    let bytes: Int
    /// Live bytes. For a log segment estimated from the number of live values and the average size of a record, without
    /// the frames: the frames of small transactions take much more space than those that moving writes.
    let live: Int
    /// Number of leaves that reference a log segment; 0 for page segments.
    var leaves = 0
    /// Whether a held generation needs it.
    let isHeld: Bool

    /// Live share of the bytes, 0 to 1.
    var share: Double { bytes > 0 ? Double(live) / Double(bytes) : 1 }
  }

  private(set) var logs: [Part] = []
  private(set) var pages: [Part] = []
  /// Bytes of all parts and of the log's last segment.
  let total: Int
  /// Live bytes of `total`.
  private(set) var live = 0
  /// Bytes of `total` that are not live, and that held generations need.
  private(set) var heldGarbage = 0
  private let held: SegmentSet
  /// Average fill of the tree's leaves, 0 to 1.
  let fill: Double
  private let leaves: Int
  let keys: UInt64

  /// Bytes of all parts but those that only held generations need.
  var reclaimable: Int { total - heldGarbage }

  /// Walks the tree of the newest generation. Reads no values.
  ///
  /// - Parameter readsTail: Whether the records of the log's last segment are counted. Otherwise their average size is assumed to
  ///   be that of the others.
  /// - Complexity: O(number of keys).
  init(
    _ store: OpenStore, _ checkpoints: CheckpointState, _ reclamation: ReclaimState, readsTail: Bool = false
  ) throws(EngineError) {
    let pinned = PinnedGeneration(store.generations)
    let counts = try LiveCounts(TreeView(space: store.space, root: pinned.pin.root))
    held = try store.heldSegments()
    fill = counts.fill
    leaves = counts.leaves
    total = checkpoints.storeBytes(store.logSegments)
    keys = pinned.pin.root.count
    try addLogs(store.logSegments, counts, reclamation, readsTail: readsTail)
    for part in checkpoints.pages.parts {
      let number = part.segment.number
      add(
        Part(
          number: number, bytes: part.extent.pages * Format.pageBytes,
          live: counts.pages[number] * Format.pageBytes, isHeld: held.contains(number)), to: \.pages)
    }
  }

  private mutating func addLogs(
    _ log: LogSegments, _ counts: LiveCounts, _ reclamation: ReclaimState, readsTail: Bool
  ) throws(EngineError) {
    let segments = log.segments
    guard let last = segments.last else { return }
    var all = ReclaimState.Contents()
    for segment in segments.dropLast() {
      guard let end = log.end(of: segment.number)?.offset else { continue }
      let contents = try reclamation.contents(of: segment, log)
      let values = counts.values[segment.number]
      let live = values.count * contents.recordBytes / max(1, contents.records)
      add(
        Part(
          number: segment.number, bytes: end, live: min(end, live), leaves: values.leaves,
          isHeld: held.contains(segment.number)), to: \.logs)
      all.records += contents.records
      all.recordBytes += contents.recordBytes
    }
    let tail = log.published.position
    if readsTail { all = try ReclaimState.Contents(of: last, upTo: tail) }
    live +=
      all.records > 0
      ? min(tail.offset, counts.values[last.number].count * all.recordBytes / all.records) : tail.offset
  }

  private mutating func add(_ part: Part, to parts: WritableKeyPath<Self, [Part]>) {
    self[keyPath: parts].append(part)
    live += part.live
    if part.isHeld { heldGarbage += part.bytes - part.live }
  }

  // MARK: Choosing

  /// Criteria for choosing segments.
  struct Aim {
    /// Log segments with a smaller live share are chosen.
    var logShare = 0.85
    /// Page segments with a smaller live share are chosen.
    var pageShare = 0.85
    /// Target space amplification: segments are chosen until the total is this multiple of the live bytes.
    var rest = 0.0
    /// Greatest number of live bytes to move. Exceeded by a first segment that is larger, and by pages that are rewritten
    /// because values move.
    var limit = Int.max
    /// Whether the limit applies to the first segment and to rewritten pages too.
    var isStrict = false
    /// Whether leaves are compacted. All page segments are then chosen if the leaves have much free space.
    var compactsLeaves = false
  }

  /// Average fill of the leaves below which compacting them is worthwhile. Leaves of random keys have about this fill.
  private static let packedShare = 0.85

  /// Upper bound of the bytes that emptying the victims writes before it frees any: their values, and every leaf, as each may
  /// reference one of them.
  func cost(of victims: VictimSegments) -> Int {
    let (emptyLogs, emptyPages) = (SegmentSet(victims.logs), SegmentSet(victims.pages))
    let values = logs.filter { emptyLogs.contains($0.number) }.reduce(0) { $0 + $1.live }
    let lived = pages.filter { emptyPages.contains($0.number) }.reduce(0) { $0 + $1.live }
    return values + max(lived, victims.logs.isEmpty ? 0 : leaves * Format.pageBytes)
  }

  /// The segments to empty, those with the smallest live share first.
  func victims(_ aim: Aim) -> VictimSegments {
    var victims = VictimSegments()
    var (excess, moved, rewritten) = (reclaimable - Int(aim.rest * Double(live)), 0, 0)
    func choose(_ parts: [Part], _ share: Double, _ chosen: inout [UInt32]) {
      for part in parts.sorted(by: { $0.share < $1.share }) where part.share < share && !part.isHeld {
        guard excess > 0, (moved == 0 && !aim.isStrict) || moved + part.live <= aim.limit else { return }
        chosen.append(part.number)
        moved += part.live
        rewritten += part.leaves
        excess -= part.bytes - part.live
      }
    }
    choose(pages, aim.compactsLeaves && fill < Self.packedShare ? 2 : aim.pageShare, &victims.pages)
    choose(logs, aim.logShare, &victims.logs)
    // Moving the values rewrites most leaves anyway.
    if rewritten > leaves / 2, !aim.isStrict { victims.pages = pages.filter { !$0.isHeld }.map(\.number) }
    victims.compactsLeaves = aim.compactsLeaves && !victims.pages.isEmpty
    return victims
  }
}

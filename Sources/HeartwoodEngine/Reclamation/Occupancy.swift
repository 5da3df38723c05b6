/// How much of each file of a store lives: what the newest generation leads to.
struct Occupancy {
  /// A file that is not written any more, or a part of pages.
  struct Part {
    let number: UInt32
    let bytes: Int
    /// Estimated from the number of records, as if all of a file's were of one length; frames do not count, as those
    /// of small transactions take much more than what is moved together.
    let live: Int
    /// The leaves that lead into it; none into pages.
    var leaves = 0

    var share: Double { bytes > 0 ? Double(live) / Double(bytes) : 1 }
  }

  private(set) var logs: [Part] = []
  private(set) var pages: [Part] = []
  /// Bytes of all of them and of the segment that the log ends in.
  let total: Int
  /// What of it lives.
  private(set) var live = 0
  /// How full the leaves of the tree are.
  let fill: Double
  private let leaves: Int
  let keys: UInt64

  /// Looks through the tree of the newest generation. Under the reclaimer's lock and that of checkpoints.
  ///
  /// - Complexity: O(number of keys); no value is read.
  init(_ store: OpenStore) throws(EngineError) {
    let pinned = PinnedGeneration(store.generations)
    let counts = try LiveCounts(TreeView(space: store.space, root: pinned.pin.root))
    fill = counts.fill
    leaves = counts.leaves
    total = Self.total(store)
    keys = pinned.pin.root.count
    try addLogs(store, counts)
    for part in store.pages.parts {
      let number = part.segment.number
      add(
        Part(
          number: number, bytes: part.extent.pages * Format.pageBytes,
          live: counts.pages[number] * Format.pageBytes), to: \.pages)
    }
  }

  /// The bytes of all files, with no look at what lives.
  static func total(_ store: OpenStore) -> Int {
    let last = store.log.last.number
    let logs = store.log.segments.reduce(store.log.published.position.offset) { sum, segment in
      sum + (segment.number == last ? 0 : store.log.path.end(of: segment.number)?.offset ?? 0)
    }
    return store.pages.parts.reduce(logs) { $0 + $1.extent.pages * Format.pageBytes }
  }

  private mutating func addLogs(_ store: OpenStore, _ counts: LiveCounts) throws(EngineError) {
    let last = store.log.last.number
    var all = Reclaimer.Contents()
    for segment in store.log.segments where segment.number != last {
      guard let end = store.log.path.end(of: segment.number)?.offset else { continue }
      let contents = try store.reclaimer.contents(of: segment, store.log)
      let values = counts.values[segment.number]
      let live = values.count * contents.recordBytes / max(1, contents.records)
      add(Part(number: segment.number, bytes: end, live: min(end, live), leaves: values.leaves), to: \.logs)
      all.records += contents.records
      all.recordBytes += contents.recordBytes
    }
    // What is still written has not been counted: its records are taken to be like the others.
    let tail = store.log.published.position.offset
    live += all.records > 0 ? min(tail, counts.values[last].count * all.recordBytes / all.records) : tail
  }

  private mutating func add(_ part: Part, to parts: WritableKeyPath<Self, [Part]>) {
    self[keyPath: parts].append(part)
    live += part.live
  }

  // MARK: Choosing

  /// How much is chosen.
  struct Aim {
    /// Segments of the log are emptied of which less than this lives.
    var logShare = 0.85
    /// And of pages, which commits rewrite all the time.
    var pageShare = 0.85
    /// Enough is chosen to come to so many times what lives.
    var rest = 0.0
    /// How many bytes are moved at most, but for one segment, and for pages that are written anew as values move.
    var limit = Int.max
    /// What would pass the limit is left out, the first segment too.
    var isStrict = false
    /// Leaves that have room are filled, so that all pages are emptied where many have.
    var compactsLeaves = false
  }

  /// Leaves that are filled less than this can be filled to some use; those of random keys are at about this.
  private static let packedShare = 0.85

  /// What emptying these takes until it gives anything back, at most: the values, and every leaf, which leads to some of them.
  func cost(of victims: Reclaimer.Victims) -> Int {
    let (emptyLogs, emptyPages) = (SegmentSet(victims.logs), SegmentSet(victims.pages))
    let values = logs.filter { emptyLogs.contains($0.number) }.reduce(0) { $0 + $1.live }
    let lived = pages.filter { emptyPages.contains($0.number) }.reduce(0) { $0 + $1.live }
    return values + max(lived, victims.logs.isEmpty ? 0 : leaves * Format.pageBytes)
  }

  /// What is to be emptied, the emptiest first.
  func victims(_ aim: Aim) -> Reclaimer.Victims {
    var victims = Reclaimer.Victims()
    var (excess, moved, rewritten) = (total - Int(aim.rest * Double(live)), 0, 0)
    func choose(_ parts: [Part], _ share: Double, _ chosen: inout [UInt32]) {
      for part in parts.sorted(by: { $0.share < $1.share }) where part.share < share {
        guard excess > 0, (moved == 0 && !aim.isStrict) || moved + part.live <= aim.limit else { return }
        chosen.append(part.number)
        moved += part.live
        rewritten += part.leaves
        excess -= part.bytes - part.live
      }
    }
    choose(pages, aim.compactsLeaves && fill < Self.packedShare ? 2 : aim.pageShare, &victims.pages)
    choose(logs, aim.logShare, &victims.logs)
    // Most leaves are written anew then anyway.
    if rewritten > leaves / 2, !aim.isStrict { victims.pages = pages.map(\.number) }
    victims.compactsLeaves = aim.compactsLeaves && !victims.pages.isEmpty
    return victims
  }
}

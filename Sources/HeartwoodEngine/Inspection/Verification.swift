import HeartwoodFiles

/// Reads all of a store from its files again and checks its consistency: the anchor, every frame and record
/// of the log, every page, the tree's structure and counts, and every value.
///
/// A finding does not end it: everything readable is checked.
///
/// All files are opened before anything is read, because reclamation may delete them later.
final class Verification {
  private let store: OpenStore
  private let checkpoint: NamedCheckpoint?
  private let end: LogPoint
  private let pinned: PinnedGeneration
  /// The log, opened again.
  private var path: [LogSegment] = []
  /// Segments before the log's tail, of which only the values count, and their ends.
  private var earlier: [(segment: LogSegment, end: LogSegments.SegmentEnd)] = []
  /// The newest checkpoint's page segments, opened again.
  private var parts: [PageAppender.Part] = []
  private var report = VerificationReport()
  private let progress: ((Int64, Int64) -> Void)?
  private var done: Int64 = 0
  private var total: Int64 = 0

  init(_ store: OpenStore, progress: ((Int64, Int64) -> Void)?) {
    self.store = store
    self.progress = progress
    // In this order, so that the checkpoint is before the log's end, and the log's end before the generation.
    checkpoint = store.checkpoints.withLock { $0.newest }
    end = store.logSegments.published
    pinned = PinnedGeneration(store.generations)
    report.generation = Generation(rawValue: pinned.pin.generation)
    report.keys = pinned.pin.root.count
  }

  /// Opens the files.
  ///
  /// - Precondition: No process reclaims files meanwhile.
  func openFiles() throws(EngineError) {
    try collecting { () throws(EngineError) in try openLog() }
    for named in checkpoint?.pageSegments ?? [] {
      total += Int64(named.extent) * Int64(Format.pageBytes)
      try collecting { () throws(EngineError) in parts.append(try files.open(named)) }
    }
  }

  /// Whether anything is damaged or missing.
  var hasFindings: Bool { !report.findings.isEmpty }

  /// Verifies the store.
  ///
  /// - Precondition: `openFiles()` has returned.
  func run() throws(EngineError) -> VerificationReport {
    try checkAnchor()
    try checkLog()
    try checkPages(named: try checkCheckpoints())
    try collecting { () throws(EngineError) in _ = try store.folder.holds(of: store.identifier) }
    try collecting { () throws(EngineError) in _ = try store.folder.lineage() }
    try collecting { () throws(EngineError) in try checkTreeOnDisk() }
    try collecting { () throws(EngineError) in try checkNewestTree() }
    return report
  }

  private func find(_ finding: String) { report.add(finding) }

  /// Runs one part. Damage becomes a finding; any other error is thrown.
  private func collecting(_ body: () throws(EngineError) -> Void) throws(EngineError) {
    do {
      try body()
    } catch {
      guard error.code == .damaged else { throw error }
      find(error.description)
    }
  }

  private func advance(_ bytes: Int) {
    done += Int64(bytes)
    progress?(min(done, total), total)
  }

  // MARK: Anchor

  private func checkAnchor() throws(EngineError) {
    // A writer may be in the middle of writing a slot, but not three times in a row.
    for attempt in 0..<3 {
      let (anchor, contents) = try AnchorFile.open(store.folder, access: .readOnly, syncs: false)
      anchor.close()
      if !contents.isIncomplete { return }
      if attempt == 2 { find("one of the anchor's two slots is damaged; the next commits will renew it") }
    }
  }

  // MARK: Log

  private func openLog() throws(EngineError) {
    var options = store.options
    options.access = .readOnly
    options.reading = .buffered
    let finder = LogFinder(folder: store.folder, identifier: store.identifier, options: options)
    let image = try StoreImage(finder, checkpoint, upTo: end)
    path = image.tail
    for segment in image.segments.dropLast(path.count) {
      guard let end = store.logSegments.end(of: segment.number) else { continue }
      earlier.append((segment, end))
      total += Int64(end.offset)
    }
    if checkpoint == nil, let predecessorEnd = path.first?.header.predecessor {
      throw EngineError.damaged(
        "the log has no beginning; restore the missing files",
        file: store.folder.path(of: SegmentName.log(predecessorEnd.position.segment)))
    }
    for segment in path.dropLast() {
      total += Int64(store.logSegments.end(of: segment.number)?.offset ?? 0)
    }
    total += Int64(end.position.offset)
  }

  private func checkLog() throws(EngineError) {
    for (segment, end) in earlier { try checkAlone(segment, upTo: end) }
    try checkPath()
  }

  /// Checks the frames of a segment whose neighbours may have been reclaimed.
  private func checkAlone(_ segment: LogSegment, upTo end: LogSegments.SegmentEnd) throws(EngineError) {
    let position = LogPosition(segment: segment.number, offset: end.offset)
    var walk = try LogWalk([segment][...], from: segment.header.firstPoint, upTo: position)
    while let frame = try walk.next() { note(frame) }
    guard walk.point.position == position, walk.point.chain == end.chain else {
      return find(
        "a frame of the log is damaged (\(segment.path) at byte \(walk.point.position.offset))")
    }
  }

  private func checkPath() throws(EngineError) {
    var start = path.first?.header.firstPoint
    while let from = start {
      var walk = try LogWalk(path[...], from: from, upTo: end.position)
      while let frame = try walk.next() { note(frame) }
      if walk.point == end { return }
      if walk.point.position == end.position {
        return find("the log's last frame is not the one that was written")
      }
      find("a frame of the log is damaged (\(walk.segment.path) at byte \(walk.point.position.offset))")
      start = try pointBehindDamage(walk)
    }
  }

  private func note(_ frame: ScannedFrame) {
    report.frames += 1
    report.records += Int(frame.header.recordCount)
    advance(frame.header.totalBytes)
    guard frame.header.kind == Format.transactionKind else { return }
    var records = RecordIterator(frame.payload, firstOffset: 0)
    while let (record, _) = records.next() {
      if !record.isValid { find("a record of transaction \(frame.header.transaction) is invalid") }
    }
  }

  /// The point where frames continue after an unreadable one; nil if there are none.
  private func pointBehindDamage(_ walk: LogWalk) throws(EngineError) -> LogPoint? {
    let number = walk.segment.number
    let stop = walk.later.first?.header.predecessor?.position ?? end.position
    let scanner = FrameScanner(walk.segment, upTo: stop.segment == number ? stop.offset : nil)
    guard let found = try scanner.nextHeader(after: walk.point.position.offset) else {
      return walk.later.first?.header.firstPoint
    }
    let isTransaction = found.header.kind == Format.transactionKind
    return LogPoint(
      position: LogPosition(segment: number, offset: found.offset), sequence: found.header.sequence,
      chain: found.header.previous,
      generation: isTransaction ? found.header.transaction &- 1 : found.header.transaction)
  }

  // MARK: Checkpoints and pages

  /// For each page segment, its ends according to the checkpoints: the running checksum by number of pages.
  private typealias Ends = [UInt32: [Int: UInt64]]

  /// Checks the checkpoints, from the newest back; returns the ends of the page segments that they state.
  private func checkCheckpoints() throws(EngineError) -> Ends {
    var ends: Ends = [:]
    var next = checkpoint
    while let found = next {
      for named in found.pageSegments { ends[named.number, default: [:]][Int(named.extent)] = named.chain }
      next = nil
      guard let position = found.record.previous, path.contains(where: { $0.number == position.segment })
      else { break }
      try collecting { () throws(EngineError) in
        let older = try NamedCheckpoint.read(
          at: position, checksum: found.record.previousChecksum, in: path, folder: store.folder)
        guard older.precedes(found) else {
          throw EngineError.damaged("checkpoints do not follow one another", file: store.path)
        }
        next = older
      }
    }
    return ends
  }

  private func checkPages(named ends: Ends) throws(EngineError) {
    for part in parts {
      try collecting { () throws(EngineError) in
        try checkPages(of: part, ends: ends[part.segment.number] ?? [:])
      }
    }
  }

  private var files: PageSegmentFiles {
    var options = store.options
    options.access = .readOnly
    options.reading = .buffered
    return PageSegmentFiles(folder: store.folder, identifier: store.identifier, options: options)
  }

  private func checkPages(of part: PageAppender.Part, ends: [Int: UInt64]) throws(EngineError) {
    let page = OwnedBytes(count: Format.pageBytes)
    var chain = part.segment.header.seed
    for index in 1..<part.extent.pages {
      try part.segment.read(page: index, into: page.writable)
      let sum = PageSpace.checksum(page.bytes, segmentSeed: part.segment.header.seed, index: index)
      chain = Checksums.mix(chain, sum)
      report.pages += 1
      advance(Format.pageBytes)
      if let expected = ends[index + 1], expected != chain {
        find("a page before byte \((index + 1) * Format.pageBytes) is damaged (\(part.segment.path))")
      }
    }
  }

  // MARK: Trees

  /// Checks the newest checkpoint's tree from its files.
  private func checkTreeOnDisk() throws(EngineError) {
    guard let checkpoint, parts.count == checkpoint.pageSegments.count else { return }
    let space = try PageSpace()
    for part in parts { part.segment.add(to: space, pageCount: part.extent.pages) }
    let view = TreeView(space: space, root: checkpoint.root)
    try inspect(view) { (key, entry) throws(EngineError) in }
  }

  /// Checks the newest generation's tree, and every value that it refers to.
  private func checkNewestTree() throws(EngineError) {
    let view = TreeView(space: store.space, root: pinned.pin.root)
    let values = ReadView(view)
    try inspect(view) { [self] (key, entry) throws(EngineError) in
      guard case .position(let reference) = entry else { return }
      try collecting { () throws(EngineError) in try values.check(reference, of: key) }
    }
  }

  private func inspect(
    _ view: TreeView, _ visit: @escaping (UnsafeRawBufferPointer, TreeEntry) throws(EngineError) -> Void
  ) throws(EngineError) {
    _ = try TreeInspector.inspect(view, report: { [self] in find("the tree: \($0)") }, visit: visit)
  }
}

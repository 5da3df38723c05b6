/// The result of finding the log.
struct FoundLog {
  var folder: StoreFolder
  var anchor: AnchorFile
  var log: Log
  var checkpoint: NamedCheckpoint?
  var next: UInt32
  var unrecoveredTransactions = 0
  var seenRecord: UInt64 = 0
  /// Whether the log was recovered, because the last writer did not leave it in order, or has a later checkpoint without pages.
  var isRecovered = false

  /// The state to open.
  var image: StoreImage { StoreImage(checkpoint, log.segments, end: log.end, durable: log.durable) }
}

/// Finds the end of the log of a store that no other process writes, and recovers the log after an unclean end.
struct LogSearch {
  private let folder: StoreFolder
  private let anchor: AnchorFile
  private let options: EngineOptions

  init(_ folder: StoreFolder, _ anchor: AnchorFile, _ options: EngineOptions) {
    self.folder = folder
    self.anchor = anchor
    self.options = options
  }

  /// Finds the log, and recovers it if necessary.
  ///
  /// - Parameters:
  ///   - endsAsSaid: Whether the log ends where the anchor says, because everything after it belongs to an
  ///     unfinished backup.
  ///   - word: The record that was published before the anchor was read.
  ///   - showsUnproven: In a store that is open for reading only: whether the log ends after its last whole transaction, as a recovery
  ///     leaves it, and not after the last that is proven durable or published. No process writes the store.
  func run(
    _ contents: AnchorFile.Contents, endsAsSaid: Bool = false, _ word: PublishedRecord = PublishedRecord(),
    showsUnproven: Bool = false, recovery way: Recovery.Way = .copying
  ) throws(EngineError) -> FoundLog {
    let slot = contents.slot
    let finder = LogFinder(folder: folder, identifier: slot.identifier, options: options)
    let listing = try finder.list()
    var isExact = slot.isClean && !contents.isIncomplete
    var path = try finder.path(to: slot.lastLogSegment, listing: listing, isExact: isExact)
    if isExact, !endsAsSaid, try finder.continuesAfter(path, behind: slot.knownDurable, listing) {
      // The slot is from an earlier closing. The end of the log is searched, as after an unclean end.
      isExact = false
      path = try finder.path(to: slot.lastLogSegment, listing: listing, isExact: isExact)
    }
    let named = try NamedCheckpoint.named(by: slot, in: path, folder: folder)
    var scan = try LogScan(
      path, from: try start(named, path), knownDurable: slot.knownDurable, exactly: isExact)
    var seenRecord = word.counter
    if let record = word.record, record.identifier == slot.identifier {
      scan.take(published: record.end)
      // The first read then refreshes, and finds the missing frames.
      if !isExact, scan.durableEnd.sequence < record.end.sequence { seenRecord = 0 }
    }
    if showsUnproven, !isExact { scan.takeAll(ifSynced: path) }
    let found = try newestCheckpoint(scan, named)
    let checkpoint = found.checkpoint ?? named
    let next = max(slot.nextSegment, checkpoint?.record.nextSegment ?? 0, listing.next)
    path = LogFinder.alive(path, by: checkpoint)
    let earlier = try finder.earlier(than: path, checkpoint)
    let recovery = Recovery(
      folder: folder, anchor: anchor, options: options, path: path, earlier: earlier,
      ends: checkpoint?.ends ?? [:], scan: scan)
    let log =
      try isExact
      ? recovery.cleanLog() : recovery.run(contents, listing: listing, checkpoint, next: next, way)
    return FoundLog(
      folder: folder, anchor: anchor, log: log, checkpoint: checkpoint,
      next: isExact ? next : max(next, log.last.number + 1),
      unrecoveredTransactions: isExact || options.access == .readWrite ? 0 : scan.undurableTransactions,
      seenRecord: seenRecord, isRecovered: !isExact || found.skipsLater)
  }

  /// The point from which the log is read.
  private func start(
    _ checkpoint: NamedCheckpoint?, _ path: [LogSegment]
  ) throws(EngineError) -> LogPoint {
    if let checkpoint { return checkpoint.record.replay }
    guard let first = path.first else {
      throw EngineError.stale("the store has no log; restore the missing files", file: folder.path)
    }
    if let predecessorEnd = first.header.predecessor {
      throw EngineError.stale(
        "a file of the store is missing; restore it",
        file: folder.path(of: SegmentName.log(predecessorEnd.position.segment)))
    }
    return first.header.firstPoint
  }

  /// The last checkpoint in the log whose frame is durable, and whose pages are there. It is later than the one that the
  /// anchor names if the slot that named it is damaged.
  ///
  /// A copy that ends at an earlier generation than its last piece may have frames of checkpoints without their pages, which are
  /// skipped. What is written to their files must not make them long enough.
  private func newestCheckpoint(
    _ scan: LogScan, _ named: NamedCheckpoint?
  ) throws(EngineError) -> (checkpoint: NamedCheckpoint?, skipsLater: Bool) {
    var skipsLater = false
    for frame in scan.frames.prefix(scan.durableCount).reversed() {
      guard let checkpoint = NamedCheckpoint(frame) else { continue }
      guard checkpoint.position != named?.position else { return (checkpoint, skipsLater) }
      if try hasPages(checkpoint) { return (checkpoint, skipsLater) }
      skipsLater = true
    }
    return (nil, skipsLater)
  }

  /// Whether the files of a checkpoint's pages are long enough.
  private func hasPages(_ checkpoint: NamedCheckpoint) throws(EngineError) -> Bool {
    for named in checkpoint.pageSegments {
      let size = try folder.size(ofFile: SegmentName.pages(named.number)) ?? 0
      guard UInt64(size / Format.pageBytes) >= named.extent else { return false }
    }
    return true
  }
}

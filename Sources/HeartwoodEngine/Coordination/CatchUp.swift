/// Refreshes an open store to the state that another process has published.
///
/// - Precondition: The process does not hold the lease, or is taking it over.
struct CatchUp {
  private let store: OpenStore
  private let writer: WriterState
  private let checkpoints: CheckpointState
  /// The published end of the log.
  private let end: LogPoint
  private let durable: LogPoint

  init(
    _ store: OpenStore, _ writer: WriterState, _ checkpoints: CheckpointState, end: LogPoint,
    durable: LogPoint
  ) {
    self.store = store
    self.writer = writer
    self.checkpoints = checkpoints
    self.end = end
    self.durable = durable
  }

  /// Applies the frames after the end of the log that this process knows. If a checkpoint of another process
  /// is among them, reloads the tree from it: its pages need no memory, and segments that the checkpoint
  /// reclaimed are released here too.
  func run() throws(EngineError) {
    let (log, tree) = (writer.log, writer.tree)
    guard end != log.end else { return }
    guard end.sequence > log.end.sequence, let later = try laterSegments() else { return try beginAnew() }
    let frames = try newFrames(later)
    let checkpoint = frames.reversed().lazy.compactMap { NamedCheckpoint($0.frame) }.first
    if let checkpoint { writer.pendingReload = .checkpoint(checkpoint) }
    guard end.generation > tree.tip.generation else {
      return log.follow(later, end: end, durable: durable, bytes: Self.bytes(frames))
    }
    if case .checkpoint(let checkpoint) = writer.pendingReload {
      let image = StoreImage(checkpoint, log.segments + later, end: end, durable: durable)
      return try reload(image).run()
    }
    try apply(frames)
    log.follow(later, end: end, durable: durable, bytes: Self.bytes(frames))
    writer.generations.publish(end.generation, tree.tip.root)
  }

  private typealias Found = (frame: ScannedFrame, segment: LogSegment)

  private static func bytes(_ frames: [Found]) -> Int { frames.reduce(0) { $0 + $1.frame.header.totalBytes } }

  private func apply(_ frames: [Found]) throws(EngineError) {
    let tree = writer.tree
    let applier = LogApplier(tree: tree)
    tree.begin(generation: end.generation)
    do {
      for (frame, segment) in frames { try applier.add(frame, in: segment) }
      try applier.finish()
    } catch {
      tree.rollback()
      throw error
    }
    tree.commit()
  }

  /// The segments that continue the log; nil if the log does not continue from its end in this process.
  private func laterSegments() throws(EngineError) -> [LogSegment]? {
    var number = end.position.segment
    guard number != writer.log.last.number else { return [] }
    let finder = store.logFinder
    let listing = try finder.list()
    var later: [LogSegment] = []
    while number != writer.log.last.number {
      // A missing segment was reclaimed.
      guard listing.logs.contains(number) else { return nil }
      let segment = try finder.open(number)
      later.insert(segment, at: 0)
      guard let predecessorEnd = segment.header.predecessor, predecessorEnd.position.segment < number else {
        return nil
      }
      number = predecessorEnd.position.segment
      guard number >= writer.log.last.number else { return nil }
    }
    guard let predecessorEnd = later.first?.header.predecessor else { return later }
    // A recovery may have branched the log before the end that this process knows.
    guard predecessorEnd.sequence >= writer.log.end.sequence else { return nil }
    // A follower's copy lacks the end of a segment that was reclaimed before it was shipped.
    let length = try store.folder.size(of: writer.log.last.file)
    return predecessorEnd.position.offset <= length ? later : nil
  }

  private func newFrames(_ later: [LogSegment]) throws(EngineError) -> [Found] {
    let log = writer.log
    let stop = later.first?.header.predecessor?.position.offset ?? end.position.offset
    try log.last.extend(from: log.end.position.offset, to: stop)
    var walk = try LogWalk(([log.last] + later)[...], from: log.end, upTo: end.position)
    var frames: [Found] = []
    while let frame = try walk.next() { frames.append((frame, walk.segment)) }
    try walk.requireEnd(end)
    return frames
  }

  /// Reads everything from the newest checkpoint: the log has branched, or segments that continue it were
  /// reclaimed.
  private func beginAnew() throws(EngineError) {
    let contents = try store.anchor.file.reload(store.folder)
    let image = try StoreImage(store.logFinder, contents.slot, upTo: (end, durable))
    let reload = try reload(image)
    let tip = writer.tree.tip.generation
    guard image.end.generation > tip else {
      guard image.end.generation == tip else {
        if try isBehind(image, contents.slot) { return }
        throw EngineError.damaged(
          "another process recovered the store to an older state; close it and open it again",
          file: store.path)
      }
      return reload.reloadLogOnly()
    }
    try reload.run()
  }

  /// Whether the log continues from a published state to its end in this process. A process that opened the store for
  /// reading only may have found transactions that are durable, but not published yet.
  private func isBehind(_ image: StoreImage, _ slot: AnchorSlot) throws(EngineError) -> Bool {
    let known = writer.log.end
    let finder = store.logFinder
    let path = try finder.path(to: slot.lastLogSegment, listing: try finder.list(), isExact: false)
    guard image.end.sequence < known.sequence else { return false }
    var walk = try LogWalk(path[...], from: image.end, upTo: nil)
    while walk.point.sequence < known.sequence, try walk.next() != nil {}
    return walk.point.sequence == known.sequence && walk.point.chain == known.chain
  }

  private func reload(_ image: StoreImage) throws(EngineError) -> CheckpointReload {
    try CheckpointReload(store.folder, writer, checkpoints, image)
  }
}

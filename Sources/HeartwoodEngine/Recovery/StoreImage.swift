/// A state of a store in its files: a checkpoint, and the log after it up to an end. `Replay` makes it a tree.
struct StoreImage {
  /// Nil for the start of the log.
  let checkpoint: NamedCheckpoint?
  /// All live segments, in order: those that contain values of the checkpoint's tree, and those after it.
  let segments: [LogSegment]
  /// End of the log.
  let end: LogPoint
  /// End of the durable part of the log.
  let durable: LogPoint

  /// The ends of the segments that the checkpoint names, by number.
  var ends: [UInt32: LogSegments.SegmentEnd] { checkpoint?.ends ?? [:] }

  /// The segments through which frames are read.
  var tail: [LogSegment] { LogSegments.tail(of: segments) }

  /// Where the log after the checkpoint begins.
  var start: LogPoint { checkpoint?.record.replay ?? tail.first?.header.firstPoint ?? end }

  /// The state at another end, or from another checkpoint, whose segments are among these.
  init(_ checkpoint: NamedCheckpoint?, _ segments: [LogSegment], end: LogPoint, durable: LogPoint) {
    self.checkpoint = checkpoint
    self.segments = segments
    self.end = end
    self.durable = durable
  }

  /// Reads the state that a slot of the anchor and the shared header describe.
  ///
  /// - Parameter published: The published end and durable end, read before the slot. The image ends there, or at the
  ///   checkpoint that the slot names if that is later and not published yet; it is durable then.
  /// - Throws: A stale error if another process has removed one of the files.
  init(
    _ finder: LogFinder, _ slot: AnchorSlot, upTo published: (end: LogPoint, durable: LogPoint)
  ) throws(EngineError) {
    let last = max(published.end.position.segment, slot.checkpoint?.segment ?? 0)
    let path = try finder.path(to: last, listing: try finder.list(), isExact: true)
    checkpoint = try NamedCheckpoint.named(by: slot, in: path, folder: finder.folder)
    segments = try finder.live(path, checkpoint)
    if let checkpoint, checkpoint.position.rawValue >= published.end.position.rawValue {
      end = try Self.end(of: checkpoint, in: segments)
      durable = end
    } else {
      (end, durable) = published
    }
  }

  /// Reads the state at an end, from a checkpoint before it.
  ///
  /// - Throws: A stale error if another process has removed one of the files.
  init(_ finder: LogFinder, _ checkpoint: NamedCheckpoint?, upTo end: LogPoint) throws(EngineError) {
    let path = try finder.path(to: end.position.segment, listing: try finder.list(), isExact: true)
    self.init(checkpoint, try finder.live(path, checkpoint), end: end, durable: end)
  }

  private static func end(
    of checkpoint: NamedCheckpoint, in segments: [LogSegment]
  ) throws(EngineError) -> LogPoint {
    var walk = try LogWalk(LogSegments.tail(of: segments)[...], from: checkpoint.record.replay, upTo: nil)
    while let frame = try walk.next() {
      if frame.position == checkpoint.position { return walk.point }
    }
    throw EngineError.damaged(
      "a frame of the log before a checkpoint is damaged; restore the file", file: walk.segment.path,
      offset: walk.point.position.offset)
  }
}

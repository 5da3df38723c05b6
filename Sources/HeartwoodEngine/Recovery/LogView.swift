/// The log that a slot of the anchor and the shared header describe, found in the folder.
struct LogView {
  /// All live segments, in order.
  let segments: [LogSegment]
  let checkpoint: NamedCheckpoint?
  /// End of the log: the published one, or the end of the checkpoint if that is later and not published yet.
  let end: LogPoint
  /// Durable end: the published one, or `end` if a later checkpoint is named, which must be durable.
  let durable: LogPoint

  /// - Parameter told: The published end and durable end, read before the slot.
  init(
    _ finder: LogFinder, _ slot: AnchorSlot, upTo told: (end: LogPoint, durable: LogPoint)
  ) throws(EngineError) {
    let last = max(told.end.position.segment, slot.checkpoint?.segment ?? 0)
    let path = try finder.path(to: last, listing: try finder.list(), isExact: true)
    checkpoint = try NamedCheckpoint.named(by: slot, in: path, folder: finder.folder)
    let alive = LogFinder.alive(path, by: checkpoint)
    segments = try finder.earlier(than: alive, checkpoint) + alive
    if let checkpoint, checkpoint.position.rawValue >= told.end.position.rawValue {
      end = try Self.end(of: checkpoint, in: segments)
      durable = end
    } else {
      (end, durable) = told
    }
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

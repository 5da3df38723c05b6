/// The log as a slot of the anchor tells of it, found in the folder.
struct LogView {
  /// All that is alive, in order.
  let segments: [LogSegment]
  let checkpoint: NamedCheckpoint?
  /// Where it ends: as was told, or behind the checkpoint where others have not told of that yet.
  let end: LogPoint
  /// Up to where it is durable: as was told, or all of it, as a checkpoint is named when it is durable.
  let durable: LogPoint

  /// - Parameter told: Where the log ends, and up to where it is durable, by what was read before the slot.
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

/// The log as a slot of the anchor tells of it, found in the folder.
struct LogView {
  /// All that is alive, in order.
  let segments: [LogSegment]
  let checkpoint: NamedCheckpoint?

  /// - Parameter last: The segment that the log ends in.
  init(_ finder: LogFinder, _ slot: AnchorSlot, last: UInt32) throws(EngineError) {
    let path = try finder.path(to: last, listing: try finder.list(), isExact: true)
    checkpoint = try NamedCheckpoint.named(by: slot, in: path, folder: finder.folder)
    let alive = LogFinder.alive(path, by: checkpoint)
    segments = try finder.earlier(than: alive, checkpoint) + alive
  }
}

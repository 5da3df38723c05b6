/// The state that the holder of the checkpoint lock changes. Acquires the writer lock for short steps only.
final class CheckpointState {
  let pages: PageAppender
  /// The newest checkpoint that the anchor names.
  var newest: NamedCheckpoint? { didSet { place.note(newest) } }
  private let place: StorePlace
  /// The last checkpoint whose frame is in the log. The anchor need not name it yet.
  var last: NamedCheckpoint?

  init(_ pages: PageAppender, _ newest: NamedCheckpoint?, _ place: StorePlace) {
    self.pages = pages
    self.newest = newest
    self.place = place
    last = newest
    place.note(newest)
  }

  /// Whether pages were appended that the last checkpoint does not name.
  var hasUnnamedPages: Bool { !pages.has(last?.pageSegments ?? []) }

  /// Removes unlinked segments from the tables of readers once no pinned generation needs them.
  ///
  /// - Returns: The owners of their memory and files. The caller releases them without the writer lock, as unmapping takes
  ///   milliseconds.
  func releaseUnlinked(_ writer: WriterState) -> [AnyObject] {
    writer.unlinked.release(from: writer.tree.space, writer.generations)
  }

  /// The bytes of all segments, live or not, without those after the published end of the log. Does not walk the tree.
  func storeBytes(_ log: LogSegments) -> Int {
    let segments = log.segments
    let last = segments.last?.number
    let logs = segments.reduce(log.published.position.offset) { sum, segment in
      sum + (segment.number == last ? 0 : log.end(of: segment.number)?.offset ?? 0)
    }
    return pages.parts.reduce(logs) { $0 + $1.extent.pages * Format.pageBytes }
  }
}

/// Iterates over the frames of the log in order, across segments.
struct LogWalk {
  private let path: ArraySlice<LogSegment>
  private var index: Int
  /// Position of the next frame.
  private(set) var point: LogPoint
  /// Where to stop; nil for the last valid frame.
  private let end: LogPosition?

  /// - Parameter path: The segments in the log's order; one of them contains `point`.
  init(_ path: ArraySlice<LogSegment>, from point: LogPoint, upTo end: LogPosition?) throws(EngineError) {
    guard let index = path.firstIndex(where: { $0.number == point.position.segment }) else {
      throw EngineError.stale(
        "the log has no segment \(point.position.segment), which opening needs; restore the file",
        file: SegmentName.log(point.position.segment))
    }
    self.path = path
    self.index = index
    self.point = point
    self.end = end
  }

  /// The segment that contains `point`.
  var segment: LogSegment { path[index] }

  /// The segments after that one.
  var later: ArraySlice<LogSegment> { path[(index + 1)...] }

  /// The next frame, fully verified; nil at the end, or if there is no valid frame.
  mutating func next() throws(EngineError) -> ScannedFrame? {
    guard try advanceToFrame() else { return nil }
    return step(try scanner().frame(at: point))
  }

  /// Throws `.damaged` if the walk did not reach the end that another process has announced.
  func requireEnd(_ end: LogPoint) throws(EngineError) {
    guard point != end else { return }
    throw EngineError.damaged(
      "frames that another process has written are not readable", file: segment.path,
      offset: point.position.offset)
  }

  /// The next frame with only its header verified.
  mutating func nextOutline() throws(EngineError) -> ScannedFrame? {
    guard try advanceToFrame() else { return nil }
    return step(try scanner().outline(at: point))
  }

  private mutating func step(_ frame: ScannedFrame?) -> ScannedFrame? {
    if let frame { point = frame.next(after: point) }
    return frame
  }

  /// Advances over the ends of segments; returns false at the end of the walk.
  private mutating func advanceToFrame() throws(EngineError) -> Bool {
    while true {
      if point.position == end { return false }
      guard let successor = later.first, let predecessorEnd = successor.header.predecessor,
        predecessorEnd.position == point.position
      else { return true }
      guard predecessorEnd == point else {
        throw EngineError.damaged(
          "the segment does not continue where the previous one ends", file: successor.path)
      }
      index += 1
      point = successor.header.firstPoint
    }
  }

  private func scanner() -> FrameScanner {
    let predecessorEnd = later.first?.header.predecessor?.position.offset
    let stop = end.flatMap { $0.segment == segment.number ? $0.offset : nil }
    return FrameScanner(segment, upTo: predecessorEnd ?? stop)
  }
}

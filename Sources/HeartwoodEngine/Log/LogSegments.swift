import HeartwoodFiles

/// The segments of an open store's log, in order, and up to where its frames stay. Any thread may ask.
final class LogSegments: Sendable {
  /// Where a segment of the log ends, and the checksum of its last frame.
  struct SegmentEnd: Hashable, Sendable {
    let offset: Int
    let chain: UInt64

    init(_ point: LogPoint) {
      offset = point.position.offset
      chain = point.chain
    }

    init(_ named: CheckpointRecord.Segment) {
      offset = Int(truncatingIfNeeded: named.extent)
      chain = named.chain
    }
  }

  private struct State: Sendable {
    var segments: [LogSegment] = []
    /// Where the segments end that are not written any more, by number.
    var ends: [UInt32: SegmentEnd]

    /// What a segment says of the end of the one before it.
    mutating func noteEnd(before segment: LogSegment) {
      if let predecessorEnd = segment.header.predecessor {
        ends[predecessorEnd.position.segment] = SegmentEnd(predecessorEnd)
      }
    }

    mutating func replace(by segments: [LogSegment]) {
      self.segments = segments
      for segment in segments { noteEnd(before: segment) }
    }
  }

  private let state: Guarded<State>
  private let publishedPoint: SharedPoint

  init(_ segments: [LogSegment], published: LogPoint, ends: [UInt32: SegmentEnd]) {
    var state = State(ends: ends)
    state.replace(by: segments)
    self.state = Guarded(state)
    publishedPoint = SharedPoint(published)
  }

  /// All segments that are alive.
  var segments: [LogSegment] { state.withLock { $0.segments } }

  /// Those that go on in one another up to the last: frames are read through them.
  var tail: [LogSegment] { Self.tail(of: segments) }

  static func tail(of segments: [LogSegment]) -> [LogSegment] {
    var first = segments.count - 1
    while first > 0, segments[first].header.predecessor?.position.segment == segments[first - 1].number {
      first -= 1
    }
    return first < 0 ? segments : Array(segments[first...])
  }

  /// Where a segment ends that is not the last.
  func end(of segment: UInt32) -> SegmentEnd? { state.withLock { $0.ends[segment] } }

  /// Up to here the frames stay: those of transactions that were published, and of checkpoints.
  var published: LogPoint { publishedPoint.now }

  /// The frames up to a point stay.
  func publish(at point: LogPoint) { publishedPoint.move(to: point) }

  /// Takes segments out of the log; what was found in them before can still be read.
  func drop(_ numbers: SegmentSet) {
    state.withLock { $0.segments.removeAll { numbers.contains($0.number) } }
  }

  /// Takes note of where segments end.
  func note(_ ends: [UInt32: SegmentEnd]) { state.withLock { $0.ends.merge(ends) { $1 } } }

  func replace(by segments: [LogSegment], published: LogPoint) {
    state.withLock { state in
      state.replace(by: segments)
      publishedPoint.move(to: published)
    }
  }

  /// - Parameter published: The frames up to here stay; nil for those that did before.
  func append(_ segment: LogSegment, published: LogPoint?) {
    state.withLock { state in
      state.noteEnd(before: segment)
      state.segments.append(segment)
      if let published { publishedPoint.move(to: published) }
    }
  }

  /// Takes the segments out that lie behind one.
  func cut(behind segment: UInt32) -> (last: LogSegment?, left: [LogSegment]) {
    state.withLock { state in
      let count = (state.segments.lastIndex { $0.number == segment } ?? 0) + 1
      let left = Array(state.segments[count...])
      state.segments.removeSubrange(count...)
      return (state.segments.last, left)
    }
  }
}

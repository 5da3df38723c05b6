import HeartwoodFiles

/// The segments of an open store's log, in order, and the end of its published part. Any thread.
final class LogSegments: Sendable {
  /// The end of a segment, and the checksum of its last frame.
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
    /// The ends of segments that are complete, by number.
    var ends: [UInt32: SegmentEnd]

    /// Records the end of a segment's predecessor, which its header states.
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

  /// All live segments.
  var segments: [LogSegment] { state.withLock { $0.segments } }

  /// The last segments that directly continue one another: frames are read through them.
  var tail: [LogSegment] { Self.tail(of: segments) }

  static func tail(of segments: [LogSegment]) -> [LogSegment] {
    var first = segments.count - 1
    while first > 0, segments[first].header.predecessor?.position.segment == segments[first - 1].number {
      first -= 1
    }
    return first < 0 ? segments : Array(segments[first...])
  }

  /// The end of a segment that is not the last.
  func end(of segment: UInt32) -> SegmentEnd? { state.withLock { $0.ends[segment] } }

  /// The end of the published part: frames of published transactions, and of checkpoints, are never rolled
  /// back.
  var published: LogPoint { publishedPoint.now }

  /// Raises the end of the published part.
  func publish(at point: LogPoint) {
    assert(point.sequence >= published.sequence, "The published part of the log shrinks.")
    publishedPoint.move(to: point)
  }

  /// Removes segments from the log. Readers can still read what they have found in them.
  func drop(_ numbers: SegmentSet) {
    state.withLock { $0.segments.removeAll { numbers.contains($0.number) } }
  }

  /// Records the ends of segments.
  func note(_ ends: [UInt32: SegmentEnd]) { state.withLock { $0.ends.merge(ends) { $1 } } }

  func replace(by segments: [LogSegment], published: LogPoint) {
    state.withLock { state in
      state.replace(by: segments)
      publishedPoint.move(to: published)
    }
  }

  /// - Parameter published: The new end of the published part; nil to keep it.
  func append(_ segment: LogSegment, published: LogPoint?) {
    state.withLock { state in
      state.noteEnd(before: segment)
      state.segments.append(segment)
      if let published { publishedPoint.move(to: published) }
    }
  }

  /// Removes the segments after one.
  func cut(behind segment: UInt32) -> (last: LogSegment?, left: [LogSegment]) {
    state.withLock { state in
      let count = (state.segments.lastIndex { $0.number == segment } ?? 0) + 1
      let left = Array(state.segments[count...])
      state.segments.removeSubrange(count...)
      return (state.segments.last, left)
    }
  }
}

import HeartwoodFiles

/// What of the log is on disk for certain. Any thread.
final class SyncedPart: Sendable {
  /// What one sync is to make durable.
  struct Work: Sendable {
    let files: [LogSegment]
    let point: LogPoint

    /// Syncs in the log's order, so that no later segment is safe before an earlier one.
    func sync() throws(FileSystemError) {
      for segment in files { try segment.file.sync(SyncedPart.commitSync) }
    }
  }

  private struct State: Sendable {
    /// Segments before the last one with bytes that may not be, and where they end.
    var earlier: [(segment: LogSegment, end: UInt64)] = []

    init(_ path: [LogSegment], durable: LogPoint) {
      for (segment, next) in zip(path, path.dropFirst()) {
        guard let join = next.header.predecessor, join.sequence > durable.sequence else { continue }
        earlier.append((segment, join.sequence))
      }
    }
  }

  private let state: Guarded<State>
  /// Moved while the state is locked.
  private let durablePoint: SharedPoint

  init(_ path: [LogSegment], durable: LogPoint) {
    state = Guarded(State(path, durable: durable))
    durablePoint = SharedPoint(durable)
  }

  /// Up to here everything is synced.
  var durable: LogPoint { durablePoint.now }

  /// The log is another one from now on.
  func begin(_ path: [LogSegment], durable: LogPoint) {
    state.withLock { state in
      state = State(path, durable: durable)
      durablePoint.move(to: durable)
    }
  }

  /// The log goes on in a new segment, whose first frame will lie at `first`.
  func goOn(behind last: LogSegment, end: LogPoint, at first: LogPoint) {
    state.withLock { state in
      if durable.sequence != end.sequence {
        state.earlier.append((last, end.sequence))
      } else {
        durablePoint.move(to: first)
      }
    }
  }

  /// What lies behind a point was given up.
  func forget(behind point: LogPoint) {
    state.withLock { state in state.earlier.removeAll { $0.end > point.sequence } }
  }

  /// Everything up to the log's end.
  func work(with last: LogSegment, end: LogPoint) -> Work {
    #if DELIBERATE_BUGS
      if DeliberateBug.isOn(.syncsLastSegmentOnly) { return Work(files: [last], point: end) }
    #endif
    return Work(files: state.withLock { $0.earlier.map(\.segment) } + [last], point: end)
  }

  /// Takes note of a sync that succeeded.
  func note(_ work: Work) {
    state.withLock { state in
      guard work.point.sequence >= durable.sequence else { return }
      durablePoint.move(to: work.point)
      // What came behind the work's point, before the log went on elsewhere, it has not synced.
      #if DELIBERATE_BUGS
        if DeliberateBug.isOn(.forgetsWhatCameDuringSync) { return state.earlier.removeAll() }
      #endif
      state.earlier.removeAll { $0.end <= work.point.sequence }
    }
  }

  /// A commit's sync. Only Apple's drives need the full one to be safe.
  static var commitSync: SyncKind {
    #if canImport(Darwin)
      .full
    #else
      .data
    #endif
  }
}

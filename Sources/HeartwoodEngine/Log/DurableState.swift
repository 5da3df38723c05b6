import HeartwoodFiles

/// What of the log is on disk for certain. Any thread.
final class DurableState: Sendable {
  /// Segments before the last one with bytes that may not be, and where they end.
  private typealias Earlier = [(segment: LogSegment, end: UInt64)]

  private let earlier: Guarded<Earlier>
  /// Moved while that is locked.
  private let durablePoint: SharedPoint

  init(_ path: [LogSegment], durable: LogPoint) {
    earlier = Guarded(Self.earlier(of: path, durable: durable))
    durablePoint = SharedPoint(durable)
  }

  private static func earlier(of path: [LogSegment], durable: LogPoint) -> Earlier {
    zip(path, path.dropFirst()).compactMap { segment, next in
      guard let predecessorEnd = next.header.predecessor, predecessorEnd.sequence > durable.sequence else {
        return nil
      }
      return (segment, predecessorEnd.sequence)
    }
  }

  /// Up to here everything is synced.
  var durable: LogPoint { durablePoint.now }

  /// The log is another one from now on.
  func begin(_ path: [LogSegment], durable: LogPoint) {
    earlier.withLock { earlier in
      earlier = Self.earlier(of: path, durable: durable)
      durablePoint.move(to: durable)
    }
  }

  /// The log goes on in a new segment, whose first frame will lie at `first`.
  func continueLog(after last: LogSegment, end: LogPoint, at first: LogPoint) {
    earlier.withLock { earlier in
      if durable.sequence != end.sequence {
        earlier.append((last, end.sequence))
      } else {
        durablePoint.move(to: first)
      }
    }
  }

  /// What lies behind a point was given up.
  func forget(behind point: LogPoint) {
    earlier.withLock { $0.removeAll { $0.end > point.sequence } }
  }

  /// Everything up to the log's end.
  func request(with last: LogSegment, end: LogPoint) -> SyncRequest {
    SyncRequest(files: earlier.withLock { $0.map(\.segment) } + [last], point: end)
  }

  /// Takes note of a sync that succeeded.
  func note(_ request: SyncRequest) {
    earlier.withLock { earlier in
      guard request.point.sequence >= durable.sequence else { return }
      durablePoint.move(to: request.point)
      // What came behind the request's point, before the log went on elsewhere, it has not synced.
      earlier.removeAll { $0.end <= request.point.sequence }
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

/// What one sync is to make durable.
struct SyncRequest: Sendable {
  let files: [LogSegment]
  let point: LogPoint

  /// Syncs in the log's order, so that no later segment is safe before an earlier one.
  func sync() throws(FileSystemError) {
    for segment in files { try segment.file.sync(DurableState.commitSync) }
  }
}

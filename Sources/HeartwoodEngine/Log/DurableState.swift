import HeartwoodFiles

/// The part of the log that is durable. Any thread.
final class DurableState: Sendable {
  /// Segments before the last one that may contain unsynced bytes, and the sequence number of the frame after
  /// each.
  private typealias Earlier = [(segment: LogSegment, end: UInt64)]

  private let earlier: Guarded<Earlier>
  /// Moved only while `earlier` is locked.
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

  /// The end of the durable part of the log.
  var durable: LogPoint { durablePoint.now }

  /// Replaces the segments and the durable point.
  func begin(_ path: [LogSegment], durable: LogPoint) {
    earlier.withLock { earlier in
      earlier = Self.earlier(of: path, durable: durable)
      durablePoint.move(to: durable)
    }
  }

  /// The log continues in a new segment whose first frame is at `first`. If everything before it is durable,
  /// `first` is durable.
  func continueLog(after last: LogSegment, end: LogPoint, at first: LogPoint) {
    earlier.withLock { earlier in
      if durable.sequence != end.sequence {
        earlier.append((last, end.sequence))
      } else {
        durablePoint.move(to: first)
      }
    }
  }

  /// Forgets the segments after a point to which the log was rolled back.
  func forget(behind point: LogPoint) {
    earlier.withLock { $0.removeAll { $0.end > point.sequence } }
  }

  /// A request to make everything up to the log's end durable.
  func request(with last: LogSegment, end: LogPoint) -> SyncRequest {
    SyncRequest(files: earlier.withLock { $0.map(\.segment) } + [last], point: end)
  }

  /// Records a successful sync.
  func note(_ request: SyncRequest) {
    earlier.withLock { earlier in
      guard request.point.sequence >= durable.sequence else { return }
      durablePoint.move(to: request.point)
      // Bytes after the request's point, in a segment that was still the last one then, were not synced.
      earlier.removeAll { $0.end <= request.point.sequence }
    }
  }

  /// The sync of a commit. Only Apple's drives need the full one to be safe.
  static var commitSync: SyncKind {
    #if canImport(Darwin)
      .full
    #else
      .data
    #endif
  }
}

/// The files of one sync, and the point up to which it makes the log durable.
struct SyncRequest: Sendable {
  let files: [LogSegment]
  let point: LogPoint

  /// Syncs in the order of the log, so that no later segment becomes durable before an earlier one.
  func sync() throws(FileSystemError) {
    for segment in files { try segment.file.sync(DurableState.commitSync) }
  }
}

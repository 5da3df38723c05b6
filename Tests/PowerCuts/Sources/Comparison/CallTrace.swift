import Workload

/// The file system calls of a victim, with the moments at which they began and returned.
///
/// A moment is a number of events of the disk under test. The events before the beginning of a call contain
/// none of its effects; the events before the return of a sync contain everything that it made durable.
public struct CallTrace: Sendable {
  /// One call.
  public struct Call: Sendable {
    /// The operation and its arguments.
    public var record: TraceRecord
    /// The moment before the call.
    public var begun: Int
    /// The moment after the call; nil if the machine was killed before its return.
    public var ended: Int?
    /// Whether the call threw an error.
    public var hasFailed = false
    /// The number of bytes written, if the call has returned.
    public var result = 0
  }

  /// The calls in order.
  public private(set) var calls: [Call] = []

  /// Parses a trace.
  ///
  /// - Parameters:
  ///   - bytes: All bytes that were written to the trace disk.
  ///   - moment: Returns the moment at which the byte at an offset arrived.
  public init(_ bytes: [UInt8], moment: (Int) -> Int) {
    var offset = 0
    while let (record, length) = TraceRecord.first(in: bytes[offset...]) {
      // The sectors of a record can arrive in any order, but all have arrived when the victim continues.
      let arrival =
        stride(from: offset, to: offset + length, by: TraceRecord.sectorSize).map(moment).max() ?? 0
      take(record, arrival)
      offset += length
    }
  }

  private mutating func take(_ record: TraceRecord, _ moment: Int) {
    switch record.kind {
    case .done, .failed:
      guard let last = calls.indices.last else { return }
      calls[last].ended = moment
      calls[last].hasFailed = record.kind == .failed
      calls[last].result = Int(record.number)
    default: calls.append(Call(record: record, begun: moment))
    }
  }
}

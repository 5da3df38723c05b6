import Workload

/// The file system calls of a victim, with the moments at which they began and had returned.
///
/// A moment is a number of events of the disk under test: nothing that a call did is among the events before it began, and
/// all that a sync has made durable is among those before it had returned.
public struct CallTrace: Sendable {
  /// One call.
  public struct Call: Sendable {
    /// What was called.
    public var record: TraceRecord
    /// The moment before it.
    public var begun: Int
    /// The moment after it; nil where the machine was killed before.
    public var ended: Int?
    /// Whether it threw.
    public var hasFailed = false
    /// How many bytes it wrote, where it has ended.
    public var result = 0
  }

  /// In the order in which they were made.
  public private(set) var calls: [Call] = []

  /// The calls in a trace.
  ///
  /// - Parameters:
  ///   - bytes: All that was written to the disk of the trace.
  ///   - moment: When the byte at an offset had arrived.
  public init(_ bytes: [UInt8], moment: (Int) -> Int) {
    var offset = 0
    while let (record, length) = TraceRecord.first(in: bytes[offset...]) {
      // The last sector of a record need not arrive last, but all have when the victim goes on.
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

/// The writes and flushes that reached a disk, in order of their arrival, and the acknowledgements that the
/// victim printed.
///
/// The server records a request, answers it, and then reads the next one. So a flush covers every write
/// before it, and a line of the console is recorded after every write and flush that its printing waited for.
public struct DiskRecord: Sendable {
  /// A change of the disk, or a flush.
  public enum Event: Equatable, Sendable {
    /// Bytes at an offset. If `isForced`, they were durable when the write was answered.
    case write(offset: Int, bytes: [UInt8], isForced: Bool)
    /// All earlier writes are durable.
    case flush
  }

  /// A full commit that had returned.
  public struct Acknowledgement: Equatable, Sendable {
    /// The number of the transaction.
    public var number: Int
    /// The number of events that had arrived before the line.
    public var position: Int
  }

  /// The events in order of arrival.
  public private(set) var events: [Event] = []
  /// The acknowledgements in order of arrival.
  public private(set) var acknowledgements: [Acknowledgement] = []
  /// The number of events that had arrived when the victim had opened its store for the first time.
  public private(set) var openedAt: Int?

  /// Creates an empty record.
  public init() {}

  /// Adds an event.
  public mutating func append(_ event: Event) { events.append(event) }

  /// Adds a line of the console. Only `ack NUMBER` and `opened NUMBER` have an effect.
  public mutating func append(line: String) {
    let words = line.split(separator: " ")
    guard words.count == 2, let number = Int(words[1]) else { return }
    if words[0] == "ack" { acknowledgements.append(Acknowledgement(number: number, position: events.count)) }
    if words[0] == "opened", openedAt == nil { openedAt = events.count }
  }

  /// The largest number acknowledged before a cut at `position`; 0 if there is none.
  public func lastAcknowledged(at position: Int) -> Int {
    acknowledgements.lazy.filter { $0.position <= position }.map(\.number).max() ?? 0
  }

  /// The number of flushes.
  public var flushCount: Int { events.count { $0 == .flush } }

  /// The first event that a cut at `position` can lose: the one after the last flush before it.
  ///
  /// - Parameter ignored: The number of flushes before the cut to ignore, as on a lying disk.
  public func firstUncertain(at position: Int, ignoringLast ignored: Int = 0) -> Int {
    let flushes = events[..<position].indices.filter { events[$0] == .flush }
    return (flushes.dropLast(ignored).last ?? -1) + 1
  }
}

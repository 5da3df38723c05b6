/// All that reached a disk, in the order in which it arrived, and what the victim had printed meanwhile.
///
/// The server answers a request when it is in here, and reads the next one after that. So a flush covers every write
/// before it, and a line of the console comes after every write and flush that its printing waited for.
public struct DiskRecord: Sendable {
  /// One change of the disk, or a promise about those before it.
  public enum Event: Equatable, Sendable {
    /// Bytes at an offset; `isForced` where they were durable when the write was answered.
    case write(offset: Int, bytes: [UInt8], isForced: Bool)
    /// All writes before it are durable.
    case flush
  }

  /// A full commit that had returned.
  public struct Acknowledgement: Equatable, Sendable {
    /// Of the transaction.
    public var number: Int
    /// How many events had arrived when the line had.
    public var position: Int
  }

  /// What reached the disk.
  public private(set) var events: [Event] = []
  /// What was acknowledged, in the order in which the lines arrived.
  public private(set) var acknowledgements: [Acknowledgement] = []
  /// How many events had arrived when the victim had first opened its store.
  public private(set) var openedAt: Int?

  /// An empty record.
  public init() {}

  /// Takes in what reached the disk.
  public mutating func append(_ event: Event) { events.append(event) }

  /// Takes in a whole line of the console; any but `ack NUMBER` and `opened NUMBER` says nothing about commits.
  public mutating func append(line: String) {
    let words = line.split(separator: " ")
    guard words.count == 2, let number = Int(words[1]) else { return }
    if words[0] == "ack" { acknowledgements.append(Acknowledgement(number: number, position: events.count)) }
    if words[0] == "opened", openedAt == nil { openedAt = events.count }
  }

  /// The largest number that was acknowledged before a cut at `position`; 0 for none.
  public func lastAcknowledged(at position: Int) -> Int {
    acknowledgements.lazy.filter { $0.position <= position }.map(\.number).max() ?? 0
  }

  /// The number of flushes.
  public var flushCount: Int { events.count { $0 == .flush } }

  /// The first event that a cut at `position` may lose: the one after the last flush before it.
  ///
  /// - Parameter ignored: How many flushes before the cut count for nothing, as those of a lying disk.
  public func firstUncertain(at position: Int, ignoringLast ignored: Int = 0) -> Int {
    let flushes = events[..<position].indices.filter { events[$0] == .flush }
    return (flushes.dropLast(ignored).last ?? -1) + 1
  }
}

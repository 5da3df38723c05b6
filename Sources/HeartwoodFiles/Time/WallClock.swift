/// A source of the time of day. It is for display only: it may jump in either direction.
public protocol WallClock: Sendable {
  /// Nanoseconds since 1970-01-01 00:00 UTC; negative before.
  var nanosecondsSince1970: Int64 { get }
}

/// The clock of the operating system.
public struct SystemClock: WallClock {
  /// The clock; it has no state.
  public init() {}

  /// The system's time of day.
  public var nanosecondsSince1970: Int64 { SystemCall.nanosecondsSince1970 }
}

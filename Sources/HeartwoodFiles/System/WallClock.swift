/// Where the time of day comes from. It is displayed, never relied on: it may jump either way.
public protocol WallClock: Sendable {
  /// Nanoseconds since 1970-01-01 00:00 UTC; negative before.
  var nanosecondsSince1970: Int64 { get }
}

/// The clock of the operating system.
public struct SystemClock: WallClock {
  /// The clock; it has no state.
  public init() {}

  /// The time of day as the system has it.
  public var nanosecondsSince1970: Int64 { SystemCall.nanosecondsSince1970 }
}

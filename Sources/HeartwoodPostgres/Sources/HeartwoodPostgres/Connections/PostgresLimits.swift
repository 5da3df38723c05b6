import Foundation

/// How long and how often a store tries. Times are in seconds.
struct PostgresLimits: Sendable, Equatable {
  /// For how long a call looks for a server that takes its connection, after the first failure.
  var reconnecting = 0.0
  /// The most time of a statement; nil for no limit.
  var statement: Double?
  /// The most time that a statement waits for a lock; nil for no limit.
  var lock: Double?
  /// The most time that a call waits for a connection of the pool; nil for no limit.
  var waiting: Double?
  /// The most calls that wait for a connection of the pool; nil for no limit.
  var waiters: Int?
  /// How often a transaction is tried that others are in the way of.
  var attempts = 5
}

/// The pauses between attempts: the first one is made at once, the others later and later, until a limit.
struct PostgresBackoff {
  private let end: Double
  private var pause = 0.0

  /// - Parameter limit: In seconds from now.
  init(_ limit: Double) { end = Self.now + limit }

  static var now: Double { ProcessInfo.processInfo.systemUptime }

  /// The seconds that are left; not below 0.
  var left: Double { max(0, end - Self.now) }

  /// Waits before the next attempt. Returns false if there is no time for one.
  mutating func mayTryAgain() -> Bool {
    if pause == 0 {
      pause = 0.01
      return true
    }
    guard left > 0 else { return false }
    // At random, so that many programs do not come at the same moment.
    usleep(useconds_t(min(left, .random(in: pause / 2...pause)) * 1_000_000))
    pause = min(1, pause * 2)
    return true
  }

  /// Waits before a transaction is tried again that others were in the way of.
  static func pause(after attempt: Int) {
    let most = min(0.5, 0.004 * Double(1 << min(attempt, 10)))
    usleep(useconds_t(.random(in: 0...most) * 1_000_000))
  }
}

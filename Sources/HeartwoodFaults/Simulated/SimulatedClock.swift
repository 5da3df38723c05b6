import HeartwoodFiles

/// A clock that a test can move forward and back.
public final class SimulatedClock: WallClock, @unchecked Sendable {
  private let lock = Lock()
  private var now: Int64
  private var step: Int64

  /// Creates a clock that shows `nanosecondsSince1970`, plus `step` nanoseconds for each later reading.
  public init(nanosecondsSince1970: Int64 = 1_700_000_000_000_000_000, step: Int64 = 0) {
    now = nanosecondsSince1970
    self.step = step
  }

  /// The time. Each reading advances the clock by its step.
  public var nanosecondsSince1970: Int64 {
    lock.withLock {
      defer { now &+= step }
      return now
    }
  }

  /// Moves the clock forward, or back if `nanoseconds` is negative.
  public func jump(by nanoseconds: Int64) { lock.withLock { now &+= nanoseconds } }

  /// Sets the clock.
  public func set(nanosecondsSince1970: Int64) { lock.withLock { now = nanosecondsSince1970 } }
}

/// A pseudorandom generator whose numbers depend only on the seed, on every platform and in every version.
public final class SeededEntropy: Entropy, RandomNumberGenerator, @unchecked Sendable {
  private let lock = Lock()
  private var numbers: SplitMix64

  /// Creates a generator with a seed.
  public init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

  /// The next 64-bit number.
  public func next() -> UInt64 { lock.withLock { numbers.next() } }
}

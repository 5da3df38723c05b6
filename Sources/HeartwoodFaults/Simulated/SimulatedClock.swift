import HeartwoodFiles

/// A clock that a test moves, either way.
public final class SimulatedClock: WallClock, @unchecked Sendable {
  private let lock = Lock()
  private var now: Int64
  private var step: Int64

  /// A clock that shows `nanosecondsSince1970`, and `step` nanoseconds more at each reading after it.
  public init(nanosecondsSince1970: Int64 = 1_700_000_000_000_000_000, step: Int64 = 0) {
    now = nanosecondsSince1970
    self.step = step
  }

  /// The time; reading it moves the clock by its step.
  public var nanosecondsSince1970: Int64 {
    lock.withLock {
      defer { now &+= step }
      return now
    }
  }

  /// Puts the clock forward, or back where `nanoseconds` is negative.
  public func jump(by nanoseconds: Int64) { lock.withLock { now &+= nanoseconds } }

  /// Sets the clock.
  public func set(nanosecondsSince1970: Int64) { lock.withLock { now = nanosecondsSince1970 } }
}

/// Numbers that look random and are the same for the same seed, on every platform and in every version.
public final class SeededEntropy: Entropy, RandomNumberGenerator, @unchecked Sendable {
  private let lock = Lock()
  private var numbers: SplitMix64

  /// The numbers of a seed, from the first on.
  public init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

  /// The next number, all 64 bits of it.
  public func next() -> UInt64 { lock.withLock { numbers.next() } }
}

/// The group-commit delay: decides whether a thread that is about to sync waits for more commits first.
///
/// The threads whose commits one sync covers commit again at about the same time, slightly after the next sync has
/// begun, so that each sync covers only half of them. A thread therefore waits before its sync until as many commits
/// are queued as in the last round, for at most half the duration of the last sync and at most 1 ms. If fewer than half
/// of the missing commits arrive, the next syncs start without a delay; their number doubles with each such miss, up to
/// 256. A single committing thread never waits.
struct CommitDelay {
  /// Number of commits that the last sync covered, plus those that waited for the next one when it ended.
  private(set) var wanted = 0
  private var syncNanoseconds = 0
  private var misses = 0
  /// Number of syncs that start without a delay.
  private var skips = 0

  /// In nanoseconds.
  private static let longest = 1_000_000
  private static let mostMisses = 8

  /// The longest time to wait, in nanoseconds; nil if the sync starts at once.
  ///
  /// - Parameter present: Number of commits that wait for the sync.
  mutating func wait(present: Int) -> Int? {
    guard wanted > 1, present < wanted else { return nil }
    guard skips == 0 else {
      skips -= 1
      return nil
    }
    return min(syncNanoseconds / 2, Self.longest)
  }

  /// Records the result of a delay.
  ///
  /// - Parameters:
  ///   - present: Number of commits when the delay began.
  ///   - count: Number of commits when it ended.
  mutating func noteWait(from present: Int, to count: Int) {
    if (count - present) * 2 >= wanted - present {
      misses = 0
    } else {
      misses = min(misses + 1, Self.mostMisses)
      skips = 1 << misses
    }
  }

  /// - Parameters:
  ///   - count: Number of commits that the sync covered.
  ///   - nanoseconds: Duration of the sync.
  ///   - waiting: Number of commits that wait for the next sync.
  mutating func noteSync(of count: Int, nanoseconds: Int, waiting: Int) {
    (wanted, syncNanoseconds) = (count + waiting, nanoseconds)
  }
}

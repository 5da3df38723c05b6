/// Whether it pays for the one who is about to sync to wait a moment for others who commit.
///
/// Threads that one sync has let go come back at about the same time, a little too late for the sync that has begun meanwhile: each
/// sync then covers half of them. So who is about to sync waits until as many are there as came lately, for a part of the
/// time that a sync takes. Where they do not come, the next ones do not wait, each time for longer. Who commits alone never waits.
struct CommitDelay {
  /// How many commits the last sync has covered, and how many waited for the next when it ended.
  private(set) var wanted = 0
  private var syncNanoseconds = 0
  private var misses = 0
  /// How many syncs are not waited for.
  private var skips = 0

  private static let longest = 1_000_000
  private static let mostMisses = 8

  /// How many nanoseconds to wait where so many are there; nil for not at all.
  mutating func wait(present: Int) -> Int? {
    guard wanted > 1, present < wanted else { return nil }
    guard skips == 0 else {
      skips -= 1
      return nil
    }
    return min(syncNanoseconds / 2, Self.longest)
  }

  /// They were waited for.
  mutating func noteWait(from present: Int, to count: Int) {
    if (count - present) * 2 >= wanted - present {
      misses = 0
    } else {
      misses = min(misses + 1, Self.mostMisses)
      skips = 1 << misses
    }
  }

  mutating func noteSync(of count: Int, nanoseconds: Int, waiting: Int) {
    (wanted, syncNanoseconds) = (count + waiting, nanoseconds)
  }
}

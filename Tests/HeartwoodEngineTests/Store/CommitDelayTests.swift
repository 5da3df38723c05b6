import Testing

@testable import HeartwoodEngine

@Suite struct `Who is about to sync` {
  @Test func `never waits while nobody else commits`() {
    var delay = CommitDelay()
    for _ in 0..<10 {
      #expect(delay.wait(present: 1) == nil)
      delay.noteSync(of: 1, nanoseconds: 100_000, waiting: 0)
    }
  }

  @Test func `waits for as many as came lately, for half of what a sync took and a millisecond at most`() {
    var delay = CommitDelay()
    delay.noteSync(of: 3, nanoseconds: 100_000, waiting: 2)
    #expect(delay.wanted == 5)
    #expect(delay.wait(present: 4) == 50_000)
    #expect(delay.wait(present: 5) == nil)
    delay.noteSync(of: 5, nanoseconds: 1_000_000_000, waiting: 0)
    #expect(delay.wait(present: 1) == 1_000_000)
  }

  @Test func `waits less and less often for those who do not come, and again when they do`() {
    var delay = CommitDelay()
    /// How many syncs pass until the next one is waited for.
    func skipped() -> Int {
      var count = 0
      repeat {
        delay.noteSync(of: 1, nanoseconds: 100_000, waiting: 1)
        count += 1
      } while delay.wait(present: 1) == nil
      return count - 1
    }
    #expect(skipped() == 0)
    for expected in [2, 4, 8, 16, 32, 64, 128, 256, 256] {
      delay.noteWait(from: 1, to: 1)
      #expect(skipped() == expected)
    }
    delay.noteWait(from: 1, to: 2)
    #expect(skipped() == 0)
    delay.noteWait(from: 1, to: 1)
    #expect(skipped() == 2)
  }
}

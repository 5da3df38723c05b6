import Testing

@testable import HeartwoodEngine

@Suite struct `The delay before a sync` {
  @Test func `a sync is not delayed while no other thread commits`() {
    var delay = CommitDelay()
    for _ in 0..<10 {
      #expect(delay.wait(present: 1) == nil)
      delay.noteSync(of: 1, nanoseconds: 100_000, waiting: 0)
    }
  }

  @Test func `a sync waits for as many commits as came recently, for half a sync's time and 1 ms at most`() {
    var delay = CommitDelay()
    delay.noteSync(of: 3, nanoseconds: 100_000, waiting: 2)
    #expect(delay.wanted == 5)
    #expect(delay.wait(present: 4) == 50_000)
    #expect(delay.wait(present: 5) == nil)
    delay.noteSync(of: 5, nanoseconds: 1_000_000_000, waiting: 0)
    #expect(delay.wait(present: 1) == 1_000_000)
  }

  @Test func `a sync waits less often while no commits arrive, and again when they do`() {
    var delay = CommitDelay()
    /// The number of syncs until the next one is delayed.
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

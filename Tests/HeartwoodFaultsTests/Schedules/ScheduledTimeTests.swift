import HeartwoodFaults
import HeartwoodFiles
import Testing

@Suite struct `Time and work under a scheduler` {
  @Test func `a sleep of hours ends when no other thread can continue`() throws {
    let order = Guarded<[String]>([])
    try ScheduleExplorer().explore(preemptions: 0) { threads in
      order.withLock { $0 = [] }
      for (name, hours) in [("late", 3), ("early", 1), ("middle", 2)] as [(String, UInt32)] {
        threads.add(name) {
          for _ in 0..<hours { CurrentThread.sleep(microseconds: 3_600_000_000) }
          order.withLock { $0.append(name) }
        }
      }
      threads.afterwards { #expect(order.withLock { $0 } == ["early", "middle", "late"]) }
    }.check()
  }

  @Test func `a wait with a deadline ends both ways`() throws {
    let ends = Guarded<Set<Bool>>([])
    let report = try ScheduleExplorer().explore(preemptions: 1) { threads in
      let (waiting, isSet) = (Waiting(), Guarded(false))
      threads.add("waiter") {
        waiting.lock.lock()
        waiting.condition.wait(waiting.lock, nanoseconds: 1_000_000)
        waiting.lock.unlock()
        ends.withLock { _ = $0.insert(isSet.withLock { $0 }) }
      }
      threads.add("notifier") {
        isSet.withLock { $0 = true }
        waiting.lock.withLock { waiting.condition.broadcast() }
      }
    }
    try report.check()
    #expect(ends.withLock { $0 } == [true, false])
  }

  @Test func `patience ends after its time, and no sooner`() throws {
    try ScheduleExplorer().explore(preemptions: 1) { threads in
      threads.add("patient") {
        let start = MonotonicTime.nanoseconds
        var backoff = Backoff(seconds: 2)
        while backoff.wait() {}
        let waited = MonotonicTime.nanoseconds - start
        if waited < 2_000_000_000 { throw PlantedFailure("waited \(waited) ns") }
      }
      threads.add("other") { SchedulePoint.reach("pass by") }
    }.check()
  }

  @Test func `a loop that waits for an event that never comes is a failure`() throws {
    let report = try ScheduleExplorer(longestRun: 200).explore(preemptions: 1) { threads in
      let never = SharedValue()
      threads.add("waiter") { while never.read() == 0 { SchedulePoint.pause() } }
    }
    let message = try #require(report.failure?.message)
    #expect(message.hasPrefix("no end after 201 points\n  waiter: ") && message.contains("sleep, read"))
  }

  @Test func `a loop that waits for another thread ends under every schedule`() throws {
    let report = try ScheduleExplorer(longestRun: 200).explore(preemptions: 3) { threads in
      let flag = SharedValue()
      threads.add("waiter") { while flag.read() == 0 { SchedulePoint.pause() } }
      threads.add("setter") { flag.write(1) }
    }
    try report.check()
    #expect(report.isComplete)
    try ScheduleExplorer(longestRun: 500).random(seed: 3, count: 100) { threads in
      let flag = SharedValue()
      for name in ["waiter", "another"] {
        threads.add(name) { while flag.read() == 0 { SchedulePoint.pause() } }
      }
      threads.add("setter") { flag.write(1) }
    }.check()
  }

  @Test func `a worker works on a thread of its own, in order, before the run ends`() throws {
    let report = try ScheduleExplorer().explore(preemptions: 1) { threads in
      let (done, worker) = (Guarded<[Int]>([]), threads.worker("background"))
      threads.add("submitter") {
        for number in 0..<3 { worker.submit { done.withLock { $0.append(number) } } }
        worker.submit(afterSeconds: 60) { done.withLock { $0.append(60) } }
        worker.drain()
        if done.withLock({ Array($0.prefix(3)) }) != [0, 1, 2] { throw PlantedFailure("not drained") }
      }
      threads.afterwards {
        if done.withLock({ Array($0.prefix(3)) }) != [0, 1, 2] { throw PlantedFailure("lost work") }
      }
    }
    try report.check()
    #expect(report.schedules > 1)
  }

  @Test func `work for later is done while other threads sleep`() throws {
    try ScheduleExplorer().explore(preemptions: 0) { threads in
      let (done, worker) = (SharedValue(), threads.worker("background"))
      threads.add("submitter") {
        worker.submit(afterSeconds: 1) { done.write(1) }
        CurrentThread.sleep(microseconds: 2_000_000)
        if done.read() != 1 { throw PlantedFailure("slept past it") }
      }
    }.check()
  }
}

/// A lock and a condition in an object that threads' closures can capture.
private final class Waiting: Sendable {
  let lock = Lock()
  let condition = ConditionVariable()
}

import HeartwoodFaults
import HeartwoodFiles
import Synchronization
import Testing

@Suite struct ScheduleExplorerTests {
  // MARK: Every schedule, once

  @Test(arguments: [(1, 1), (1, 2), (2, 2), (3, 2), (3, 4)])
  func `two threads have as many schedules as there are ways to merge their steps`(first: Int, second: Int)
    throws
  {
    var orders: Set<String> = []
    let report = try ScheduleExplorer().explore(preemptions: 100) { threads in
      let order = Guarded("")
      for (name, points) in [("a", first), ("b", second)] {
        threads.add(name) {
          for point in 0..<points {
            order.withLockOutsideOfSchedules { $0 += name }
            if point < points - 1 { SchedulePoint.reach("go on") }
          }
        }
      }
      threads.afterwards { orders.insert(order.withLock { $0 }) }
    }
    let ways = binomial(first + second, first)
    #expect(report.schedules == ways && orders.count == ways)
    #expect(report.isComplete)
  }

  @Test func `three threads have as many schedules as there are ways to merge their steps`() throws {
    let report = try ScheduleExplorer().explore(preemptions: 100) { threads in
      for name in ["a", "b", "c"] { threads.add(name) { SchedulePoint.reach("go on") } }
    }
    #expect(report.schedules == 90)
  }

  @Test func `a preemption is an interruption of a thread that could continue`() throws {
    let counts = try (0...3).map { preemptions in
      try ScheduleExplorer().explore(preemptions: preemptions) { threads in
        for name in ["a", "b"] {
          threads.add(name) {
            SchedulePoint.reach("once")
            SchedulePoint.reach("twice")
          }
        }
      }.schedules
    }
    // 20 schedules merge 3 and 3 steps. These are the numbers of those with at most so many preemptions.
    #expect(counts == [2, 6, 14, 18])
  }

  @Test func `an order that a lock excludes is not a schedule`() throws {
    let report = try ScheduleExplorer().explore(preemptions: 100) { threads in
      let lock = ScheduledLock()
      for name in ["a", "b"] { threads.add(name) { lock.withLock { SchedulePoint.reach("inside") } } }
    }
    // With either thread first: the second reaches the lock at one of four moments, and waits.
    #expect(report.schedules == 8)
  }

  @Test func `parts of an exploration cover every schedule together`() throws {
    let whole = try ScheduleExplorer().explore(preemptions: 2, PlantedPrograms.countUnderLock)
    let parts = try (0..<3).map {
      try ScheduleExplorer().explore(preemptions: 2, share: $0, of: 3, PlantedPrograms.countUnderLock)
    }
    // Each part includes the schedule without a preemption.
    #expect(parts.reduce(0) { $0 + $1.schedules } == whole.schedules + 2)
  }

  @Test func `an exploration that is cut short reports that`() throws {
    let report = try ScheduleExplorer(mostSchedules: 3).explore(
      preemptions: 2, PlantedPrograms.countUnderLock)
    #expect(report.schedules == 3 && !report.isComplete)
  }

  // MARK: Planted bugs

  typealias Program = @Sendable (ExploredThreads) -> Void

  static let bugs: [(String, Program, message: String, line: String, mostSchedules: Int)] = [
    ("lost update", PlantedPrograms.lostUpdate, "afterwards: counted 1 of 2", "schedule 0.1>1", 6),
    ("lock order", PlantedPrograms.lockOrder, "deadlock: no thread can go on", "schedule 0.1>1", 6),
    ("missed wake-up", PlantedPrograms.missedWakeUp, "deadlock: no thread can go on", "schedule 0.1>1", 8),
    (
      "reused top", PlantedPrograms.reusedTop, "afterwards: a popped node is on the stack", "schedule 0.2>1",
      10
    ),
  ]

  @Test(arguments: bugs.indices) func `a bug is found within few schedules, by its smallest one`(index: Int)
    throws
  {
    let (name, program, message, line, most) = Self.bugs[index]
    let failure = try #require(try ScheduleExplorer().explore(preemptions: 2, program).failure, "\(name)")
    #expect(failure.message.hasPrefix(message) && "\(failure.schedule)" == line, "\(name): \(failure)")
    #expect(failure.foundAfter <= most && failure.preemptions == 1, "\(name): \(failure)")
  }

  @Test(arguments: bugs.indices) func `a bug found at random is minimised to the same size`(index: Int) throws
  {
    let (name, program, _, _, _) = Self.bugs[index]
    for seed in 1...5 as ClosedRange<UInt64> {
      let failure = try #require(
        try ScheduleExplorer().random(seed: seed, count: 200, program).failure, "\(name) \(seed)")
      #expect(
        failure.preemptions == 1 && failure.schedule.description.count < 30, "\(name) \(seed): \(failure)")
    }
  }

  @Test(arguments: bugs.indices) func `a failure is repeated by its line`(index: Int) throws {
    let (name, program, _, _, _) = Self.bugs[index]
    let failure = try #require(try ScheduleExplorer().random(seed: 7, count: 200, program).failure)
    let again = try #require(try ScheduleExplorer().replay("\(failure.schedule)", program).failure, "\(name)")
    #expect(again.turns == failure.turns && again.schedule == failure.schedule)
  }

  @Test(arguments: [PlantedPrograms.countUnderLock, PlantedPrograms.wakeUp] as [Program])
  func `programs without a bug pass under every schedule`(program: Program) throws {
    let report = try ScheduleExplorer().explore(preemptions: 100, program)
    try report.check()
    #expect(report.isComplete && report.schedules > 5)
    try ScheduleExplorer().random(seed: 1, count: 300, program).check()
  }

  @Test func `the order of a failure is printed in turns`() throws {
    let failure = try #require(
      try ScheduleExplorer().explore(preemptions: 1, PlantedPrograms.lostUpdate).failure)
    #expect(
      failure.turns == ["first: start … read (2 points)", "second: start … write (3 points)", "first: write"])
  }

  @Test func `an error that a thread throws is a failure`() throws {
    let report = try ScheduleExplorer().explore(preemptions: 0) { threads in
      threads.add("thrower") { throw PlantedFailure("no") }
    }
    #expect(report.failure?.message == "thrower threw: no")
  }

  // MARK: Lines

  @Test(arguments: ["schedule", "schedule start>1 0.14>1 2.3>0"])
  func `a schedule is read back from its line`(line: String) throws {
    #expect(try #require(Schedule(line)).description == line)
  }

  @Test(arguments: [
    "", "plan", "schedule 1", "schedule 1.2", "schedule 1>2", "schedule a.b>c", "schedule -1.0>2",
  ])
  func `text that is not a line of a schedule is refused`(line: String) {
    #expect(Schedule(line) == nil)
    #expect(throws: ScheduleReplayError.self) { try ScheduleExplorer().replay(line) { _ in } }
  }

  private func binomial(_ n: Int, _ k: Int) -> Int {
    (0..<k).reduce(1) { $0 * (n - $1) / ($1 + 1) }
  }
}

extension Guarded {
  /// Bookkeeping of a test: not a scheduling point of the program.
  fileprivate func withLockOutsideOfSchedules<Result>(_ body: (inout Value) -> Result) -> Result {
    Scheduling.uninterrupted { withLock(body) }
  }
}

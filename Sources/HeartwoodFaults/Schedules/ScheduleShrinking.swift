/// Reduces a failing schedule: removes switches and preemptions as long as the program still fails.
struct ScheduleShrinking {
  typealias Program = (ExploredThreads) throws -> Void

  /// The maximum number of points in one run.
  let longestRun: Int
  /// The maximum number of runs for each kind of reduction.
  private static let mostRuns = 1000

  /// A failing schedule of which no switch can be removed. If the run limit allows, it has the fewest
  /// possible preemptions.
  func smallest(_ failed: ScheduleRun, _ program: Program) throws -> Schedule {
    let thinned = try thinned(failed, program)
    guard thinned.preemptions > 1 else { return Schedule(thinned.switches) }
    return try simpler(than: thinned, program) ?? Schedule(thinned.switches)
  }

  // MARK: Removal of switches

  private func thinned(_ failed: ScheduleRun, _ program: Program) throws -> ScheduleRun {
    var smallest = failed
    var runs = 0
    var size = max(smallest.switches.count / 2, 1)
    while runs < Self.mostRuns {
      if let smaller = try smaller(smallest, leavingOut: size, &runs, program) {
        smallest = smaller
        size = min(size, max(smallest.switches.count / 2, 1))
      } else if size > 1 {
        size /= 2
      } else {
        break
      }
    }
    return smallest
  }

  /// The first failing run without `count` consecutive switches, starting with the last ones.
  private func smaller(
    _ failed: ScheduleRun, leavingOut count: Int, _ runs: inout Int, _ program: Program
  ) throws -> ScheduleRun? {
    var end = failed.switches.count
    while end > 0, runs < Self.mostRuns {
      var rest = Schedule(failed.switches)
      rest.switches.removeSubrange(max(end - count, 0)..<end)
      runs += 1
      // The resulting schedule contains only the switches that were made, so it can be smaller than `rest`.
      let run = try ScheduleRun(FollowedSchedule(rest), limit: longestRun, program)
      if run.message != nil, run.switches.count < failed.switches.count { return run }
      end -= count
    }
    return nil
  }

  // MARK: Search with fewer preemptions

  private func simpler(than failed: ScheduleRun, _ program: Program) throws -> Schedule? {
    var search = SystematicSearch(preemptions: failed.preemptions - 1)
    for _ in 0..<Self.mostRuns {
      guard let candidate = search.next() else { return nil }
      let strategy = FollowedSchedule(candidate.schedule, notesBranches: true)
      let run = try ScheduleRun(strategy, limit: longestRun, program)
      if run.message != nil { return Schedule(run.switches) }
      search.add(strategy.branches, to: candidate)
    }
    return nil
  }
}

/// Makes a schedule that fails smaller: with fewer switches and preemptions, as long as the program still fails.
struct ScheduleShrinking {
  typealias Program = (ExploredThreads) throws -> Void

  /// The most points that a run may pass.
  let longestRun: Int
  /// How many runs are tried of each kind.
  private static let mostRuns = 1000

  /// A schedule of which no switch can be left out; and, if some runs can show it, the one with the fewest preemptions.
  func smallest(_ failed: ScheduleRun, _ program: Program) throws -> Schedule {
    let thinned = try thinned(failed, program)
    guard thinned.preemptions > 1 else { return Schedule(thinned.switches) }
    return try simpler(than: thinned, program) ?? Schedule(thinned.switches)
  }

  // MARK: Leaving switches out

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

  /// The same without some of its switches that stand together; the last ones first.
  private func smaller(
    _ failed: ScheduleRun, leavingOut count: Int, _ runs: inout Int, _ program: Program
  ) throws -> ScheduleRun? {
    var end = failed.switches.count
    while end > 0, runs < Self.mostRuns {
      var rest = Schedule(failed.switches)
      rest.switches.removeSubrange(max(end - count, 0)..<end)
      runs += 1
      // What comes out has only the switches that could be made, so it may be smaller still.
      let run = try ScheduleRun(FollowedSchedule(rest), limit: longestRun, program)
      if run.message != nil, run.switches.count < failed.switches.count { return run }
      end -= count
    }
    return nil
  }

  // MARK: Starting over with fewer preemptions

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

import HeartwoodBytes

/// Enumerates all schedules with few preemptions, each once, in order of their number of preemptions and then
/// of their number of switches.
struct SystematicSearch {
  /// A schedule and its number of preemptions.
  struct Candidate {
    var schedule: Schedule
    var cost: Int
  }

  private let preemptions: Int
  private let share: Int
  private let shares: Int
  /// The candidates by number of preemptions. Those before the index in `firsts` have been returned by
  /// `next`.
  private var candidates: [[Candidate]]
  private var firsts: [Int]

  init(preemptions: Int, share: Int = 0, of shares: Int = 1) {
    require(
      preemptions >= 0 && (0..<shares).contains(share),
      "The preemptions must not be negative, and the share must be below the number of shares.")
    self.preemptions = preemptions
    self.share = share
    self.shares = shares
    candidates = Array(repeating: [], count: preemptions + 1)
    candidates[0] = [Candidate(schedule: Schedule(), cost: 0)]
    firsts = Array(repeating: 0, count: preemptions + 1)
  }

  /// The next schedule to run, or nil at the end.
  mutating func next() -> Candidate? {
    guard let cost = candidates.indices.first(where: { firsts[$0] < candidates[$0].count }) else {
      return nil
    }
    defer {
      firsts[cost] += 1
      if firsts[cost] == candidates[cost].count {
        (firsts[cost], candidates[cost]) = (0, [])
      }
    }
    return candidates[cost][firsts[cost]]
  }

  /// Adds the schedules that extend a schedule that was run by one more switch.
  mutating func add(_ branches: [FollowedSchedule.Branch], to candidate: Candidate) {
    let switches = candidate.schedule.switches
    for (number, branch) in branches.enumerated() where candidate.cost + branch.cost <= preemptions {
      if switches.isEmpty, number % shares != share { continue }
      let cost = candidate.cost + branch.cost
      candidates[cost].append(Candidate(schedule: Schedule(switches + [branch.change]), cost: cost))
    }
  }
}

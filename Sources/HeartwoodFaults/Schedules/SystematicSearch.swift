import HeartwoodBytes

/// All schedules with few preemptions, each of them once: those with fewer first, and of these the ones with fewer switches.
struct SystematicSearch {
  /// A schedule, and how many preemptions it has.
  struct Candidate {
    var schedule: Schedule
    var cost: Int
  }

  private let preemptions: Int
  private let share: Int
  private let shares: Int
  /// By the number of preemptions; those that were given out are still there, up to the first that was not.
  private var candidates: [[Candidate]]
  private var firsts: [Int]

  init(preemptions: Int, share: Int = 0, of shares: Int = 1) {
    require(preemptions >= 0 && (0..<shares).contains(share), "There is no such part of the schedules.")
    self.preemptions = preemptions
    self.share = share
    self.shares = shares
    candidates = Array(repeating: [], count: preemptions + 1)
    candidates[0] = [Candidate(schedule: Schedule(), cost: 0)]
    firsts = Array(repeating: 0, count: preemptions + 1)
  }

  /// The next schedule to run.
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

  /// Adds the schedules that differ from one that was run by one choice after its last switch.
  mutating func add(_ branches: [FollowedSchedule.Branch], to candidate: Candidate) {
    let switches = candidate.schedule.switches
    for (number, branch) in branches.enumerated() where candidate.cost + branch.cost <= preemptions {
      if switches.isEmpty, number % shares != share { continue }
      let cost = candidate.cost + branch.cost
      candidates[cost].append(Candidate(schedule: Schedule(switches + [branch.change]), cost: cost))
    }
  }
}

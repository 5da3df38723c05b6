import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite("The model of processes that share a store")
struct LeaseModelTests {
  /// Visits all states, breadth first.
  ///
  /// - Returns: how many there are, and the first violation or deadlock.
  private func explore(_ start: LeaseModel, _ flaw: LeaseModel.Flaw? = nil) -> (
    states: Int, violation: String?
  ) {
    var seen: Set<LeaseModel> = [start]
    var front = [start]
    while !front.isEmpty {
      var next: [LeaseModel] = []
      for state in front {
        let successors = state.successors(flaw)
        if successors.isEmpty, !state.isOver { return (seen.count, "no thread can go on: \(state)") }
        for successor in successors where seen.insert(successor).inserted {
          if let violation = successor.violation { return (seen.count, violation) }
          next.append(successor)
        }
      }
      front = next
    }
    return (seen.count, nil)
  }

  @Test(arguments: [
    (2, 2, 1, 1, false), (2, 1, 2, 2, false), (3, 1, 1, 1, false), (2, 2, 1, 0, true),
  ])
  func `no state loses a commit or the file lock, or leaves every thread waiting`(
    processes: Int, threads: Int, commits: Int, kills: Int, operations: Bool
  ) {
    let found = explore(
      LeaseModel(
        processes: processes, threads: threads, commits: commits, kills: kills, operations: operations))
    #expect(found.violation == nil)
    #expect(found.states > 1000)
    print("lease model, \(processes) × \(threads) × \(commits), \(kills) kills: \(found.states) states")
  }

  @Test(arguments: [(2, 1, 1, 1), (2, 1, 2, 1)] + (LongRun.isWanted ? [(3, 1, 1, 1)] : []))
  func `an opening answers with every commit of a process that has ended before`(
    processes: Int, threads: Int, commits: Int, kills: Int
  ) {
    let found = explore(
      LeaseModel(processes: processes, threads: threads, commits: commits, kills: kills, opens: true))
    #expect(found.violation == nil)
    #expect(found.states > 1000)
    print(
      "lease model with an opening, \(processes) × \(threads) × \(commits), \(kills) kills: \(found.states) states"
    )
  }

  @Test(
    .enabled(if: LongRun.isWanted, "Minutes; set HEARTWOOD_LONG."),
    arguments: [(2, 2, 2, 0, false), (2, 3, 1, 0, false), (3, 1, 2, 1, false), (2, 2, 1, 2, true)])
  func `the protocol holds for more processes, threads, commits and kills`(
    processes: Int, threads: Int, commits: Int, kills: Int, operations: Bool
  ) {
    let found = explore(
      LeaseModel(
        processes: processes, threads: threads, commits: commits, kills: kills, operations: operations))
    #expect(found.violation == nil)
    print("lease model, \(processes) × \(threads) × \(commits), \(kills) kills: \(found.states) states")
  }

  @Test(arguments: LeaseModel.Flaw.allCases)
  func `a flaw in the protocol is detected`(flaw: LeaseModel.Flaw) {
    let isInOperations = flaw == .forgetsOperations
    let opens = flaw.isOfOpenings
    let found = explore(
      LeaseModel(
        processes: 2, threads: opens ? 1 : 2, commits: opens ? 2 : 1, kills: isInOperations ? 0 : 1,
        operations: isInOperations, opens: opens),
      flaw
    )
    #expect(found.violation != nil, "\(flaw) passes in \(found.states) states")
  }
}

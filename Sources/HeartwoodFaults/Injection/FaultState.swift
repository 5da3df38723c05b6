import HeartwoodFiles

/// A plan and its counters.
struct FaultState {
  private(set) var plan: FaultPlan
  /// For each fault, the number of calls it has counted; in `firings`, the number to which it was applied.
  private var counted: [Int] = []
  private var firings: [Int] = []
  /// The reports of the earlier plans.
  private(set) var formerReports: [FaultPlan.Report] = []
  /// The number of bytes by which files may still grow; nil for no limit.
  private(set) var space: Int64?
  private var spaceRefusals = 0
  private var shortReads = 0
  private var shortWrites = 0
  /// Counted across all plans, like the next two.
  var errorCount = 0
  private(set) var shortTransferCount = 0
  var mutationCount = 0

  init(_ plan: FaultPlan) {
    self.plan = plan
    begin(plan)
  }

  mutating func use(_ plan: FaultPlan) {
    if !self.plan.isEmpty { formerReports.append(report) }
    begin(plan)
  }

  private mutating func begin(_ plan: FaultPlan) {
    self.plan = plan
    counted = Array(repeating: 0, count: plan.faults.count)
    firings = counted
    space = plan.spaceLimit
    (spaceRefusals, shortReads, shortWrites) = (0, 0, 0)
  }

  var report: FaultPlan.Report {
    let lines = plan.faults.indices.map { index in
      FaultPlan.Report.Line(fault: plan.faults[index], calls: counted[index], firings: firings[index])
    }
    return FaultPlan.Report(
      plan: plan, lines: lines, spaceRefusals: spaceRefusals, shortReads: shortReads,
      shortWrites: shortWrites)
  }

  mutating func nextAction(
    _ operation: FileSystemError.Operation, _ path: String, isMutation: Bool
  ) -> FaultPlan.Action? {
    var due: Int?
    for (index, fault) in plan.faults.enumerated()
    where fault.counts(operation, path, isMutation: isMutation) {
      counted[index] += 1
      if fault.occurrence.includes(counted[index]) { due = due ?? index }
    }
    guard let due else { return nil }
    firings[due] += 1
    let action = plan.faults[due].action
    if action.isError { errorCount += 1 }
    return action
  }

  // MARK: Transfers

  mutating func shortenedRead(_ count: Int, _ largest: Int?) -> Int {
    guard let largest, largest < count else { return count }
    shortReads += 1
    shortTransferCount += 1
    return largest
  }

  mutating func shortenedWrite(_ count: Int, _ largest: Int?) -> Int {
    guard let largest, largest < count else { return count }
    shortWrites += 1
    shortTransferCount += 1
    return largest
  }

  // MARK: Space

  mutating func takeSpace(_ growth: Int64) -> Int64 {
    guard let free = space else { return growth }
    let taken = min(growth, max(free, 0))
    if taken < growth { spaceRefusals += 1 }
    space = free - taken
    return taken
  }

  mutating func giveSpaceBack(_ bytes: Int64) {
    if let free = space { space = free + bytes }
  }
}

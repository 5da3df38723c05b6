import HeartwoodFiles

/// Decides for every call of a file system whether it fails; shared by all that is opened in it.
final class FaultController: Sendable {
  private let state: GuardedFaultState
  private let onMutation: @Sendable (Mutation) -> Void

  init(plan: FaultPlan, onMutation: @escaping @Sendable (Mutation) -> Void) {
    state = GuardedFaultState(plan)
    self.onMutation = onMutation
  }

  func use(_ plan: FaultPlan) { state.with { $0.use(plan) } }

  var plan: FaultPlan { state.with { $0.plan } }
  var firingCounts: [Int] { state.with { $0.firings } }
  var injectedErrorCount: Int { state.with { $0.errorCount } }
  var shortTransferCount: Int { state.with { $0.shortTransferCount } }
  var mutationCount: Int { state.with { $0.mutationCount } }

  /// Makes a call, or throws the error that is due in its place.
  func perform<Result>(
    _ operation: FileSystemError.Operation, _ path: String, isMutation: Bool = false,
    half: () throws(FileSystemError) -> Void = {},
    _ call: () throws(FileSystemError) -> Result
  ) throws(FileSystemError) -> Result {
    if isMutation { announce(operation, path) }
    let due = state.with { $0.nextFault(operation, path, isMutation: isMutation) }
    guard let due else { return try call() }
    switch due.effect {
    case .none: break
    case .half: try half()
    case .whole: _ = try call()
    }
    throw FileSystemError(due.code, operation, path: path, isInjected: true)
  }

  private func announce(_ operation: FileSystemError.Operation, _ path: String) {
    let number = state.with { state in
      state.mutationCount += 1
      return state.mutationCount
    }
    // Not under the lock: the hook may look at the file system.
    onMutation(Mutation(number: number, operation: operation, path: path))
  }

  // MARK: Transfers

  func lengthOfRead(_ count: Int) -> Int { state.with { $0.shortened(count, $0.plan.largestRead) } }

  func lengthOfWrite(_ count: Int) -> Int { state.with { $0.shortened(count, $0.plan.largestWrite) } }

  // MARK: Space

  var limitsSpace: Bool { state.with { $0.space != nil } }

  /// Takes what it can get of `growth` bytes; returns how many.
  func takeSpace(_ growth: Int64) -> Int64 { state.with { $0.takeSpace(growth) } }

  func giveSpaceBack(_ bytes: Int64) { state.with { $0.giveSpaceBack(bytes) } }

  func outOfSpace(_ operation: FileSystemError.Operation, _ path: String) -> FileSystemError {
    state.with { $0.errorCount += 1 }
    return FileSystemError(.noSpace, operation, path: path, isInjected: true)
  }
}

private final class GuardedFaultState: @unchecked Sendable {
  private let lock = Lock()
  private var state: FaultState

  init(_ plan: FaultPlan) { state = FaultState(plan) }

  func with<Result>(_ body: (inout FaultState) -> Result) -> Result { lock.withLock { body(&state) } }
}

private struct FaultState {
  var plan: FaultPlan
  /// How many calls each fault has counted, and how many of them it has failed.
  var counted: [Int] = []
  var firings: [Int] = []
  /// By how much files may still grow.
  var space: Int64?
  var errorCount = 0
  var shortTransferCount = 0
  var mutationCount = 0

  init(_ plan: FaultPlan) {
    self.plan = plan
    use(plan)
  }

  mutating func use(_ plan: FaultPlan) {
    self.plan = plan
    counted = Array(repeating: 0, count: plan.faults.count)
    firings = counted
    space = plan.spaceLimit
  }

  mutating func nextFault(
    _ operation: FileSystemError.Operation, _ path: String, isMutation: Bool
  ) -> FaultPlan.Fault? {
    var due: Int?
    for (index, fault) in plan.faults.enumerated()
    where fault.counts(operation, path, isMutation: isMutation) {
      counted[index] += 1
      let isLater = counted[index] > fault.occurrence && fault.duration == .forever
      if counted[index] == fault.occurrence || isLater { due = due ?? index }
    }
    guard let due else { return nil }
    firings[due] += 1
    errorCount += 1
    return plan.faults[due]
  }

  mutating func shortened(_ count: Int, _ largest: Int?) -> Int {
    guard let largest, largest < count else { return count }
    shortTransferCount += 1
    return largest
  }

  mutating func takeSpace(_ growth: Int64) -> Int64 {
    guard let free = space else { return growth }
    let taken = min(growth, max(free, 0))
    space = free - taken
    return taken
  }

  mutating func giveSpaceBack(_ bytes: Int64) {
    if let free = space { space = free + bytes }
  }
}

import HeartwoodFiles

/// Decides what happens to each call of a file system. All its directories and files share one controller.
final class FaultController: Sendable {
  private let state: GuardedFaultState
  private let onMutation: @Sendable (Mutation) -> Void
  private let clock: SimulatedClock?

  init(plan: FaultPlan, clock: SimulatedClock?, onMutation: @escaping @Sendable (Mutation) -> Void) {
    state = GuardedFaultState(plan)
    self.clock = clock
    self.onMutation = onMutation
  }

  func use(_ plan: FaultPlan) { state.with { $0.use(plan) } }

  var plan: FaultPlan { state.with { $0.plan } }
  var report: FaultPlan.Report { state.with { $0.report } }
  var reports: [FaultPlan.Report] { state.with { $0.formerReports + [$0.report] } }
  var injectedErrorCount: Int { state.with { $0.errorCount } }
  var shortTransferCount: Int { state.with { $0.shortTransferCount } }
  var mutationCount: Int { state.with { $0.mutationCount } }

  /// Makes a call, or throws the injected error instead.
  func perform<Result>(
    _ operation: FileSystemError.Operation, _ path: String, isMutation: Bool = false,
    _ call: () throws(FileSystemError) -> Result
  ) throws(FileSystemError) -> Result {
    try perform(
      operation, path, isMutation: isMutation, half: { () throws(FileSystemError) in },
      instead: { (_) throws(FileSystemError) in try call() }, call)
  }

  /// Makes a call, or applies the injected fault instead.
  ///
  /// - Parameters:
  ///   - half: Performs half of the call.
  ///   - instead: Performs the call under an action that is neither an error nor a clock jump.
  func perform<Result>(
    _ operation: FileSystemError.Operation, _ path: String, isMutation: Bool = false,
    half: () throws(FileSystemError) -> Void,
    instead: (FaultPlan.Action) throws(FileSystemError) -> Result,
    _ call: () throws(FileSystemError) -> Result
  ) throws(FileSystemError) -> Result {
    if isMutation { announce(operation, path) }
    switch state.with({ $0.nextAction(operation, path, isMutation: isMutation) }) {
    case nil: return try call()
    case .jumpClock(let nanoseconds):
      clock?.jump(by: nanoseconds)
      return try call()
    case .fail(let code, let effect):
      switch effect {
      case .none: break
      case .half: try half()
      case .whole: _ = try call()
      }
      throw FileSystemError(code, operation, path: path, isInjected: true)
    case let action?: return try instead(action)
    }
  }

  /// Calls the hook before a call that changes something or makes it durable.
  func announce(_ operation: FileSystemError.Operation, _ path: String) {
    let number = state.with { state in
      state.mutationCount += 1
      return state.mutationCount
    }
    // The controller's lock is not held here, because the hook may use the file system.
    onMutation(Mutation(number: number, operation: operation, path: path))
  }

  // MARK: Transfers

  func lengthOfRead(_ count: Int, _ limit: Int? = nil) -> Int {
    state.with { $0.shortenedRead(count, limit ?? $0.plan.largestRead) }
  }

  func lengthOfWrite(_ count: Int, _ limit: Int? = nil) -> Int {
    state.with { $0.shortenedWrite(count, limit ?? $0.plan.largestWrite) }
  }

  // MARK: Space

  var limitsSpace: Bool { state.with { $0.space != nil } }

  /// Reserves up to `growth` bytes of the remaining space. Returns the number of bytes reserved.
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

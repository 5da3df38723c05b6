import HeartwoodFiles

/// A wrapper around any file system, including the real one, that injects the faults of a plan.
///
/// Every error it makes has `isInjected` set. Reads through a memory map are not affected.
public final class FaultInjectingFileSystem: FileSystem {
  private let base: any FileSystem
  private let controller: FaultController

  /// Wraps a file system.
  ///
  /// - Parameters:
  ///   - base: The file system that executes the calls that don't fail.
  ///   - plan: The faults to inject.
  ///   - clock: The clock that the plan can move; nil for the clock of `base`, if it has one.
  ///   - onMutation: Called before each call that changes something or makes it durable (`createDirectory`,
  ///     `open` of a new file, `rename`, `unlink`, `write`, `truncate` and both kinds of sync), also before
  ///     those that then fail. It runs on the caller's thread, which may hold locks of its own.
  public init(
    base: any FileSystem, plan: FaultPlan = FaultPlan(), clock: SimulatedClock? = nil,
    onMutation: @escaping @Sendable (Mutation) -> Void = { _ in }
  ) {
    self.base = base
    let clock = clock ?? (base as? SimulatedFileSystem)?.clock
    controller = FaultController(plan: plan, clock: clock, onMutation: onMutation)
  }

  private init(base: any FileSystem, controller: FaultController) {
    self.base = base
    self.controller = controller
  }

  /// The underlying simulated disk, if there is one.
  public var disk: SimulatedFileSystem? {
    base as? SimulatedFileSystem ?? (base as? FaultInjectingFileSystem)?.disk
  }

  /// Returns another file system with the same plan, counters and hook, for example for a second process of
  /// one simulated disk.
  public func sharingPlan(over base: any FileSystem) -> FaultInjectingFileSystem {
    FaultInjectingFileSystem(base: base, controller: controller)
  }

  /// As the file system that executes the calls says.
  public var forCopies: any FileSystem { base.forCopies }

  /// Opens an existing directory.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    let directory = try controller.perform(.openDirectory, path) { () throws(FileSystemError) in
      try base.openDirectory(path)
    }
    return FaultInjectingDirectory(base: directory, controller: controller)
  }

  /// Creates one directory.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try controller.perform(.createDirectory, path, isMutation: true) { () throws(FileSystemError) in
      try base.createDirectory(path)
    }
  }

  /// Exchanges two directories.
  public func exchangeDirectories(_ path: String, _ other: String) throws(FileSystemError) {
    try controller.perform(.rename, path, isMutation: true) { () throws(FileSystemError) in
      try base.exchangeDirectories(path, other)
    }
  }

  // MARK: The plan

  /// The faults to inject.
  public var plan: FaultPlan { controller.plan }

  /// Replaces the plan, also for open directories and files. The counters of the new plan start at zero.
  public func use(_ plan: FaultPlan) { controller.use(plan) }

  // MARK: Statistics

  /// The use of the plan since it was installed.
  public var report: FaultPlan.Report { controller.report }

  /// Checks that everything in this plan and in the plans before it was used.
  ///
  /// - Throws: `UnusedFaults` if a fault or limit never applied to a call, except those marked with
  ///   `mayStayUnused`.
  public func checkAllWasMet() throws(FaultPlan.UnusedFaults) {
    let unused = controller.reports.flatMap(\.unused)
    if !unused.isEmpty { throw FaultPlan.UnusedFaults(unused: unused) }
  }

  /// The number of calls to which each fault of the plan was applied, in the plan's order. A fault with a
  /// count of 0 has tested nothing.
  public var firingCounts: [Int] { report.lines.map(\.firings) }

  /// The total number of injected errors, including those for lack of space, under all plans.
  public var injectedErrorCount: Int { controller.injectedErrorCount }

  /// The number of shortened reads and writes, under all plans.
  public var shortTransferCount: Int { controller.shortTransferCount }

  /// The number of calls of the hook.
  public var mutationCount: Int { controller.mutationCount }
}

extension FaultPlan {
  /// Runs `body` on a file system with this plan and checks that all of the plan was used.
  ///
  /// - Throws: Errors of `body`; otherwise `UnusedFaults` if a fault or limit never applied to a call.
  public func run<Result>(
    over base: any FileSystem, _ body: (FaultInjectingFileSystem) throws -> Result
  ) throws -> Result {
    let fileSystem = FaultInjectingFileSystem(base: base, plan: self)
    let result = try body(fileSystem)
    try fileSystem.checkAllWasMet()
    return result
  }
}

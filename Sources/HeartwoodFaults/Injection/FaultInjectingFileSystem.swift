import HeartwoodFiles

/// Any file system, the real one included, on which things go wrong where a plan wants them to.
///
/// Every error it makes has `isInjected`. Bytes read through a map are out of its reach.
public final class FaultInjectingFileSystem: FileSystem {
  private let base: any FileSystem
  private let controller: FaultController

  /// Wraps a file system.
  ///
  /// - Parameters:
  ///   - base: Where the calls go that don't fail.
  ///   - plan: What goes wrong.
  ///   - clock: The clock that jumps where the plan says so; nil for that of `base` where it has one.
  ///   - onMutation: Called before each call that changes something or makes it durable (`createDirectory`,
  ///     `open` of a new file, `rename`, `unlink`, `write`, `truncate` and both kinds of sync), also
  ///     before those that then fail; on the caller's thread, which may hold locks of its own.
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

  /// The simulated disk below, where there is one.
  public var disk: SimulatedFileSystem? {
    base as? SimulatedFileSystem ?? (base as? FaultInjectingFileSystem)?.disk
  }

  /// Another file system under the same plan, with the same counters and the same hook: a second process
  /// of one simulated disk, for example.
  public func sharingPlan(over base: any FileSystem) -> FaultInjectingFileSystem {
    FaultInjectingFileSystem(base: base, controller: controller)
  }

  /// Opens a directory that exists.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    let directory = try controller.perform(.openDirectory, path) { () throws(FileSystemError) in
      try base.openDirectory(path)
    }
    return FaultInjectingDirectory(base: directory, controller: controller)
  }

  /// Makes one directory.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try controller.perform(.createDirectory, path, isMutation: true) { () throws(FileSystemError) in
      try base.createDirectory(path)
    }
  }

  // MARK: The plan

  /// What goes wrong.
  public var plan: FaultPlan { controller.plan }

  /// Puts another plan to use, also for what is open; its faults begin to count now.
  public func use(_ plan: FaultPlan) { controller.use(plan) }

  // MARK: What happened

  /// What became of the plan since it was put to use.
  public var report: FaultPlan.Report { controller.report }

  /// Makes sure that everything in this plan, and in those that were in use before it, was met.
  ///
  /// - Throws: `UnusedFaults` where a fault or limit never met a call, unless it says that it may not.
  public func checkAllWasMet() throws(FaultPlan.UnusedFaults) {
    let unused = controller.reports.flatMap(\.unused)
    if !unused.isEmpty { throw FaultPlan.UnusedFaults(unused: unused) }
  }

  /// How many calls each fault of the plan has met, in the plan's order. A fault that met none has
  /// tested nothing.
  public var firingCounts: [Int] { report.lines.map(\.firings) }

  /// How many errors were made in all, those for want of space among them, under all plans.
  public var injectedErrorCount: Int { controller.injectedErrorCount }

  /// How many reads and writes were cut short, under all plans.
  public var shortTransferCount: Int { controller.shortTransferCount }

  /// How many times the hook was called.
  public var mutationCount: Int { controller.mutationCount }
}

extension FaultPlan {
  /// Runs `body` on a file system to which this plan happens, and makes sure that all of it did.
  ///
  /// - Throws: what `body` throws; otherwise `UnusedFaults` where a fault or limit never met a call.
  public func run<Result>(
    over base: any FileSystem, _ body: (FaultInjectingFileSystem) throws -> Result
  ) throws -> Result {
    let fileSystem = FaultInjectingFileSystem(base: base, plan: self)
    let result = try body(fileSystem)
    try fileSystem.checkAllWasMet()
    return result
  }
}

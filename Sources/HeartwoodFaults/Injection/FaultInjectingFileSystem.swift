import HeartwoodFiles

/// Any file system, with errors where a plan wants them.
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
  ///   - onMutation: Called before each call that changes something or makes it durable (`createDirectory`,
  ///     `open` of a new file, `rename`, `unlink`, `write`, `truncate` and both kinds of sync), also
  ///     before those that then fail; on the caller's thread, which may hold locks of its own.
  public init(
    base: any FileSystem, plan: FaultPlan = FaultPlan(),
    onMutation: @escaping @Sendable (Mutation) -> Void = { _ in }
  ) {
    self.base = base
    controller = FaultController(plan: plan, onMutation: onMutation)
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

  /// How many calls each fault of the plan has failed, in the plan's order. A fault that failed none has
  /// tested nothing.
  public var firingCounts: [Int] { controller.firingCounts }

  /// How many errors were made in all, those for want of space among them, under all plans.
  public var injectedErrorCount: Int { controller.injectedErrorCount }

  /// How many reads and writes were cut short, under all plans.
  public var shortTransferCount: Int { controller.shortTransferCount }

  /// How many times the hook was called.
  public var mutationCount: Int { controller.mutationCount }
}

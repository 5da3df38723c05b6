import HeartwoodFiles

/// Runs a workload on a simulated disk, and verifies what a crash at any of its calls may leave.
///
///     let report = try CrashExplorer(seed: 42).run(acknowledging: Int.self) { fileSystem, acknowledge in
///       // … make number 1 durable …
///       acknowledge(1)
///     } verify: { fileSystem, acknowledged in
///       // … open what is there; throw an error where a number of `acknowledged` is missing …
///     }
///     try report.check()
///
/// The workload has to do the same at every run: it takes its time and its random numbers from elsewhere than
/// the system.
public struct CrashExplorer: Sendable {
  /// Decides everything that looks random.
  public var seed: UInt64
  /// What the disk promises.
  public var crashModel: CrashModel
  /// Which of the possible images are looked at.
  public var limits: CrashImageLimits
  /// What goes wrong besides, during the workload. The workload has to get on with it.
  public var faults: FaultPlan
  /// How many crashes in recoveries may follow the first: with 1, for example, each call of the recovery
  /// of each image is the moment of another crash. Needs a `recover` closure.
  public var recoveryDepth = 0
  /// Which of the possible images of a crash in a recovery are looked at.
  public var recoveryLimits = CrashImageLimits.prefixesOnly
  /// The most distinct images that are verified; the rest is left out.
  public var imageBudget = Int.max

  /// An explorer for a disk of this kind.
  public init(
    seed: UInt64 = 0, crashModel: CrashModel = .hostile, limits: CrashImageLimits = CrashImageLimits(),
    faults: FaultPlan = FaultPlan()
  ) {
    self.seed = seed
    self.crashModel = crashModel
    self.limits = limits
    self.faults = faults
  }

  /// Verifies at each call of `workload` that changes something or makes it durable, and after the last,
  /// all images that a crash may leave.
  ///
  /// - Parameters:
  ///   - acknowledging: What the workload acknowledges.
  ///   - prepare: What happened before, undisturbed; everything it leaves is durable.
  ///   - workload: What is tested. It calls its second argument whenever it may promise that something
  ///     survives every crash from now on. Where it consists of several processes, each is one of the
  ///     disk's, `fileSystem.disk?.process(named:)`, and runs on `fileSystem.sharingPlan(over: process)`.
  ///   - recover: What is done with an image before it is verified, and again after a crash of its own.
  ///   - verify: Opens an image and throws an error where it is not as it should be; its second argument
  ///     is what was acknowledged before the crash, in order. It is called on the threads of the workload,
  ///     in the middle of its calls, and must not use the workload's own objects.
  /// - Throws: what `prepare` and `workload` throw, and `FaultPlan.UnusedFaults`. What `verify` and `recover`
  ///   throw is a failure, and in the report. After a failure no more images are looked at.
  public func run<Acknowledgement: Sendable>(
    acknowledging: Acknowledgement.Type = Acknowledgement.self,
    prepare: (any FileSystem) throws -> Void = { _ in },
    workload: (FaultInjectingFileSystem, @escaping @Sendable (Acknowledgement) -> Void) throws -> Void,
    recover: @escaping @Sendable (any FileSystem) throws -> Void = { _ in },
    verify: @escaping @Sendable (any FileSystem, [Acknowledgement]) throws -> Void
  ) throws -> CrashReport {
    let exploration = Exploration(self, recover: recover, verify: verify)
    return try perform(exploration, prepare, workload)
  }

  /// Runs the workload up to the crash of a reproduction, and verifies the one image that it names.
  ///
  /// The seed, the disk and the faults are those of `line`, and not the explorer's.
  ///
  /// - Throws: what `run` throws, and `CrashReplayError` where the line is none or names a call that the
  ///   workload does not make.
  /// - Returns: a report with the failure, or without where it does not happen any more.
  public func replay<Acknowledgement: Sendable>(
    _ line: String, acknowledging: Acknowledgement.Type = Acknowledgement.self,
    prepare: (any FileSystem) throws -> Void = { _ in },
    workload: (FaultInjectingFileSystem, @escaping @Sendable (Acknowledgement) -> Void) throws -> Void,
    recover: @escaping @Sendable (any FileSystem) throws -> Void = { _ in },
    verify: @escaping @Sendable (any FileSystem, [Acknowledgement]) throws -> Void
  ) throws -> CrashReport {
    guard let reproduction = CrashReproduction(line) else { throw CrashReplayError.notALine }
    var explorer = self
    explorer.seed = reproduction.seed
    explorer.crashModel = reproduction.crashModel
    explorer.faults = reproduction.faults
    let exploration = Exploration(
      explorer, replaying: reproduction.crashes, recover: recover, verify: verify)
    let report = try explorer.perform(exploration, prepare, workload)
    guard report.images > 0 else { throw CrashReplayError.callNotMade }
    return report
  }

  private func perform<Acknowledgement: Sendable>(
    _ exploration: Exploration<Acknowledgement>, _ prepare: (any FileSystem) throws -> Void,
    _ workload: (FaultInjectingFileSystem, @escaping @Sendable (Acknowledgement) -> Void) throws -> Void
  ) throws -> CrashReport {
    let disk = try preparedDisk(prepare)
    let start = ContinuousClock.now
    let observed = FaultInjectingFileSystem(base: disk, plan: faults) { mutation in
      exploration.crash(disk, before: mutation)
    }
    try workload(observed) { exploration.acknowledge($0) }
    exploration.crash(disk, before: nil)
    try observed.checkAllWasMet()
    return exploration.finished(after: ContinuousClock.now - start)
  }

  private func preparedDisk(_ prepare: (any FileSystem) throws -> Void) throws -> SimulatedFileSystem {
    let disk = SimulatedFileSystem(seed: seed, crashModel: crashModel)
    try prepare(disk)
    return disk.published()
  }
}

/// Why a line can't be replayed.
public enum CrashReplayError: String, Error, Sendable, CustomStringConvertible {
  /// The text is not one that a failure prints.
  case notALine = "The text is not a line that reproduces a crash."
  /// The workload or the recovery never makes the call at which the crash comes: it is not the one that
  /// failed, or not the same at every run.
  case callNotMade = "The call before which the crash comes is never made."

  /// The reason in a sentence.
  public var description: String { rawValue }
}

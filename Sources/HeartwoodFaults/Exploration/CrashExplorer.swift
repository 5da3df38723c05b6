import HeartwoodFiles

/// Runs a workload on a simulated disk and verifies every image that a crash at any of its calls can leave.
///
///     let report = try CrashExplorer(seed: 42).run(acknowledging: Int.self) { fileSystem, acknowledge in
///       // … make number 1 durable …
///       acknowledge(1)
///     } verify: { fileSystem, acknowledged in
///       // … open the store; throw an error if a number of `acknowledged` is missing …
///     }
///     try report.check()
///
/// The workload must be deterministic: it must not read the time or random numbers of the system.
public struct CrashExplorer: Sendable {
  /// The seed of all pseudorandom decisions.
  public var seed: UInt64
  /// The guarantees of the disk.
  public var crashModel: CrashModel
  /// Which of the possible images are verified.
  public var limits: CrashImageLimits
  /// Faults injected during the workload, which has to handle them.
  public var faults: FaultPlan
  /// The number of nested crashes during recovery. With 1, each call of the recovery of each image is the
  /// moment of another crash. Requires a `recover` closure.
  public var recoveryDepth = 0
  /// Which of the possible images of a crash during recovery are verified.
  public var recoveryLimits = CrashImageLimits.prefixesOnly
  /// The maximum number of distinct images that are verified. Further images are skipped.
  public var imageBudget = Int.max

  /// Creates an explorer for a disk with this crash model.
  public init(
    seed: UInt64 = 0, crashModel: CrashModel = .hostile, limits: CrashImageLimits = CrashImageLimits(),
    faults: FaultPlan = FaultPlan()
  ) {
    self.seed = seed
    self.crashModel = crashModel
    self.limits = limits
    self.faults = faults
  }

  /// Verifies all images that a crash can leave, at each call of `workload` that changes something or makes
  /// it durable and after the last call.
  ///
  /// - Parameters:
  ///   - acknowledging: The type of the acknowledgements of the workload.
  ///   - prepare: Sets up the disk before the workload, without faults. Everything it writes is durable.
  ///   - workload: The code under test. It calls its second argument when it guarantees that a change
  ///     survives every later crash. If it consists of several processes, each is a process of the disk,
  ///     `fileSystem.disk?.process(named:)`, and runs on `fileSystem.sharingPlan(over: process)`.
  ///   - recover: Processes an image before it is verified, and again after each nested crash.
  ///   - verify: Opens an image and throws an error if its contents are wrong. The second argument is the
  ///     list of acknowledgements made before the crash, in order. It is called on the threads of the
  ///     workload, in the middle of its calls, and must not use objects of the workload.
  /// - Throws: Errors of `prepare` and `workload`, and `FaultPlan.UnusedFaults`. An error of `verify` or
  ///   `recover` is a failure and is stored in the report. The exploration stops at the first failure.
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

  /// Runs the workload up to the crash of a reproduction and verifies the one image that it names.
  ///
  /// The seed, the crash model and the faults are those of `line`, not those of the explorer.
  ///
  /// - Throws: The errors of `run`, and `CrashReplayError` if the line is invalid or names a call that the
  ///   workload does not make.
  /// - Returns: A report with the failure, or without one if it no longer occurs.
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

/// The reason why a line can't be replayed.
public enum CrashReplayError: String, Error, Sendable, CustomStringConvertible {
  /// The text is not a reproduction line printed by a failure.
  case notALine = "The text is not a line that reproduces a crash."
  /// The workload or the recovery never makes the call at which the crash occurs: it is not the one that
  /// failed, or it is not deterministic.
  case callNotMade = "The call before which the crash comes is never made."

  /// The reason as a sentence.
  public var description: String { rawValue }
}

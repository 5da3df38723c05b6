import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// A workload on a disk with faults, and the checks of its behavior.
struct ErrorScenario {
  let prepared: PreparedWorkload
  let plan: FaultPlan
  /// The images to check after a crash.
  var limits = Self.fewImages

  static var fewImages: CrashImageLimits {
    var limits = CrashImageLimits.prefixesOnly
    limits.imageCount = 2
    return limits
  }

  /// The result of a run.
  struct Outcome {
    /// The number of injected faults.
    var firings: Int
    /// The errors that the store threw.
    var errors: [EngineError]
  }

  /// Runs the workload through its errors. Checks the crash images after the first error and at the end, the
  /// files that remain open after closing, and the state after reopening without faults.
  @discardableResult
  func run() throws -> Outcome {
    let (disk, reference) = prepared.begin()
    let fileSystem = FaultInjectingFileSystem(base: disk, plan: prepared.workload.faults + plan)
    let session = Session(fileSystem, reference: reference)
    session.onFirstError = { try checkCrashes(disk, reference) }
    try session.runThroughErrors(prepared.workload.steps)
    try checkCrashes(disk, reference)
    do {
      try session.close()
    } catch { try requireClear(error, "\(plan), closing") }
    for error in session.errors { try requireClear(error, "\(plan)") }
    try requireNothingOpen(disk, "\(plan), closed")
    do {
      try StoreChecker(promise: reference.now).check(disk)
    } catch { throw Finding("\(plan), opened when nothing fails: \(error)") }
    try requireNothingOpen(disk, "\(plan), closed again")
    return Outcome(
      firings: fileSystem.firingCounts.reduce(0, +) + fileSystem.shortTransferCount, errors: session.errors)
  }

  private func checkCrashes(_ disk: SimulatedFileSystem, _ reference: ReferenceModel) throws {
    let checker = StoreChecker(promise: reference.now)
    for image in disk.crashImages(limits) {
      do {
        try checker.check(image.mounted())
      } catch { throw Finding("\(plan), after a crash, \(image): \(error)") }
    }
  }
}

import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// Opens and reads a store that was not closed, on a disk on which a call fails. The error must be reported,
/// nothing may be lost, and the next opening must find everything.
struct OpeningErrorScenario {
  private let image: CrashImage
  private let reference: ReferenceModel
  private let newest: Int

  init(_ workload: Workload) throws {
    let disk = SimulatedFileSystem()
    let session = Session(disk)
    try session.run(workload.preparation + workload.steps)
    newest = session.newestGeneration
    session.kill()
    reference = session.reference
    image = try disk.untouchedImage()
  }

  /// All calls of a run without faults.
  func calls(_ access: EngineOptions.Access) throws -> [FailingCall] {
    try FailingCall.all(over: image.mounted()) { try Self.look($0, access) }
  }

  /// Returns whether a fault of the plan was injected.
  func run(_ plan: FaultPlan, _ access: EngineOptions.Access) throws -> Bool {
    let disk = image.mounted()
    let before = disk.digest
    let fileSystem = FaultInjectingFileSystem(base: disk, plan: plan)
    do {
      try Self.look(fileSystem, access)
    } catch { try requireClear(error, "\(plan), opening") }
    try requireNothingOpen(disk, "\(plan), opened and closed")
    try require(access == .readWrite || disk.digest == before, "\(plan): opened to read only, it has changed")
    let generation = try StoreChecker(promise: reference.now).check(disk)
    try require(generation == newest, "\(plan): generation \(generation) is found then, not \(newest)")
    return fileSystem.firingCounts.contains { $0 > 0 }
  }

  private static func look(_ fileSystem: any FileSystem, _ access: EngineOptions.Access) throws {
    var options = Session.options
    options.access = access
    let engine = try Engine(at: Session.path, options: options, fileSystem: fileSystem)
    // Closes the engine even if reading fails.
    let outcome = Result { try lookAtAll(of: engine) }
    try engine.close()
    try outcome.get()
  }

  private static func lookAtAll(of engine: Engine) throws {
    _ = try Session.rows(of: engine)
    _ = try engine.generations()
    let report = try engine.verify()
    try require(report.isSound, "a call that failed was taken for damage: \(report.findings)")
  }
}

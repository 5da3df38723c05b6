import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// Errors over the real file system, where what is left open costs the process a descriptor or a map.
struct RealDisk {
  let workload: Workload

  /// All calls, where nothing fails.
  func calls() throws -> [FailingCall] {
    let folder = try RootedFileSystem()
    return try FailingCall.all(over: folder) { fileSystem in
      let session = Session(fileSystem)
      try session.run(workload.preparation + workload.steps)
      try session.close()
    }
  }

  /// Runs the workload through its errors, with the session alone knowing the store, and looks at what is
  /// open before and after.
  func run(_ plan: FaultPlan) throws {
    let folder = try RootedFileSystem()
    let reference = ReferenceModel()
    do {
      try live(folder, plan, reference)
      if let compiled = folder.compiled { try require(compiled.isEmpty, "still in use: \(compiled)") }
      try StoreChecker(promise: reference.now).check(folder)
    } catch { throw Finding("\(plan), on a real disk: \(error)") }
  }

  private func live(_ folder: RootedFileSystem, _ plan: FaultPlan, _ reference: ReferenceModel) throws {
    // Nothing is gained by waiting for the disk.
    let quick: FaultPlan = [.sync(.lies, .forever), .syncDirectory(.lies, .forever)]
    let session = Session(FaultInjectingFileSystem(base: folder, plan: plan + quick), reference: reference)
    try session.runThroughErrors(workload.preparation + workload.steps)
    do {
      try session.close()
    } catch { try requireClear(error, "closing") }
    for error in session.errors { try requireClear(error, "running") }
  }
}

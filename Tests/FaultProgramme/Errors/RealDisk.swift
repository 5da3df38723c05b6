import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// Errors over the real file system, where a leak costs the process a descriptor or a memory map.
struct RealDisk {
  let workload: Workload

  /// All calls of a run without faults.
  func calls() throws -> [FailingCall] {
    let folder = try RootedFileSystem()
    return try FailingCall.all(over: folder) { fileSystem in
      let session = Session(fileSystem)
      try session.run(workload.preparation + workload.steps)
      try session.close()
    }
  }

  /// Runs the workload through its errors and compares the open descriptors and maps before and after.
  func run(_ plan: FaultPlan) throws {
    let folder = try RootedFileSystem()
    let reference = ReferenceModel()
    do {
      try live(folder, plan, reference)
      if let openFiles = folder.openFiles { try require(openFiles.isEmpty, "still in use: \(openFiles)") }
      try StoreChecker(promise: reference.now).check(folder)
    } catch { throw Finding("\(plan), on a real disk: \(error)") }
  }

  private func live(_ folder: RootedFileSystem, _ plan: FaultPlan, _ reference: ReferenceModel) throws {
    // Omits the syncs, because their effect is not tested here.
    let quick: FaultPlan = [.sync(.lies, .forever), .syncDirectory(.lies, .forever)]
    let session = Session(FaultInjectingFileSystem(base: folder, plan: plan + quick), reference: reference)
    try session.runThroughErrors(workload.preparation + workload.steps)
    do {
      try session.close()
    } catch { try requireClear(error, "closing") }
    for error in session.errors { try requireClear(error, "running") }
  }
}

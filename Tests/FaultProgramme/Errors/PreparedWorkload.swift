import HeartwoodFaults
import HeartwoodFiles

/// A workload with its prepared disk, for repeated runs.
struct PreparedWorkload {
  let workload: Workload
  private let image: CrashImage
  private let reference = ReferenceModel()

  init(_ workload: Workload, seed: UInt64 = 0, _ crashModel: CrashModel = .posix) throws {
    self.workload = workload
    let disk = SimulatedFileSystem(seed: seed, crashModel: crashModel)
    try workload.prepare(disk, reference)
    image = try disk.untouchedImage()
  }

  /// A copy of the prepared disk and of its reference model.
  func begin() -> (disk: SimulatedFileSystem, reference: ReferenceModel) {
    (image.mounted(), ReferenceModel(reference))
  }

  /// All calls of the steps and of closing, in a run without faults.
  func calls() throws -> [FailingCall] {
    let (disk, reference) = begin()
    return try FailingCall.all(over: disk) { fileSystem in
      let session = Session(fileSystem, reference: reference)
      try session.run(workload.steps)
      try session.close()
    }
  }
}

extension SimulatedFileSystem {
  /// The disk in its current state, with everything durable.
  func untouchedImage() throws -> CrashImage {
    let images = Array(crashImages(.prefixesOnly))
    guard let image = images.first(where: { $0.keptChangeCount == unsyncedChangeCount }) else {
      throw Finding("no crash loses nothing")
    }
    return image
  }
}

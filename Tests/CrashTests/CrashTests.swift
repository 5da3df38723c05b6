import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

@Suite(.serialized) struct CrashTests {
  @Test(arguments: Workload.all)
  func `a crash at any moment loses nothing that was acknowledged`(workload: Workload) throws {
    let disk = SimulatedFileSystem()
    let witness = Witness()
    let checker = ImageChecker()
    let observed = FaultInjectingFileSystem(base: disk) { mutation in
      for image in disk.crashImages() { checker.check(image, witness.candidates, after: "\(mutation)") }
    }
    do {
      let session = Session(disk, witness: witness)
      try session.run(workload.preparation)
      try session.close()
    }
    try Session(observed, witness: witness).run(workload.steps)
    for image in disk.crashImages() { checker.check(image, witness.candidates, after: "the end") }
    print(
      "\(workload): \(observed.mutationCount) calls, \(checker.imageCount) images,",
      "\(checker.distinctCount) of them different")
    #expect(checker.imageCount > observed.mutationCount)
  }

  @Test(arguments: Workload.all)
  func `a crash in a recovery loses nothing either`(workload: Workload) throws {
    let disk = SimulatedFileSystem()
    let witness = Witness()
    do {
      let session = Session(disk, witness: witness)
      try session.run(workload.preparation + workload.steps)
      session.kill()
    }
    let checker = ImageChecker()
    var crashes = 0
    for image in disk.crashImages(.prefixesOnly) {
      let recovering = image.mounted()
      let rows = try rowsFound(in: image)
      let observed = FaultInjectingFileSystem(base: recovering) { mutation in
        for inner in recovering.crashImages() {
          checker.check(inner, [rows], after: "\(mutation) of recovery")
        }
      }
      try Engine(at: Session.path, options: Session.options, fileSystem: observed).close()
      crashes += observed.mutationCount
    }
    print("\(workload): \(crashes) calls of recoveries, \(checker.imageCount) images")
  }

  @Test func `the workloads go everywhere`() throws {
    var names: Set<String> = []
    for workload in Workload.all {
      let disk = SimulatedFileSystem()
      let session = Session(disk)
      try session.run(workload.preparation + workload.steps)
      names.formUnion(try disk.openDirectory(Session.path).entries().map { "\(workload): \($0)" })
    }
    #expect(names.contains("\(Workload.checkpoints): 0000000000000002.pages"))
    #expect(names.contains("\(Workload.roll): 0000000000000002.log"))
    #expect(names.contains("\(Workload.reopening): 0000000000000005.log"))
  }

  private func rowsFound(in image: CrashImage) throws -> Rows {
    let engine = try Engine(at: Session.path, options: Session.options, fileSystem: image.mounted())
    defer { try? engine.close() }
    return try Session.rows(of: engine)
  }
}

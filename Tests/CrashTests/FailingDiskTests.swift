import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import FaultProgramme

@Suite(.serialized) struct FailingDiskTests {
  @Test(arguments: Workload.all)
  func `any one failing call leaves a store that keeps its promises`(workload: Workload) throws {
    let calls = try countCalls(of: workload)
    for number in 1...calls {
      let code = number.isMultiple(of: 2) ? FileSystemError.Code.inputOutput : .noSpace
      let plan = FaultPlan([.init(.mutations, occurrence: number, code: code)])
      try run(workload, under: plan)
    }
    print("\(workload): \(calls) failing calls")
  }

  @Test(arguments: Workload.all)
  func `a write that ends in its middle leaves a store that keeps its promises`(workload: Workload) throws {
    var number = 1
    while true {
      let plan = FaultPlan([.init(.of(.write), occurrence: number, code: .noSpace, effect: .half)])
      guard try run(workload, under: plan) > 0 else { break }
      number += 1
    }
    print("\(workload): \(number - 1) halved writes")
  }

  @Test(arguments: Workload.all)
  func `short reads and writes change nothing`(workload: Workload) throws {
    let fileSystem = FaultInjectingFileSystem(
      base: SimulatedFileSystem(), plan: FaultPlan(largestRead: 1000, largestWrite: 700))
    try Session(fileSystem).run(workload.preparation + workload.steps)
    #expect(fileSystem.shortTransferCount > 0)
  }

  @Test(arguments: Workload.all)
  func `any one failing read is an error and not a loss`(workload: Workload) throws {
    let base = SimulatedFileSystem()
    let witness = Witness()
    do {
      let session = Session(base, witness: witness)
      try session.run(workload.preparation + workload.steps)
      session.kill()
    }
    let rows = witness.newest
    let image = try #require(base.crashImages().first { _ in true })
    for operation in [FileSystemError.Operation.read, .size, .open, .entries, .openDirectory, .lock, .map] {
      var number = 1
      while true {
        let plan = FaultPlan([.init(.of(operation), occurrence: number)])
        let fileSystem = FaultInjectingFileSystem(base: image.mounted(), plan: plan)
        let error = try failureOfOpening(fileSystem)
        guard fileSystem.injectedErrorCount > 0 else { break }
        if let error { #expect(error.isClear, "\(plan.faults): \(error)") }
        fileSystem.use(FaultPlan())
        let engine = try Engine(at: Session.path, options: Session.options, fileSystem: fileSystem)
        #expect(try Session.rows(of: engine) == rows, "\(plan.faults)")
        number += 1
      }
    }
  }

  /// Opens and reads everything; returns what went wrong.
  private func failureOfOpening(_ fileSystem: any FileSystem) throws -> EngineError? {
    do {
      let engine = try Engine(at: Session.path, options: Session.options, fileSystem: fileSystem)
      _ = try Session.rows(of: engine)
      try engine.close()
      return nil
    } catch let error as EngineError {
      return error
    }
  }

  // MARK: Runs

  private func countCalls(of workload: Workload) throws -> Int {
    let prepared = try prepare(workload)
    let fileSystem = FaultInjectingFileSystem(base: prepared.disk)
    let session = Session(fileSystem, witness: prepared.witness)
    try session.run(workload.steps)
    try session.close()
    return fileSystem.mutationCount
  }

  private func prepare(_ workload: Workload) throws -> (disk: SimulatedFileSystem, witness: Witness) {
    let disk = SimulatedFileSystem()
    let session = Session(disk)
    if !workload.preparation.isEmpty {
      try session.run(workload.preparation)
      try session.close()
    }
    return (disk, session.witness)
  }

  /// Runs a workload through an error, and looks at what a crash and a reopening find then.
  /// Returns how many errors were injected.
  @discardableResult
  private func run(_ workload: Workload, under plan: FaultPlan) throws -> Int {
    let (disk, witness) = try prepare(workload)
    let fileSystem = FaultInjectingFileSystem(base: disk, plan: plan)
    let session = Session(fileSystem, witness: witness)
    try session.runThroughErrors(workload.steps)
    for error in session.errors { #expect(error.isClear, "\(plan.faults): \(error)") }
    for image in disk.crashImages(.prefixesOnly) {
      #expect(throws: Never.self, "\(plan.faults)") {
        try StoreChecker(promise: witness.now).check(image.mounted())
      }
    }
    do {
      try session.close()
    } catch let error as EngineError {
      #expect(error.isClear, "\(plan.faults): \(error)")
    }
    let reopened = try Engine(at: Session.path, options: Session.options, fileSystem: disk)
    let rows = try Session.rows(of: reopened)
    #expect(
      witness.candidates.contains(rows),
      "\(plan.faults): found \(rows.summary), possible \(witness.candidates.map(\.summary))")
    #expect(try reopened.verify().findings == [], "\(plan.faults)")
    return fileSystem.injectedErrorCount
  }
}

extension EngineError {
  /// Says that the disk is at fault, and in which file or folder.
  var isClear: Bool {
    let kinds: Set<Code> = [.inputOutput, .noSpace, .outcomeUnknown, .stopped]
    return kinds.contains(code) && !message.isEmpty && (file != nil || underlying != nil)
  }
}

import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import FaultProgramme

@Suite struct FailedSyncTests {
  @Test(arguments: [FaultPlan.Effect.none, .whole])
  func `after a failed sync of a commit the store is read-only, and reopening finds the durable data`(
    effect: FaultPlan.Effect
  ) throws {
    let disk = SimulatedFileSystem()
    let fileSystem = FaultInjectingFileSystem(base: disk)
    let engine = try Engine(at: Session.path, options: Session.options, fileSystem: fileSystem)
    try engine.write { try $0.put("safe", [1]) }
    fileSystem.use(FaultPlan([.init(.of(.sync), suffix: ".log", effect: effect)]))

    let unknown = try #require(failure { try engine.write { try $0.put("unknown", [2]) } })
    #expect(unknown.code == .outcomeUnknown)
    #expect(unknown.isOutcomeUnknown)
    #expect(fileSystem.firingCounts == [1])
    let stopped = try #require(failure { try engine.write { try $0.put("later", [3]) } })
    #expect(stopped.code == .stopped)
    #expect(try #require(failure { try engine.checkpoint() }).code == .stopped)
    #expect(try Session.rows(of: engine) == ["safe": [1]], "reading goes on with what was published")

    let without: Rows = ["safe": [1]]
    let with: Rows = ["safe": [1], "unknown": [2]]
    var found: Set<Rows> = []
    for image in disk.crashImages() { found.insert(try rowsFound(in: image)) }
    #expect(found == (effect == .none ? [without, with] : [with]))

    let mutations = fileSystem.mutationCount
    try? engine.close()
    #expect(fileSystem.mutationCount == mutations, "nothing is written to a store that has stopped")
    let reopened = try Engine(at: Session.path, options: Session.options, fileSystem: disk)
    let rows = try Session.rows(of: reopened)
    #expect([without, with].contains(rows))
    for image in disk.crashImages() {
      #expect(try rowsFound(in: image) == rows, "what a recovery has shown stays: \(image)")
    }
    try reopened.write { try $0.put("again", [4]) }
    try reopened.close()
  }

  @Test func `a close after a failed sync in the background reports that deferred commits may be lost`()
    throws
  {
    let disk = SimulatedFileSystem()
    let fileSystem = FaultInjectingFileSystem(base: disk)
    var options = Session.options
    options.checkpointBytes = 64 << 10
    let engine = try Engine(at: Session.path, options: options, fileSystem: fileSystem)
    fileSystem.use(FaultPlan([.init(.of(.sync), suffix: ".pages")]))
    try engine.write(durability: .deferred) { try $0.put("deferred", [UInt8](repeating: 1, count: 70_000)) }
    #expect(fileSystem.firingCounts == [1])
    let lost = disk.crashImages().contains { (try? rowsFound(in: $0).isEmpty) == true }
    #expect(lost)
    #expect(try #require(failure { try engine.close() }).code == .stopped)
    #expect(disk.lockCount == 0, "it is closed all the same")
  }

  @Test func `a close after a failed sync is no error where every acknowledged commit is durable`() throws {
    let fileSystem = FaultInjectingFileSystem(base: SimulatedFileSystem())
    let engine = try Engine(at: Session.path, options: Session.options, fileSystem: fileSystem)
    try engine.write { try $0.put("safe", [1]) }
    fileSystem.use(FaultPlan([.init(.of(.sync), duration: .forever)]))
    #expect(failure { try engine.write { try $0.put("unknown", [2]) } }?.code == .outcomeUnknown)
    try engine.close()
  }

  /// Runs a part of `Tests/FaultProgramme/run syncs`.
  @Test(arguments: [SyncBehavior.failsKeepingData, .failsRevertingData, .lies])
  func `a sync that misbehaves loses only data that it reported as synced`(behavior: SyncBehavior) throws {
    var limits = CrashImageLimits.prefixesOnly
    limits.imageCount = 2
    var figures = Figures()
    try SyncSubject(workload: .deferred, behavior: behavior).run(round: 0, seed: 1, limits, &figures)
    #expect(figures["misbehaving syncs"] > 10)
  }

  private func rowsFound(in image: CrashImage) throws -> Rows {
    let engine = try Engine(at: Session.path, options: Session.options, fileSystem: image.mounted())
    defer { try? engine.close() }
    return try Session.rows(of: engine)
  }

  private func failure(_ body: () throws -> Void) -> EngineError? {
    do {
      try body()
      return nil
    } catch {
      return error as? EngineError
    }
  }
}

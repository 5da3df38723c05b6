import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// The graph workload on a disk with a lying sync.
struct GraphSyncScenario {
  let sync: BadSync
  let limits: CrashImageLimits
  let states: [GraphFacts]

  func run(_ seen: inout Set<CrashesBehindSync.ImageIdentity>) throws {
    let disk = SimulatedFileSystem(crashModel: .hostile)
    // After a lie any state that once existed is allowed, whatever was acknowledged.
    let crashes = CrashesBehindSync(disk, limits, seen) {
      0
    } check: {
      try check($0.mounted())
    }
    let fileSystem = FaultInjectingFileSystem(base: disk, plan: sync.plan) { _ in crashes.beforeCall() }
    crashes.faults = fileSystem
    do {
      try GraphSession.live(on: fileSystem, GraphWitness(states))
    } catch { throw Finding("\(sync): \(error)") }
    crashes.look()
    if let finding = crashes.finding { throw Finding("\(sync), \(finding)") }
    seen = crashes.seen
  }

  /// Checks that the store is in a state that once existed, or reports damage.
  private func check(_ disk: any FileSystem) throws {
    do {
      let container = try GraphSession.open(disk)
      let facts = Result { try GraphFacts(of: container) }
      let report = Result { try container.persistentStoreCoordinator.verify() }
      try container.close()
      let found = try facts.get()
      try require(states.contains(found), "shows\n\(found)")
      _ = try report.get()
    } catch let error as HeartwoodError {
      let code = error.engineError?.code
      try require(
        error.code == .persistentStoreDamaged || code == .damaged || code == .notAStore,
        "neither a state nor damage: \(error)")
    }
  }
}

import Heartwood
import HeartwoodFaults
import HeartwoodFiles

/// Opens and reads a whole graph on a disk on which a call fails. The result must be the right objects or an
/// error.
struct GraphOpening {
  private let image: CrashImage
  private let facts: GraphFacts

  init() throws {
    let disk = SimulatedFileSystem()
    let container = try GraphSession.open(disk)
    for step in GraphWorkload.steps { try GraphSession.run(step, on: container) }
    facts = try GraphFacts(of: container)
    try container.close()
    image = try disk.untouchedImage()
  }

  /// All calls of a run without faults.
  func calls() throws -> [FailingCall] {
    try FailingCall.all(over: image.mounted()) { fileSystem in
      let container = try GraphSession.open(fileSystem)
      _ = try GraphFacts(of: container)
      try container.close()
    }
  }

  /// Returns whether an error was thrown.
  func run(_ plan: FaultPlan) throws -> Bool {
    let disk = image.mounted()
    var isRefused = false
    do {
      try open(FaultInjectingFileSystem(base: disk, plan: plan), plan)
    } catch {
      try requireClear(error, "\(plan)")
      isRefused = true
    }
    try requireNothingOpen(disk, "\(plan), closed")
    try open(disk, plan)
    return isRefused
  }

  private func open(_ fileSystem: any FileSystem, _ plan: FaultPlan) throws {
    let container = try GraphSession.open(fileSystem)
    let outcome = Result { try GraphFacts(of: container) }
    try container.close()
    let found = try outcome.get()
    try require(found == facts, "\(plan): found\n\(found)")
  }
}

import Heartwood
import HeartwoodFaults
import HeartwoodFiles

/// A graph that is opened and read as a whole, on a disk on which a call fails: the right objects, or an
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

  /// All calls, where nothing fails.
  func calls() throws -> [FailingCall] {
    try FailingCall.all(over: image.mounted()) { fileSystem in
      let container = try GraphSession.open(fileSystem)
      _ = try GraphFacts(of: container)
      try container.close()
    }
  }

  /// Returns whether something was refused.
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

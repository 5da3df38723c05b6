import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// The graph workload on a disk with a failing call. Refused saves are retried.
final class GraphErrorScenario {
  struct Outcomes: CustomStringConvertible {
    var firings = 0
    var refused = 0
    /// The number of saves that succeeded when the same context retried them.
    var retried = 0
    /// The number of times the store was reopened because it had stopped or the outcome of a save was
    /// unknown.
    var reopened = 0
    /// The number of crash images.
    var images = 0

    mutating func add(_ other: Outcomes) {
      firings += other.firings
      refused += other.refused
      retried += other.retried
      reopened += other.reopened
      images += other.images
    }

    var description: String { "\(refused) refusals, \(retried) retried, \(reopened) reopened" }
  }

  private let disk = SimulatedFileSystem(crashModel: .hostile)
  private let fileSystem: FaultInjectingFileSystem
  private let plan: FaultPlan
  private let limits: CrashImageLimits
  private let reference: GraphWitness
  private var container: PersistentContainer?
  private(set) var outcomes = Outcomes()

  init(_ plan: FaultPlan, _ states: [GraphFacts], limits: CrashImageLimits = ErrorScenario.fewImages) {
    self.plan = plan
    self.limits = limits
    reference = GraphWitness(states)
    fileSystem = FaultInjectingFileSystem(base: disk, plan: plan)
  }

  /// All calls of a run without faults.
  static func calls() throws -> [FailingCall] {
    let states = try GraphSession.states()
    return try FailingCall.all(over: SimulatedFileSystem()) { fileSystem in
      try GraphErrorScenario(over: fileSystem, states).live()
    }
  }

  private init(over base: any FileSystem, _ states: [GraphFacts]) {
    plan = FaultPlan()
    limits = ErrorScenario.fewImages
    reference = GraphWitness(states)
    fileSystem = FaultInjectingFileSystem(base: base)
  }

  @discardableResult
  func run() throws -> Outcomes {
    do {
      try live()
      try requireNothingOpen(disk, "closed")
      outcomes.firings = fileSystem.injectedErrorCount
      let last = try GraphSession.open(disk)
      try expect(try GraphFacts(of: last), "in the end")
      let report = try last.persistentStoreCoordinator.verify()
      try require(report.isSound, "not sound: \(report.findings)")
      try last.close()
      try requireNothingOpen(disk, "closed again")
      for name in try disk.openDirectory(Session.path).entries() {
        try require(StoreChecker.isExpected(name), "there is a file left over, \(name)")
      }
    } catch { throw Finding("\(plan): \(error)") }
    return outcomes
  }

  private func live() throws {
    try reopen()
    for (number, step) in GraphWorkload.steps.enumerated() {
      while reference.number == number { try attempt(step) }
      if number == 5 { try reopen() }
    }
    do {
      try container?.close()
    } catch { try requireClear(error, "closing") }
    container = nil
  }

  private func reopen() throws {
    do {
      try container?.close()
    } catch { try requireClear(error, "closing") }
    container = nil
    do {
      container = try GraphSession.open(fileSystem)
    } catch {
      try requireClear(error, "opening")
      try requireNothingOpen(disk, "refused to open")
      outcomes.refused += 1
      fileSystem.use(FaultPlan())
      container = try GraphSession.open(fileSystem)
    }
  }

  private func expect(_ facts: GraphFacts, _ moment: String) throws {
    try require(reference.candidates.contains(facts), "\(moment): found\n\(facts)")
  }

  /// Attempts one save or batch, and checks the state if it is refused.
  private func attempt(_ step: GraphStep) throws {
    guard let container else { return }
    let context = container.newBackgroundContext()
    try context.performAndWait {
      if step.isBatch { return try attempt(batch: step, context) }
      guard try edit(step, context) else { return }
      let shown = try GraphFacts(of: context)
      let changes = [context.insertedObjects, context.updatedObjects, context.deletedObjects]
      reference.begin()
      do {
        try context.save()
        reference.acknowledge()
      } catch {
        outcomes.refused += 1
        try requireClear(error, "\(step)")
        let kept = [context.insertedObjects, context.updatedObjects, context.deletedObjects]
        try require(kept == changes && context.hasChanges, "\(step): the context has forgotten its changes")
        let images = disk.crashImages(limits)
        try require(try facts(of: context) == shown, "\(step): the context shows something else")
        try check(images)
        try settle(context, (error as? HeartwoodError)?.isOutcomeUnknown == true)
      }
    }
  }

  /// Executes a batch. If it is refused, nothing of it may be seen, and it is repeated in another context.
  private func attempt(batch: GraphStep, _ context: ManagedObjectContext) throws {
    reference.begin()
    do {
      try batch.edit(context)
      return reference.acknowledge()
    } catch {
      outcomes.refused += 1
      try requireClear(error, "\(batch)")
      try check(disk.crashImages(limits))
      fileSystem.use(FaultPlan())
      guard (error as? HeartwoodError)?.isOutcomeUnknown != true else { return try reopenToFindOut() }
      reference.withdraw()
      guard let container else { return }
      let facts = try GraphFacts(of: container)
      try require(facts == reference.newest, "\(batch): what was refused is seen:\n\(facts)")
    }
  }

  /// The objects that a context shows after a refusal. If the disk still fails, the error must be clear, and
  /// the context is read again on a disk that works.
  private func facts(of context: ManagedObjectContext) throws -> GraphFacts {
    do {
      return try GraphFacts(of: context)
    } catch {
      try requireClear(error, "reading after a refusal")
      fileSystem.use(FaultPlan())
      return try GraphFacts(of: context)
    }
  }

  private func check(_ images: CrashImages) throws {
    for image in images {
      outcomes.images += 1
      try reference.now.check(image.mounted())
    }
  }

  /// Makes the changes of a step. If a read for them fails, the error must be reported, and the changes are
  /// repeated in another context.
  private func edit(_ step: GraphStep, _ context: ManagedObjectContext) throws -> Bool {
    do {
      try step.edit(context)
      _ = try GraphFacts(of: context)
      return true
    } catch {
      try requireClear(error, "\(step)")
      outcomes.refused += 1
      fileSystem.use(FaultPlan())
      return false
    }
  }

  /// Checks that reading works after a refusal, and that the same save succeeds when the disk works again, if
  /// necessary after reopening.
  private func settle(_ context: ManagedObjectContext, _ isOutcomeUnknown: Bool) throws {
    fileSystem.use(FaultPlan())
    if !isOutcomeUnknown {
      reference.withdraw()
      if let container {
        let facts = try GraphFacts(of: container)
        try require(facts == reference.newest, "what was refused is seen:\n\(facts)")
      }
      reference.begin()
      do {
        try context.save()
        outcomes.retried += 1
        return reference.acknowledge()
      } catch { try requireClear(error, "saving again") }
    }
    try reopenToFindOut()
  }

  /// Reopens the store, which shows whether a save or a batch has happened.
  private func reopenToFindOut() throws {
    outcomes.reopened += 1
    try reopen()
    guard let container else { return }
    let facts = try GraphFacts(of: container)
    try expect(facts, "reopened")
    if facts == reference.newest { reference.withdraw() } else { reference.acknowledge() }
  }
}

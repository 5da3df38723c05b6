import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import FaultProgramme

@Suite(.serialized) struct `A graph on a disk that fails` {
  @Test func `refuses a save whole, and the same context saves when the disk works again`() throws {
    let states = try GraphSession.states()
    let calls = try GraphCourse(FaultPlan(), states).run()
    var outcomes = GraphCourse.Outcomes()
    for number in 1...calls {
      let course = GraphCourse(Self.plan(number), states)
      _ = try course.run()
      outcomes.add(course.outcomes)
    }
    print("graph: \(calls) failing calls, \(outcomes)")
    #expect(outcomes.refused > 0 && outcomes.retried > 0 && outcomes.reopened > 0)
  }

  @Test(arguments: [0, 9_000, 17_000, 33_000, 60_000, 100_000])
  func `goes on where it stopped when a full disk has room again`(room: Int64) throws {
    let course = GraphCourse(FaultPlan(spaceLimit: room), try GraphSession.states())
    _ = try course.run()
    #expect(course.outcomes.refused > 0)
  }

  @Test func `shows the right objects or an error when a read fails`() throws {
    let facts = try #require(try GraphSession.states().last)
    let disk = SimulatedFileSystem()
    let container = try GraphSession.open(disk)
    for step in GraphWorkload.steps { try GraphSession.run(step, on: container) }
    try container.close()
    var refusals = 0
    for number in 1... {
      let plan = FaultPlan([.init(.of(.read), occurrence: number)])
      let fileSystem = FaultInjectingFileSystem(base: disk, plan: plan)
      do {
        let container = try GraphSession.open(fileSystem)
        #expect(try GraphFacts(of: container) == facts, "\(plan)")
        try container.close()
      } catch let error as HeartwoodError {
        #expect(error.message.contains(Session.path), "\(error)")
        refusals += 1
      }
      if fileSystem.injectedErrorCount == 0 { break }
    }
    #expect(refusals > 5)
  }

  /// Each call fails in one of the ways that a disk has.
  private static func plan(_ number: Int) -> FaultPlan {
    switch number % 4 {
    case 0: FaultPlan([.init(.mutations, occurrence: number, code: .noSpace, effect: .half)])
    case 1: FaultPlan([.init(.mutations, occurrence: number, code: .inputOutput)])
    case 2: FaultPlan([.init(.mutations, occurrence: number, code: .noSpace, duration: .forever)])
    default: FaultPlan([.init(.mutations, occurrence: number, code: .inputOutput, effect: .whole)])
    }
  }
}

/// The life of a library on a disk that fails at some point: what is refused is tried again.
private final class GraphCourse {
  struct Outcomes: CustomStringConvertible {
    var refused = 0
    /// The same context has saved at the second time.
    var retried = 0
    /// The store had stopped, or it was open what had become of a save.
    var reopened = 0

    mutating func add(_ other: Outcomes) {
      refused += other.refused
      retried += other.retried
      reopened += other.reopened
    }

    var description: String { "\(refused) refusals, \(retried) retried, \(reopened) reopened" }
  }

  private let disk = SimulatedFileSystem()
  private let fileSystem: FaultInjectingFileSystem
  private let plan: FaultPlan
  private let witness: GraphWitness
  private var container: PersistentContainer?
  private(set) var outcomes = Outcomes()

  init(_ plan: FaultPlan, _ states: [GraphFacts]) {
    self.plan = plan
    witness = GraphWitness(states)
    fileSystem = FaultInjectingFileSystem(base: disk, plan: plan)
  }

  /// Returns how many calls there were.
  func run() throws -> Int {
    try reopen()
    for (number, step) in GraphWorkload.steps.enumerated() {
      while witness.number == number { try attempt(step) }
      if number == 5 { try reopen() }
    }
    let calls = fileSystem.mutationCount
    try? container?.close()
    container = nil
    fileSystem.use(FaultPlan())
    let last = try GraphSession.open(disk)
    expect(try GraphFacts(of: last), "in the end")
    #expect(try last.persistentStoreCoordinator.verify().findings == [], "\(plan)")
    try last.close()
    return calls
  }

  private func reopen() throws {
    do {
      try container?.close()
    } catch { expectClear(error) }
    container = nil
    do {
      container = try GraphSession.open(fileSystem)
    } catch {
      expectClear(error)
      outcomes.refused += 1
      fileSystem.use(FaultPlan())
      container = try GraphSession.open(fileSystem)
    }
  }

  private func expect(_ facts: GraphFacts, _ moment: String) {
    #expect(witness.candidates.contains(facts), "\(plan), \(moment): found\n\(facts)")
  }

  /// The error names the trouble and the file.
  private func expectClear(_ error: any Error) {
    let error = error as? HeartwoodError
    let cause = error?.underlying as? EngineError
    #expect(cause != nil && error?.message.contains(Session.path) == true, "\(String(describing: error))")
  }

  /// One save, and what has to hold where it is refused.
  private func attempt(_ step: GraphStep) throws {
    guard let container else { return }
    let context = container.newBackgroundContext()
    try context.performAndWait {
      try step.edit(context)
      let shown = try GraphFacts(of: context)
      let changes = [context.insertedObjects, context.updatedObjects, context.deletedObjects]
      witness.begin()
      do {
        try context.save()
        witness.acknowledge()
      } catch {
        outcomes.refused += 1
        expectClear(error)
        #expect(
          [context.insertedObjects, context.updatedObjects, context.deletedObjects] == changes, "\(plan)")
        #expect(context.hasChanges)
        #expect(try GraphFacts(of: context) == shown, "\(plan): \(step)")
        try settle(context, (error as? HeartwoodError)?.isOutcomeUnknown == true)
      }
    }
  }

  /// After a refusal: reading goes on, and the same save works with the disk, or after opening it again.
  private func settle(_ context: ManagedObjectContext, _ isOutcomeUnknown: Bool) throws {
    for image in disk.crashImages(.prefixesOnly) {
      #expect(throws: Never.self, "\(plan)") { try witness.now.check(image.mounted()) }
    }
    fileSystem.use(FaultPlan())
    if !isOutcomeUnknown {
      witness.withdraw()
      if let container { #expect(try GraphFacts(of: container) == witness.newest, "\(plan)") }
      witness.begin()
      do {
        try context.save()
        outcomes.retried += 1
        return witness.acknowledge()
      } catch { expectClear(error) }
    }
    outcomes.reopened += 1
    try reopen()
    guard let container else { return }
    let facts = try GraphFacts(of: container)
    expect(facts, "reopened")
    if facts == witness.newest { witness.withdraw() } else { witness.acknowledge() }
  }
}

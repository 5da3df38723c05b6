import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

final class Day: ManagedObject {
  @Attribute(.unique) var name = ""
  @Attribute var openCount: Int64 = 0
  @Relationship(inverse: { $0.day }, deleteRule: .cascade) var errands: Set<Errand>
}

final class Errand: ManagedObject {
  @Attribute var title = ""
  @Attribute var isDone = false
  @Relationship(inverse: { $0.errands }) var day: Day?
}

/// Runs the example of the article about applications, and checks that every line of it occurs in this file.
@Suite struct `Examples of testing an application` {
  @Test func `the badge is right after every crash`() throws {
    let model = try ManagedObjectModel(types: [Day.self, Errand.self])
    let open = Self.opener(model)
    let report = try CrashExplorer(seed: 1).run(acknowledging: String.self) { fileSystem, acknowledge in
      let container = try open(fileSystem)
      let context = container.viewContext
      let today = Day(context: context)
      today.name = "today"
      for title in ["bread", "stamps"] {
        try add(title, to: today, in: context)
        acknowledge(title)
      }
      for errand in today.errands { try finish(errand, in: context) }
      try container.close()
    } verify: { fileSystem, acknowledged in
      let container = try open(fileSystem)
      let context = container.viewContext
      let errands = try context.fetch(Errand.self)
      guard Set(acknowledged).isSubset(of: errands.map(\.title)) else { throw Wrong.errandLost }
      for day in try context.fetch(Day.self) {
        let open = day.errands.filter { !$0.isDone }
        guard day.openCount == open.count else { throw Wrong.badge }
      }
      try container.close()
    }
    try report.check()
    print("errands: \(report)")
    #expect(report.distinctImages > 100)
  }

  @Test func `two saves of data that belongs together are found`() throws {
    let model = try ManagedObjectModel(types: [Day.self, Errand.self])
    let open = Self.opener(model)
    let report = try CrashExplorer(seed: 1).run(acknowledging: String.self) { fileSystem, _ in
      let container = try open(fileSystem)
      let context = container.viewContext
      let today = Day(context: context)
      let errand = Errand(context: context)
      errand.day = today
      try context.save()
      today.openCount = 1
      try context.save()
    } verify: { fileSystem, _ in
      for day in try open(fileSystem).viewContext.fetch(Day.self)
      where day.openCount != day.errands.count { throw Wrong.badge }
    }
    #expect(report.failure?.message == "badge")
  }

  @Test func `a full disk is a temporary error`() throws {
    let model = try ManagedObjectModel(types: [Day.self, Errand.self])
    let open = Self.opener(model)
    let plan = FaultPlan.fullDisk(after: 200_000)
    try plan.run(over: SimulatedFileSystem()) { fileSystem in
      let container = try open(fileSystem)
      let context = container.viewContext
      let today = Day(context: context)
      #expect(throws: (any Error).self) {
        while true { try add(String(repeating: "bread ", count: 1000), to: today, in: context) }
      }
      #expect(context.hasChanges)
      fileSystem.use(FaultPlan())
      try context.save()
    }
  }

  private enum Wrong: Error {
    case errandLost, badge
  }

  private static func opener(
    _ model: ManagedObjectModel
  ) -> @Sendable (any FileSystem) throws -> PersistentContainer {
    @Sendable func open(_ fileSystem: any FileSystem) throws -> PersistentContainer {
      let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/errands"))
      description.fileSystem = fileSystem
      description.engineOptions = EngineOptions(
        segmentBytes: 64 << 10, worker: InlineWorker(), clock: SimulatedClock(),
        entropy: SeededEntropy(seed: 1))
      let container = PersistentContainer(name: "Errands", managedObjectModel: model)
      container.persistentStoreDescriptions = [description]
      try container.loadPersistentStores()
      return container
    }
    return open
  }

  private func add(_ title: String, to day: Day, in context: ManagedObjectContext) throws {
    let errand = Errand(context: context)
    errand.title = title
    errand.day = day
    day.openCount += 1
    try context.save()
  }

  private func finish(_ errand: Errand, in context: ManagedObjectContext) throws {
    errand.isDone = true
    errand.day?.openCount -= 1
    try context.save()
  }
}

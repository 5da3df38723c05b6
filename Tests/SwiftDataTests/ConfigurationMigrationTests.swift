import Foundation
import SwiftData
import Synchronization
import Testing

enum Workshop {
  enum First: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Engine.self, Wheel.self] }

    @Model
    final class Engine {
      var title: String
      init(_ title: String) { self.title = title }
    }

    @Model
    final class Wheel {
      var title: String
      init(_ title: String) { self.title = title }
    }
  }

  /// Both classes have a renamed attribute.
  enum Second: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Engine.self, Wheel.self] }

    @Model
    final class Engine {
      @Attribute(originalName: "title") var name: String
      init(_ name: String) { self.name = name }
    }

    @Model
    final class Wheel {
      @Attribute(originalName: "title") var name: String
      init(_ name: String) { self.name = name }
    }
  }

  /// Engines are as they were, wheels have another attribute, and bolts are new.
  enum Third: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Engine.self, Wheel.self, Bolt.self] }

    @Model
    final class Engine {
      var name: String
      init(_ name: String) { self.name = name }
    }

    @Model
    final class Wheel {
      var name: String
      var spokes: Int = 8
      init(_ name: String) { self.name = name }
    }

    @Model
    final class Bolt {
      var size: Int
      init(_ size: Int) { self.size = size }
    }
  }

  /// The data that the handlers have seen in each store: numbers of engines and wheels.
  static let seen = Mutex<[String: [String]]>([:])

  static func note(_ what: String, engines: Int, wheels: Int) {
    let store = engines > 0 ? "engines" : "wheels"
    seen.withLock { $0[store, default: []].append("\(what) \(engines) \(wheels)") }
  }

  enum Lightweight: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [First.self, Second.self, Third.self] }
    static var stages: [MigrationStage] {
      [
        .lightweight(fromVersion: First.self, toVersion: Second.self),
        .lightweight(fromVersion: Second.self, toVersion: Third.self),
      ]
    }
  }

  enum Custom: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [First.self, Second.self, Third.self] }
    static var stages: [MigrationStage] { [names, spokes] }

    static var names: MigrationStage {
      .custom(
        fromVersion: First.self, toVersion: Second.self,
        willMigrate: { context in
          let engines = try context.fetchCount(FetchDescriptor<First.Engine>())
          let wheels = try context.fetchCount(FetchDescriptor<First.Wheel>())
          note("will names", engines: engines, wheels: wheels)
        },
        didMigrate: { context in
          let (engines, wheels) = (
            try context.fetch(FetchDescriptor<Second.Engine>()),
            try context.fetch(FetchDescriptor<Second.Wheel>())
          )
          for engine in engines { engine.name += "!" }
          for wheel in wheels { wheel.name += "!" }
          note("did names", engines: engines.count, wheels: wheels.count)
        })
    }

    static var spokes: MigrationStage {
      .custom(
        fromVersion: Second.self, toVersion: Third.self, willMigrate: nil,
        didMigrate: { context in
          let wheels = try context.fetch(FetchDescriptor<Third.Wheel>())
          for wheel in wheels { wheel.spokes = 16 }
          let engines = try context.fetchCount(FetchDescriptor<Third.Engine>())
          note("did spokes", engines: engines, wheels: wheels.count)
        })
    }
  }
}

/// Migration plans of containers with several configurations.
@Suite(.serialized) struct ConfigurationMigrationTests {
  private func container(
    _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?, in folder: URL,
    _ engines: [any PersistentModel.Type], _ wheels: [any PersistentModel.Type]
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: version), migrationPlan: plan,
      configurations: [
        ModelConfiguration("engines", schema: Schema(engines), url: folder.appending(path: "engines")),
        ModelConfiguration("wheels", schema: Schema(wheels), url: folder.appending(path: "wheels")),
      ])
  }

  private func fill(_ folder: URL) throws {
    let made = try container(
      Workshop.First.self, nil, in: folder, [Workshop.First.Engine.self], [Workshop.First.Wheel.self])
    let context = ModelContext(made)
    for number in 0..<3 { context.insert(Workshop.First.Engine("e\(number)")) }
    for number in 0..<2 { context.insert(Workshop.First.Wheel("w\(number)")) }
    try context.save()
  }

  private func third(_ plan: any SchemaMigrationPlan.Type, in folder: URL) throws -> ModelContext {
    ModelContext(
      try container(
        Workshop.Third.self, plan, in: folder, [Workshop.Third.Engine.self],
        [Workshop.Third.Wheel.self, Workshop.Third.Bolt.self]))
  }

  private func check(_ context: ModelContext, suffix: String, spokes: Int) throws {
    let engines = try context.fetch(FetchDescriptor<Workshop.Third.Engine>(sortBy: [SortDescriptor(\.name)]))
    #expect(engines.map(\.name) == ["e0", "e1", "e2"].map { $0 + suffix })
    let wheels = try context.fetch(FetchDescriptor<Workshop.Third.Wheel>(sortBy: [SortDescriptor(\.name)]))
    #expect(
      wheels.map(\.name) == ["w0", "w1"].map { $0 + suffix } && wheels.allSatisfy { $0.spokes == spokes })
    context.insert(Workshop.Third.Bolt(1))
    context.insert(Workshop.Third.Engine("new"))
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Workshop.Third.Bolt>()) == 1)
  }

  // SWD-12, SWD-29
  @Test func `lightweight stages migrate each store of several configurations`() throws {
    try Library.inFolder { folder in
      try fill(folder)
      try check(try third(Workshop.Lightweight.self, in: folder), suffix: "", spokes: 8)
    }
  }

  // SWD-12, SWD-29
  @Test func `handlers run once for each store that goes through their stage`() throws {
    try Library.inFolder { folder in
      try fill(folder)
      Workshop.seen.withLock { $0 = [:] }
      try check(try third(Workshop.Custom.self, in: folder), suffix: "!", spokes: 16)
      // The second stage changes nothing that the store of engines has.
      let seen = [
        "engines": ["will names 3 0", "did names 3 0"],
        "wheels": ["will names 0 2", "did names 0 2", "did spokes 0 2"],
      ]
      #expect(Workshop.seen.withLock { $0 } == seen)
      let again = try third(Workshop.Custom.self, in: folder)
      #expect(try again.fetchCount(FetchDescriptor<Workshop.Third.Engine>()) == 4)
      #expect(Workshop.seen.withLock { $0 } == seen)
    }
  }

  // SWD-12, SWD-29
  @Test func `a store of a version in the middle goes on from there`() throws {
    try Library.inFolder { folder in
      try fill(folder)
      let middle = try container(
        Workshop.Second.self, Workshop.Custom.self, in: folder, [Workshop.Second.Engine.self],
        [Workshop.Second.Wheel.self])
      #expect(try ModelContext(middle).fetchCount(FetchDescriptor<Workshop.Second.Wheel>()) == 2)
      Workshop.seen.withLock { $0 = [:] }
      try check(try third(Workshop.Custom.self, in: folder), suffix: "!", spokes: 16)
      #expect(Workshop.seen.withLock { $0 } == ["wheels": ["did spokes 0 2"]])
    }
  }

  // SWD-12, SWD-29
  @Test func `a class that moves to another configuration needs no stage`() throws {
    try Library.inFolder { folder in
      _ = try third(Workshop.Custom.self, in: folder)
      let moved = ModelContext(
        try container(
          Workshop.Third.self, Workshop.Custom.self, in: folder,
          [Workshop.Third.Engine.self, Workshop.Third.Bolt.self], [Workshop.Third.Wheel.self]))
      moved.insert(Workshop.Third.Bolt(1))
      try moved.save()
      #expect(try moved.fetchCount(FetchDescriptor<Workshop.Third.Bolt>()) == 1)
    }
  }

  // SWD-29
  @Test(arguments: [false, true])
  func `a store of one of several configurations is migrated with all classes`(
    hasHandlers: Bool
  ) throws {
    try Library.inFolder { folder in
      try fill(folder)
      Workshop.seen.withLock { $0 = [:] }
      func opened() throws -> ModelContext {
        ModelContext(
          try ModelContainer(
            for: Schema(versionedSchema: Workshop.Third.self),
            migrationPlan: hasHandlers ? Workshop.Custom.self : Workshop.Lightweight.self,
            configurations: [ModelConfiguration(url: folder.appending(path: "engines"))]))
      }
      let context = try opened()
      let engines = try context.fetch(
        FetchDescriptor<Workshop.Third.Engine>(sortBy: [SortDescriptor(\.name)]))
      #expect(engines.map(\.name) == (hasHandlers ? ["e0!", "e1!", "e2!"] : ["e0", "e1", "e2"]))
      let names = Workshop.seen.withLock { $0["engines"]?.prefix(2) }
      #expect(names == (hasHandlers ? ["will names 3 0", "did names 3 0"] : nil))
      context.insert(Workshop.Third.Wheel("w"))
      context.insert(Workshop.Third.Bolt(1))
      try context.save()
      let again = try opened()
      #expect(try again.fetchCount(FetchDescriptor<Workshop.Third.Wheel>()) == 1)
      #expect(try again.fetchCount(FetchDescriptor<Workshop.Third.Engine>()) == 3)
    }
  }

  // SWD-29
  @Test func `a store of several configurations whose version no stage has is refused`() throws {
    enum Late: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [Workshop.Second.self, Workshop.Third.self] }
      static var stages: [MigrationStage] { [Workshop.Custom.spokes] }
    }
    try Library.inFolder { folder in
      try fill(folder)
      #expect {
        try third(Late.self, in: folder)
      } throws: {
        SwiftDataError.unknownSchema ~= $0
      }
    }
  }
}

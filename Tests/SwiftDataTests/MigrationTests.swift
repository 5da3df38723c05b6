import Foundation
import SwiftData
import Synchronization
import Testing

enum Cellar {
  enum First: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Wine.self, Region.self] }

    @Model
    final class Wine {
      var title: String
      var year: Int
      var region: Region?
      init(_ title: String, _ year: Int, _ region: Region? = nil) {
        (self.title, self.year, self.region) = (title, year, region)
      }
    }

    @Model
    final class Region {
      var name: String
      var wines: [Wine] = []
      init(_ name: String) { self.name = name }
    }
  }

  /// A renamed attribute, a renamed relationship, and a new attribute with a default.
  enum Second: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Wine.self, Region.self] }

    @Model
    final class Wine {
      @Attribute(originalName: "title") var name: String
      var year: Int
      var bottles: Int = 6
      @Relationship(originalName: "region") var origin: Region?
      init(_ name: String, _ year: Int) { (self.name, self.year) = (name, year) }
    }

    @Model
    final class Region {
      var name: String
      var wines: [Wine] = []
      init(_ name: String) { self.name = name }
    }
  }

  /// An attribute of another meaning, which code fills.
  enum Third: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Wine.self, Region.self] }

    @Model
    final class Wine {
      @Attribute(.unique) var name: String
      var decade: Int = 0
      var bottles: Int = 6
      var origin: Region?
      init(_ name: String) { self.name = name }
    }

    @Model
    final class Region {
      var name: String
      var wines: [Wine] = []
      init(_ name: String) { self.name = name }
    }
  }

  enum Plan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [First.self, Second.self, Third.self] }
    static var stages: [MigrationStage] {
      [.lightweight(fromVersion: First.self, toVersion: Second.self), custom]
    }

    private static let years = Years()
    static let custom = MigrationStage.custom(
      fromVersion: Second.self, toVersion: Third.self,
      willMigrate: { context in
        for wine in try context.fetch(FetchDescriptor<Second.Wine>()) {
          wine.name += " \(wine.year)"
          years.values[wine.name] = wine.year
        }
        try context.save()
      },
      didMigrate: { context in
        for wine in try context.fetch(FetchDescriptor<Third.Wine>()) {
          wine.decade = (years.values[wine.name] ?? 0) / 10 * 10
        }
        try context.save()
      })

    private final class Years: @unchecked Sendable { var values: [String: Int] = [:] }
  }

  /// A plan whose code fails at first.
  enum FailingPlan: SchemaMigrationPlan {
    struct Failure: Error {}
    private final class Runs: @unchecked Sendable { var count = 0 }
    private static let runs = Runs()
    static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
    static var stages: [MigrationStage] {
      [
        .custom(
          fromVersion: First.self, toVersion: Second.self, willMigrate: nil,
          didMigrate: { context in
            runs.count += 1
            guard runs.count > 1 else { throw Failure() }
            for wine in try context.fetch(FetchDescriptor<Second.Wine>()) { wine.name += " again" }
            try context.save()
          })
      ]
    }
  }
}

struct MigrationTests {
  private func write(_ configuration: ModelConfiguration) throws {
    let container = try ModelContainer(
      for: Schema(versionedSchema: Cellar.First.self), configurations: configuration)
    let context = ModelContext(container)
    let region = Cellar.First.Region("Baden")
    for year in [1987, 1988] { context.insert(Cellar.First.Wine("W", year, region)) }
    try context.save()
  }

  // SWD-03, SWD-29
  @Test(arguments: [false, true]) func `a lightweight stage keeps renamed properties, with a plan or without`(
    hasPlan: Bool
  ) throws {
    try Library.inFolder { folder in
      let configuration = ModelConfiguration(url: folder.appending(path: "a.store"))
      try write(configuration)
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Cellar.First.self, Cellar.Second.self] }
        static var stages: [MigrationStage] {
          [.lightweight(fromVersion: Cellar.First.self, toVersion: Cellar.Second.self)]
        }
      }
      for _ in 0..<2 {
        let container = try ModelContainer(
          for: Schema(versionedSchema: Cellar.Second.self), migrationPlan: hasPlan ? Plan.self : nil,
          configurations: configuration)
        let wines = try ModelContext(container).fetch(
          FetchDescriptor<Cellar.Second.Wine>(sortBy: [SortDescriptor(\.year)]))
        #expect(wines.map(\.name) == ["W", "W"] && wines.map(\.year) == [1987, 1988])
        #expect(wines.map(\.bottles) == [6, 6] && wines.map { $0.origin?.name } == ["Baden", "Baden"])
        #expect(wines.first?.origin?.wines.count == 2)
      }
    }
  }

  // SWD-29
  @Test
  func `a store goes through a lightweight stage and one with code, each with the models of its versions`()
    throws
  {
    try Library.inFolder { folder in
      let configuration = ModelConfiguration(url: folder.appending(path: "a.store"))
      try write(configuration)
      let container = try ModelContainer(
        for: Schema(versionedSchema: Cellar.Third.self), migrationPlan: Cellar.Plan.self,
        configurations: configuration)
      let context = ModelContext(container)
      let wines = try context.fetch(FetchDescriptor<Cellar.Third.Wine>(sortBy: [SortDescriptor(\.name)]))
      #expect(wines.map(\.name) == ["W 1987", "W 1988"] && wines.map(\.decade) == [1980, 1980])
      #expect(wines.map { $0.origin?.name } == ["Baden", "Baden"])
      // The constraint of the new version holds from now on.
      let again = Cellar.Third.Wine("W 1987")
      again.bottles = 1
      context.insert(again)
      try context.save()
      #expect(try ModelContext(container).fetchCount(FetchDescriptor<Cellar.Third.Wine>()) == 2)
    }
  }

  // SWD-29, SWD-40
  @Test func `a stage whose code failed is finished when the plan is run again`() throws {
    try Library.inFolder { folder in
      let configuration = ModelConfiguration(url: folder.appending(path: "a.store"))
      try write(configuration)
      func open(_ plan: (any SchemaMigrationPlan.Type)?) throws -> ModelContainer {
        try ModelContainer(
          for: Schema(versionedSchema: Cellar.Second.self), migrationPlan: plan, configurations: configuration
        )
      }
      #expect { try open(Cellar.FailingPlan.self) } throws: { SwiftDataError.loadIssueModelContainer ~= $0 }
      // Nothing but the plan goes on from there.
      #expect { try open(nil) } throws: { SwiftDataError.loadIssueModelContainer ~= $0 }
      let context = ModelContext(try open(Cellar.FailingPlan.self))
      let wines = try context.fetch(FetchDescriptor<Cellar.Second.Wine>())
      #expect(wines.map(\.name) == ["W again", "W again"])
    }
  }

  // SWD-29
  @Test func `code of a stage may replace all classes of a schema`() throws {
    try Library.inFolder { folder in
      let configuration = ModelConfiguration(url: folder.appending(path: "store"))
      let old = ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: Zoo.First.self), configurations: [configuration]))
      for name in ["lion", "seal"] { old.insert(Zoo.First.Beast(name)) }
      try old.save()
      let new = ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: Zoo.Second.self), migrationPlan: Zoo.Plan.self,
          configurations: [configuration]))
      let found = try new.fetch(FetchDescriptor<Zoo.Second.Animal>(sortBy: [SortDescriptor(\.title)]))
      #expect(found.map(\.title) == ["lion", "seal"])
    }
  }
}

/// Two versions without a class in common.
enum Zoo {
  enum First: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Beast.self] }

    @Model
    final class Beast {
      var name: String
      init(_ name: String) { self.name = name }
    }
  }

  enum Second: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Animal.self] }

    @Model
    final class Animal {
      var title: String
      init(_ title: String) { self.title = title }
    }
  }

  static let kept = Mutex<[String]>([])

  enum Plan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
    static var stages: [MigrationStage] {
      [
        .custom(
          fromVersion: First.self, toVersion: Second.self,
          willMigrate: { context in
            let beasts = try context.fetch(FetchDescriptor<First.Beast>())
            kept.withLock { $0 = beasts.map(\.name) }
          },
          didMigrate: { context in
            for name in kept.withLock({ $0 }) { context.insert(Second.Animal(name)) }
          })
      ]
    }
  }
}

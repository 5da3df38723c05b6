import Foundation
import Heartwood
import TestSupport
import Testing

@testable import HeartwoodCommand

@Suite struct `The history of some objects` {
  private let world: SmallWorld

  init() throws { world = try SmallWorld() }

  private func change(_ code: String, _ name: String) {
    let run = world.run("update", "Country", "--where", "code == '\(code)'", "--set", "name='\(name)'")
    #expect(run.status == .success, "\(run.notes)")
  }

  @Test func `only changes of an entity or an object are listed, also of a deleted one`() throws {
    change("FR", "Gaul")
    change("DE", "Germania")
    let delete = world.run("delete", "City", "--where", "name == 'Lyon'")
    #expect(delete.status == .success, "\(delete.notes)")
    let all = world.run("history").output.split(separator: "\n").count { !$0.hasPrefix(" ") }
    #expect(all == 4)
    let country = world.run(
      "fetch", "Country", "--columns", "@id", "--where", "code == 'FR'", "--format", "csv"
    ).output
    let id = String(country.split(separator: "\n").last ?? "").split(separator: "/").suffix(2).joined(
      separator: "/")
    let one = world.run("history", "--object", id).output
    // It was made, renamed, and left by the city that was deleted.
    #expect(one.split(separator: "\n").count { !$0.hasPrefix(" ") } == 3, "\(one)")
    #expect(one.contains("updated  \(id)  name") && !one.contains("City"))
    let cities = world.run("history", "--entity", "City").output
    #expect(cities.split(separator: "\n").count { !$0.hasPrefix(" ") } == 2, "\(cities)")
    #expect(cities.contains("deleted 1 City"))
    #expect(world.run("history", "--entity", "Nothing").status == .usage)
    #expect(world.run("history", "--object", "Country/none").status == .usage)
  }

  @Test func `history is deleted before a transaction or a date, and objects stay`() throws {
    change("FR", "Gaul")
    change("DE", "Germania")
    let numbers = world.run("history").output.split(separator: "\n").filter { !$0.hasPrefix(" ") }.compactMap
    {
      $0.split(separator: " ").first.map(String.init)
    }
    try #require(numbers.count == 3)
    let run = world.run("history", "--purge", numbers[1])
    #expect(
      run.status == .success && run.output.hasPrefix("deleted 1 transaction from the history"), "\(run.notes)"
    )
    #expect(world.run("history").output.split(separator: "\n").count { !$0.hasPrefix(" ") } == 2)
    #expect(world.run("history", "--purge", "2001-01-01").output.hasPrefix("deleted 0 transactions"))
    #expect(world.run("history", "--purge", "9999-01-01").output.hasPrefix("deleted 1 transaction "))
    #expect(world.run("history", "--purge", "yesterday").status == .usage)
    #expect(world.run("history", "--purge", "3", "--limit", "1").status == .usage)
    #expect(world.run("count", "Country").output == "4\n")
  }

  @Test func `going back after a migration with code needs no force, unless others saved`() throws {
    let backup = world.directory.path("backup")
    #expect(world.run("backup", backup).status == .success)
    let former = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: URL(filePath: world.path))
    let wider = SmallWorld.model.replacing(
      #""City": {"attributes": {"#,
      with: #""City": {"attributes": {"size": {"type": "integer32", "optional": true}, "#)
    let file = try world.directory.file("wider.json", wider)
    let next = try ModelArgument.model(file)
    func migrate() throws {
      let stage = CustomMigrationStage(
        migratingFrom: ManagedObjectModelReference(model: former),
        to: ManagedObjectModelReference(model: next))
      stage.didMigrateHandler = { manager, _ in
        let container = try #require(manager.container)
        for _ in 0..<3 {
          let context = container.newBackgroundContext()
          try context.performAndWait {
            for city in try context.fetch(FetchRequest<ManagedObject>(entityName: "City")) {
              let size = (city.value(forKey: "size") as? any BinaryInteger).map { Int($0) } ?? 0
              city.setValue(size + 1, forKey: "size")
            }
            try context.save()
          }
        }
      }
      let description = PersistentStoreDescription(url: URL(filePath: world.path))
      description.stagedMigrationManager = StagedMigrationManager([stage])
      let coordinator = try PersistentStoreCoordinator(checking: next)
      try coordinator.addPersistentStore(with: description)
      try coordinator.close()
    }
    try migrate()
    #expect(world.run("count", "City", "--where", "size == 3").output == "3\n")
    let back = world.run("migrate", backup, "--back")
    #expect(back.status == .success, "\(back.notes)")
    #expect(world.run("fetch", "City", "--columns", "size").status == .usage)
    try migrate()
    change("FR", "Gaul")
    let refused = world.run("migrate", backup, "--back")
    #expect(refused.notes.contains("1 transaction was saved after the backup"), "\(refused.notes)")
  }

  @Test func `a pattern with the wildcards of SQL gets a note`() throws {
    let run = world.run("count", "Country", "--where", "name LIKE 'F%'")
    #expect(run.output == "0\n" && run.notes.contains("\"F*\" may be meant"), "\(run.notes)")
    #expect(world.run("count", "Country", "--where", "name LIKE 'F*'").notes == "")
    #expect(
      world.run("fetch", "Country", "--where", "name LIKE[c] \"f%\"").notes.contains("\"f*\" may be meant"))
  }
}

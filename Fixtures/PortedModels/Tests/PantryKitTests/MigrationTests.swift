import Foundation
import PantryKit
import SwiftData
import Testing

struct MigrationTests {
  @Test func `a store of the first version is migrated`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "pantry.store")
    do {
      let container = try ModelContainer(
        for: Schema(versionedSchema: SchemaV1.self), configurations: ModelConfiguration(url: url))
      let context = ModelContext(container)
      let soup = SchemaV1.Recipe(title: "Soup", minutes: 90)
      soup.steps = [SchemaV1.Step(text: "Boil", position: 0)]
      soup.cook = SchemaV1.Cook(fullName: "Ada")
      context.insert(soup)
      context.insert(SchemaV1.Recipe(title: "", minutes: 1))
      try context.save()
    }
    let container = try PantryStore.container(at: url)
    let context = ModelContext(container)
    let recipes = try context.fetch(FetchDescriptor<Recipe>())
    #expect(recipes.map(\.title) == ["Soup"])
    #expect(recipes.first?.duration == 90)
    #expect(recipes.first?.difficulty == .hard)
    #expect(recipes.first?.sortedSteps.map(\.text) == ["Boil"])
    #expect(recipes.first?.cook?.fullName == "Ada")
  }
}

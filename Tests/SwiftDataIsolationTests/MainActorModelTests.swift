import Foundation
import SwiftData
import Testing

struct MainActorModelTests {
  private func container() throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: FirstVersion.self),
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  @Test func `a model of a module of the main actor is stored and fetched`() throws {
    let container = try container()
    let special = Special(name: "a")
    special.rename("b")
    special.parts = [Part(1), Part(2)]
    (special.extra, special.mood, special.point.x) = (7, .bad, 2.5)
    container.mainContext.insert(special)
    container.mainContext.insert(Item(name: "hidden"))
    try container.mainContext.save()
    let screen = Screen(container)
    try screen.load("hidden")
    #expect(screen.items.map(\.name) == ["b"] && screen.items.first is Special)
    let found = try #require(ModelContext(container).fetch(FetchDescriptor<Special>()).first)
    #expect(found.extra == 7 && found.mood == .bad && found.point.x == 2.5 && found.cache == 3)
    #expect(Set(found.parts.map(\.number)) == [1, 2])
  }

  @Test func `another actor makes models of a module of the main actor`() async throws {
    let container = try container()
    try await Importer(modelContainer: container).add("imported")
    #expect(try container.mainContext.fetch(FetchDescriptor<Item>()).map(\.name) == ["imported"])
    let count = try await Task.detached { try ModelContext(container).fetchCount(FetchDescriptor<Item>()) }
      .value
    #expect(count == 1)
  }
}

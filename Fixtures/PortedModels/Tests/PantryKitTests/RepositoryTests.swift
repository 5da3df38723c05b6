import Foundation
import PantryKit
import SwiftData
import Testing

@MainActor
struct RepositoryTests {
  let container: ModelContainer
  let repository: RecipeRepository

  init() throws {
    container = try PantryStore.inMemory()
    repository = RecipeRepository(container)
    let milk = Product(name: "Milk")
    for (title, duration, course) in [
      ("Pancakes", 20, Course.dessert), ("Porridge", 10, .main), ("Rice pudding", 40, .dessert),
      ("Salad", 10, .starter),
    ] {
      let recipe = Recipe(title: title, duration: duration, course: course)
      if course == .dessert { recipe.ingredients = [Ingredient(milk, .toTaste)] }
      try repository.add(recipe)
    }
  }

  @Test func `recipes are found by title and ingredient`() throws {
    #expect(try repository.search("PAN").map(\.title) == ["Pancakes"])
    #expect(try repository.search("milk").map(\.title) == ["Pancakes", "Rice pudding"])
    #expect(try repository.search("nothing").isEmpty)
  }

  @Test func `quick recipes are sorted and limited`() throws {
    #expect(try repository.quick(.main, before: .distantFuture, limit: 5).map(\.title) == ["Porridge"])
    #expect(try repository.quick(.dessert, before: .distantPast, limit: 5).isEmpty)
  }

  @Test func `labels are counted`() throws {
    let recipe = Recipe(title: "Pie", duration: 60)
    recipe.labels = [Label(name: "sweet"), Label(name: "baked")]
    try repository.add(recipe)
    #expect(try repository.count(of: "sweet") == 1)
    #expect(try repository.count(of: "sour") == 0)
  }

  @Test func `an importer works in the background`() async throws {
    let importer = RecipeImporter(modelContainer: container)
    let ids = try await importer.run([
      ImportedRecipe(title: "Toast", duration: 5, labels: ["quick"], steps: ["Slice", "Toast"]),
      ImportedRecipe(title: "Tea", duration: 4, labels: ["quick"]),
    ])
    #expect(ids.count == 2)
    #expect(try repository.search("To").map(\.title) == ["Toast"])
    #expect(try repository.count(of: "quick") == 2)
    let tea = try #require(container.mainContext.model(for: ids[1]) as? Recipe)
    #expect(tea.title == "Tea")
    #expect(try await importer.rename(ids[1], to: "Green tea"))
    _ = try repository.search("tea")
    #expect(tea.title == "Green tea")
  }

  @Test func `an indexer follows the history`() async throws {
    let indexer = SearchIndexer(modelContainer: container)
    #expect(try await indexer.update() == 4)
    #expect(await indexer.allTitles == ["Pancakes", "Porridge", "Rice pudding", "Salad"])
    let salad = try #require(try repository.search("Salad").first)
    salad.title = "Green salad"
    let porridge = try #require(try repository.search("Porridge").first)
    try repository.remove(porridge)
    #expect(try await indexer.update() == 1)
    #expect(await indexer.allTitles == ["Green salad", "Pancakes", "Rice pudding"])
    #expect(try await indexer.update() == 0)
  }
}

import Foundation
import PantryKit
import SwiftData
import Testing

@MainActor
struct ModelTests {
  let container: ModelContainer
  var context: ModelContext { container.mainContext }

  init() throws { container = try PantryStore.inMemory() }

  @Test func `a new model has the values of its initialiser`() {
    let recipe = Recipe(title: "Soup", duration: 15, course: .starter)
    #expect(recipe.title == "Soup")
    #expect(recipe.course == .starter)
    #expect(recipe.difficulty == .easy)
    #expect(recipe.keywords.isEmpty)
    #expect(recipe.nutrition == nil)
    #expect(recipe.isQuick)
    #expect(recipe.modelContext == nil)
    #expect(!recipe.hasChanges)
  }

  @Test func `all values survive a save`() throws {
    let recipe = Recipe(title: "Lasagne", duration: 90)
    recipe.difficulty = .hard
    recipe.nutrition = Nutrition(calories: 800, protein: 31.5, isVegetarian: false)
    recipe.keywords = ["pasta", "oven"]
    recipe.price = Decimal(string: "12.90")!
    recipe.source = URL(string: "https://example.org/lasagne")
    recipe.picture = Data(repeating: 7, count: 100_000)
    context.insert(recipe)
    try context.save()

    let other = ModelContext(container)
    let found = try #require(try other.fetch(FetchDescriptor<Recipe>()).first)
    #expect(found !== recipe)
    #expect(found.persistentModelID == recipe.persistentModelID)
    #expect(found.id == recipe.id)
    #expect(found.title == "Lasagne")
    #expect(found.difficulty == .hard)
    #expect(found.nutrition == Nutrition(calories: 800, protein: 31.5, isVegetarian: false))
    #expect(found.keywords == ["pasta", "oven"])
    #expect(found.price == Decimal(string: "12.90")!)
    #expect(found.source == URL(string: "https://example.org/lasagne"))
    #expect(found.picture == Data(repeating: 7, count: 100_000))
    #expect(found.createdAt == recipe.createdAt)
  }

  @Test func `related models are inserted with the first`() throws {
    let recipe = Recipe(title: "Bread", duration: 200)
    recipe.steps = [Step("Knead", position: 0), Step("Bake", position: 1)]
    let flour = Product(name: "Flour", stock: 3)
    recipe.ingredients.append(Ingredient(flour, .weight(grams: 500)))
    recipe.cook = Cook(fullName: "Ada")
    context.insert(recipe)
    try context.save()

    #expect(try context.fetchCount(FetchDescriptor<Step>()) == 2)
    #expect(recipe.sortedSteps.map(\.text) == ["Knead", "Bake"])
    #expect(recipe.steps.allSatisfy { $0.recipe === recipe })
    #expect(flour.uses.first?.recipe === recipe)
    #expect(flour.uses.first?.quantity == .weight(grams: 500))
    #expect(recipe.cook?.recipes == [recipe])
  }

  @Test func `a deletion follows the rules`() throws {
    let recipe = Recipe(title: "Bread", duration: 200)
    recipe.steps = [Step("Knead", position: 0)]
    let cook = Cook(fullName: "Ada")
    recipe.cook = cook
    context.insert(recipe)
    try context.save()
    context.delete(recipe)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Step>()) == 0)
    #expect(cook.recipes.isEmpty)
    #expect(recipe.title == "Bread")
    #expect(recipe.modelContext == nil)
  }

  @Test func `a cook with menus cannot be deleted`() throws {
    let cook = Cook(fullName: "Ada")
    let menu = Menu(date: .now)
    menu.cook = cook
    context.insert(menu)
    try context.save()
    context.delete(cook)
    #expect(throws: (any Error).self) { try context.save() }
    context.rollback()
    #expect(cook.menus == [menu])
  }

  @Test func `a product with the same name and brand is updated`() throws {
    context.insert(Product(name: "Milk", brand: "Alp", stock: 2))
    try context.save()
    let other = ModelContext(container)
    other.insert(Product(name: "Milk", brand: "Alp", stock: 9))
    try other.save()
    let products = try ModelContext(container).fetch(FetchDescriptor<Product>())
    #expect(products.map(\.stock) == [9])
  }

  @Test func `a subclass is fetched with its superclass`() throws {
    context.insert(Note(text: "Call"))
    context.insert(ShoppingItem(text: "Milk", amount: 2))
    try context.save()
    let other = ModelContext(container)
    let notes = try other.fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.text)]))
    #expect(notes.map(\.text) == ["Call", "Milk"])
    #expect((notes.last as? ShoppingItem)?.amount == 2)
    #expect(try other.fetchCount(FetchDescriptor<ShoppingItem>()) == 1)
    let bought = FetchDescriptor<Note>(predicate: #Predicate { $0 is ShoppingItem })
    #expect(try other.fetch(bought).map(\.text) == ["Milk"])
  }

  @Test func `a rollback takes changes back`() throws {
    let recipe = Recipe(title: "Soup", duration: 15)
    context.insert(recipe)
    try context.save()
    recipe.title = "Stew"
    #expect(recipe.hasChanges)
    #expect(context.hasChanges)
    context.rollback()
    #expect(recipe.title == "Soup")
    #expect(!context.hasChanges)
  }
}

import Foundation
import SwiftData

/// The stack of the application.
public enum PantryStore {
  public static func container(at url: URL) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: SchemaV2.self), migrationPlan: PantryMigrationPlan.self,
      configurations: ModelConfiguration(url: url))
  }

  /// For previews and tests.
  public static func inMemory() throws -> ModelContainer {
    let schema = Schema(versionedSchema: SchemaV2.self)
    return try ModelContainer(for: schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }
}

/// Recipes by the needs of the views.
@MainActor
public final class RecipeRepository {
  private let context: ModelContext

  public init(_ container: ModelContainer) { context = container.mainContext }

  public func add(_ recipe: Recipe) throws {
    context.insert(recipe)
    try context.save()
  }

  public func remove(_ recipe: Recipe) throws {
    context.delete(recipe)
    try context.save()
  }

  public func search(_ text: String) throws -> [Recipe] {
    try context.fetch(
      FetchDescriptor(
        predicate: #Predicate<Recipe> { recipe in
          recipe.title.localizedStandardContains(text)
            || recipe.ingredients.contains { $0.product?.name.localizedStandardContains(text) == true }
        },
        sortBy: [SortDescriptor(\.title)]))
  }

  public func quick(_ course: Course, before date: Date, limit: Int) throws -> [Recipe] {
    let wanted = course
    var descriptor = FetchDescriptor<Recipe>(
      predicate: #Predicate { $0.course == wanted && $0.duration <= 20 && $0.createdAt < date },
      sortBy: [SortDescriptor(\.duration), SortDescriptor(\.title, order: .reverse)])
    descriptor.fetchLimit = limit
    return try context.fetch(descriptor)
  }

  public func count(of label: String) throws -> Int {
    try context.fetchCount(
      FetchDescriptor<Recipe>(predicate: #Predicate { $0.labels.contains { $0.name == label } }))
  }
}

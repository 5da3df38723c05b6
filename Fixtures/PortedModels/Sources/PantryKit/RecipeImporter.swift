import Foundation
import SwiftData

public struct ImportedRecipe: Codable, Sendable {
  public var title: String
  public var duration: Int
  public var labels: [String]
  public var steps: [String]

  public init(title: String, duration: Int, labels: [String] = [], steps: [String] = []) {
    self.title = title
    self.duration = duration
    self.labels = labels
    self.steps = steps
  }
}

/// Imports recipes in the background.
@ModelActor
public actor RecipeImporter {
  public func run(_ imported: [ImportedRecipe]) throws -> [PersistentIdentifier] {
    modelContext.author = "import"
    var recipes: [Recipe] = []
    for item in imported {
      let recipe = Recipe(title: item.title, duration: item.duration)
      recipe.steps = item.steps.enumerated().map { Step($1, position: $0) }
      recipe.labels = item.labels.map { Label(name: $0) }
      modelContext.insert(recipe)
      recipes.append(recipe)
    }
    try modelContext.save()
    return recipes.map(\.persistentModelID)
  }

  public func rename(_ id: PersistentIdentifier, to title: String) throws -> Bool {
    guard let recipe = self[id, as: Recipe.self] else { return false }
    recipe.title = title
    try modelContext.save()
    return true
  }
}

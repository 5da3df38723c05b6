import Foundation
import SwiftData

public enum SchemaV2: VersionedSchema {
  public static let versionIdentifier = Schema.Version(2, 0, 0)
  public static var models: [any PersistentModel.Type] {
    [
      Recipe.self, Step.self, Cook.self, Ingredient.self, Product.self, Label.self, Menu.self, MenuEntry.self,
      Note.self, ShoppingItem.self,
    ]
  }
}

public enum PantryMigrationPlan: SchemaMigrationPlan {
  public static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self] }
  public static var stages: [MigrationStage] { [addIdentifiers] }

  static let addIdentifiers = MigrationStage.custom(
    fromVersion: SchemaV1.self, toVersion: SchemaV2.self,
    willMigrate: { context in
      // Recipes without a title are of no use.
      let untitled = FetchDescriptor<SchemaV1.Recipe>(predicate: #Predicate { $0.title == "" })
      for recipe in try context.fetch(untitled) { context.delete(recipe) }
      try context.save()
    },
    didMigrate: { context in
      for recipe in try context.fetch(FetchDescriptor<SchemaV2.Recipe>()) {
        recipe.id = UUID()
        recipe.difficulty = recipe.duration > 60 ? .hard : .easy
      }
      try context.save()
    })
}

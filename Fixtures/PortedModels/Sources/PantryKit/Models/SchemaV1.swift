import Foundation
import SwiftData

public enum SchemaV1: VersionedSchema {
  public static let versionIdentifier = Schema.Version(1, 0, 0)
  public static var models: [any PersistentModel.Type] { [Recipe.self, Step.self, Cook.self] }

  @Model
  public final class Recipe {
    public var title: String
    public var minutes: Int
    @Relationship(deleteRule: .cascade, inverse: \Step.recipe) public var steps: [Step] = []
    public var cook: Cook?

    public init(title: String, minutes: Int) {
      self.title = title
      self.minutes = minutes
    }
  }

  @Model
  public final class Step {
    public var text: String
    public var position: Int
    public var recipe: Recipe?

    public init(text: String, position: Int) {
      self.text = text
      self.position = position
    }
  }

  @Model
  public final class Cook {
    public var fullName: String
    public var recipes: [Recipe] = []

    public init(fullName: String) { self.fullName = fullName }
  }
}

import Foundation
import SwiftData

public typealias Recipe = SchemaV2.Recipe
public typealias Step = SchemaV2.Step
public typealias Cook = SchemaV2.Cook

extension SchemaV2 {
  @Model
  public final class Recipe {
    #Index<Recipe>([\.title], [\.course, \.duration])

    public var id: UUID = UUID()
    public var title: String
    /// In minutes.
    @Attribute(originalName: "minutes") public var duration: Int
    public var course: Course = Course.main
    public var difficulty = Difficulty.easy
    public var nutrition: Nutrition?
    public var keywords: [String] = []
    public var price: Decimal = 0
    public var source: URL?
    public var createdAt: Date = Date.distantPast
    @Attribute(.externalStorage) public var picture: Data?
    @Relationship(deleteRule: .cascade, inverse: \Step.recipe) public var steps: [Step] = []
    @Relationship(deleteRule: .cascade, inverse: \Ingredient.recipe) public var ingredients: [Ingredient] = []
    @Relationship(inverse: \Label.recipes) public var labels: [Label] = []
    public var cook: Cook?
    @Transient public var isExpanded = false

    public init(title: String, duration: Int, course: Course = .main, createdAt: Date = .now) {
      self.title = title
      self.duration = duration
      self.course = course
      self.createdAt = createdAt
    }

    public var sortedSteps: [Step] { steps.sorted { $0.position < $1.position } }
    public var isQuick: Bool { duration <= 20 }
  }

  @Model
  public final class Step {
    public var text: String
    public var position: Int
    public var recipe: Recipe?

    public init(_ text: String, position: Int) {
      self.text = text
      self.position = position
    }
  }

  @Model
  public final class Cook {
    @Attribute(.preserveValueOnDeletion) public var fullName: String
    public var recipes: [Recipe] = []
    @Relationship(deleteRule: .deny, inverse: \Menu.cook) public var menus: [Menu] = []

    public init(fullName: String) { self.fullName = fullName }
  }
}

import Foundation
import SwiftData

public typealias Ingredient = SchemaV2.Ingredient
public typealias Product = SchemaV2.Product
public typealias Label = SchemaV2.Label
public typealias Menu = SchemaV2.Menu
public typealias MenuEntry = SchemaV2.MenuEntry
public typealias Note = SchemaV2.Note
public typealias ShoppingItem = SchemaV2.ShoppingItem

extension SchemaV2 {
  @Model
  public final class Ingredient {
    public var quantity: Quantity
    public var product: Product?
    public var recipe: Recipe?

    public init(_ product: Product, _ quantity: Quantity) {
      self.quantity = quantity
      self.product = product
    }
  }

  @Model
  public final class Product {
    #Unique<Product>([\.name, \.brand])

    public var name: String
    public var brand: String
    public var stock: Int = 0
    @Relationship(inverse: \Ingredient.product) public var uses: [Ingredient] = []

    public init(name: String, brand: String = "", stock: Int = 0) {
      self.name = name
      self.brand = brand
      self.stock = stock
    }
  }

  @Model
  public final class Label {
    @Attribute(.unique) public var name: String
    public var recipes: [Recipe] = []

    public init(name: String) { self.name = name }
  }

  @Model
  public final class Menu {
    public var date: Date
    public var cook: Cook?
    @Relationship(deleteRule: .cascade, inverse: \MenuEntry.menu) public var entries: [MenuEntry] = []

    public init(date: Date) { self.date = date }
  }

  @Model
  public final class MenuEntry {
    public var portions: Int
    public var menu: Menu?
    public var recipe: Recipe?

    public init(_ recipe: Recipe, portions: Int) {
      self.portions = portions
      self.recipe = recipe
    }
  }

  @Model
  public class Note {
    public var text: String
    public var createdAt: Date

    public init(text: String, createdAt: Date = .now) {
      self.text = text
      self.createdAt = createdAt
    }
  }

  @Model
  public final class ShoppingItem: Note {
    public var amount: Int
    public var isBought: Bool = false

    public init(text: String, amount: Int) {
      self.amount = amount
      super.init(text: text)
    }
  }
}

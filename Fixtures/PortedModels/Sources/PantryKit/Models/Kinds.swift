import Foundation

public enum Course: String, Codable, CaseIterable, Sendable {
  case starter, main, dessert
}

public enum Difficulty: Int, Codable, Comparable, Sendable {
  case easy = 1
  case medium
  case hard

  public static func < (left: Difficulty, right: Difficulty) -> Bool { left.rawValue < right.rawValue }
}

public struct Nutrition: Codable, Hashable, Sendable {
  public var calories: Int
  public var protein: Double
  public var isVegetarian: Bool

  public init(calories: Int = 0, protein: Double = 0, isVegetarian: Bool = false) {
    self.calories = calories
    self.protein = protein
    self.isVegetarian = isVegetarian
  }
}

public enum Quantity: Codable, Hashable, Sendable {
  case toTaste
  case pieces(Int)
  case weight(grams: Double)
}

// Made by heartwood generate. Changes are lost when it is made again.
// swift-format-ignore-file

import Foundation
import Heartwood

/// An object of the entity Fruit.
final class Fruit: ManagedObject {
  @Attribute var code: UUID = UUID()
  /// How good it is.
  @Attribute var grade: Grade = Grade(rawValue: 2)!
  @Attribute(validated: .number(atLeast: Decimal(string: "0.01")!)) var price: Decimal? = Decimal(string: "0.5")!
  @Attribute var ripe: Bool = false
  @Attribute(validated: .range(0...10)) var weight: Double?
  @Relationship(inverse: { $0.fruits }, count: .required) var tree: Tree?
}

// Made by heartwood generate. Changes are lost when it is made again.
// swift-format-ignore-file

import Foundation
import Heartwood

/// A tree of the orchard.
class Tree: ManagedObject {
  @Attribute(derived: "fruits.@count") var fruitCount: Int64 = 0
  @Attribute(.preservesValueInHistoryOnDeletion, validated: .length(1...40), .pattern("[A-Z]\\w*")) var kind: String = ""
  @Attribute(.allowsExternalStorage) var photo: Data?
  @Attribute(.indexed) var row: Int32 = 0
  @Attribute(.transient) var selected: Bool = false
  @Attribute(.unique, renamed: "label") var tag: String = ""
  @Relationship(inverse: { $0.tree }, deleteRule: .cascade, count: .atMost(500)) var fruits: Set<Fruit>
  @Relationship(inverse: { $0.neighbours }) var neighbours: Set<Tree>
  @Relationship(deleteRule: .deny) var picker: Picker?

  override class var uniquenessConstraints: [[String]] { [["kind", "row"]] }
  override class var compoundIndexes: [[String]] { [["kind", "row"]] }
}

extension Tree {
  /// Adds an object to `fruits`.
  func addToFruits(_ object: Fruit) { $fruits.insert(object) }
  /// Removes an object from `fruits`.
  func removeFromFruits(_ object: Fruit) { $fruits.remove(object) }
}

extension Tree {
  /// Adds an object to `neighbours`.
  func addToNeighbours(_ object: Tree) { $neighbours.insert(object) }
  /// Removes an object from `neighbours`.
  func removeFromNeighbours(_ object: Tree) { $neighbours.remove(object) }
}

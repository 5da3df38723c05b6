// Made by heartwood generate. Changes are lost when it is made again.
// swift-format-ignore-file

import Foundation
import Heartwood

extension Picker {
  var name: String {
    get { value(forKey: "name") as? String ?? "" }
    set { setValue(newValue, forKey: "name") }
  }
  var favourites: Set<Fruit> {
    get { Set(mutableSetValue(forKey: "favourites").compactMap { $0 as? Fruit }) }
    set { setValue(newValue, forKey: "favourites") }
  }
  var trees: [Tree] {
    get { mutableOrderedSetValue(forKey: "trees").compactMap { $0 as? Tree } }
    set { setValue(newValue, forKey: "trees") }
  }
}

extension Picker {
  /// Adds an object to `favourites`.
  func addToFavourites(_ object: Fruit) { mutableSetValue(forKey: "favourites").insert(object) }
  /// Removes an object from `favourites`.
  func removeFromFavourites(_ object: Fruit) { mutableSetValue(forKey: "favourites").remove(object) }
}

extension Picker {
  /// Adds an object to `trees`.
  func addToTrees(_ object: Tree) { mutableOrderedSetValue(forKey: "trees").insert(object) }
  /// Removes an object from `trees`.
  func removeFromTrees(_ object: Tree) { mutableOrderedSetValue(forKey: "trees").remove(object) }
}

// Made by heartwood generate. Changes are lost when it is made again.
// swift-format-ignore-file

import Foundation
import Heartwood

extension Picker {
  var name: String {
    get { value(forKey: "name") as? String ?? "" }
    set { setValue(newValue, forKey: "name") }
  }
  /// The objects of `trees`.
  var trees: RelatedObjects<ManagedObject> { mutableOrderedSetValue(forKey: "trees") }
}

import Foundation
import Heartwood

extension AtomicStoreCacheNode {
  /// The values of the node by the names of properties: changes of the dictionary are changes of the node. Nil for a node that has never had any.
  public var propertyCache: NSMutableDictionary? {
    get { propertyDictionary }
    set { propertyDictionary = newValue }
  }

  /// Sets the values of several properties; `NSNull` for none.
  public func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (name, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: name) }
  }

  /// The values of several properties; `NSNull` for those that have none.
  public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
  }
}

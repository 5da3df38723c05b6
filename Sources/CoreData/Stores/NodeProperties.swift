import Foundation
import Heartwood
import HeartwoodBytes

extension AtomicStoreCacheNode {
  /// The values of the node by the names of properties, as a dictionary that changes the node.
  public var propertyCache: NSMutableDictionary? {
    get { NodeProperties(self) }
    set { anyPropertyCache = newValue.map { $0 as? [String: Any] ?? [:] } ?? [:] }
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

/// The values of a node, as a dictionary that writes through.
final class NodeProperties: NSMutableDictionary {
  private let node: NSAtomicStoreCacheNode

  init(_ node: NSAtomicStoreCacheNode) {
    self.node = node
    super.init(objects: nil, forKeys: nil, count: 0)
  }

  required init(capacity numItems: Int) { programError("the values of a node are made of the node") }
  required init(objects: UnsafePointer<AnyObject>!, forKeys keys: UnsafePointer<NSObject>!, count cnt: Int) {
    programError("the values of a node are made of the node")
  }
  required init?(coder: NSCoder) { programError("the values of a node cannot be coded") }

  override var count: Int { node.anyPropertyCache.count }
  override func object(forKey aKey: Any) -> Any? { (aKey as? String).flatMap { node.anyPropertyCache[$0] } }
  override func keyEnumerator() -> NSEnumerator {
    NSArray(array: node.anyPropertyCache.keys.sorted()).objectEnumerator()
  }
  override func setObject(_ anObject: Any, forKey aKey: AnyHashable) {
    if let key = aKey.base as? String { node.anyPropertyCache[key] = anObject }
  }
  override func removeObject(forKey aKey: Any) {
    if let key = aKey as? String { node.anyPropertyCache[key] = nil }
  }
}

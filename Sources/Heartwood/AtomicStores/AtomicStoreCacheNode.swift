import Foundation

/// An object of an ``AtomicStore``, as its class loads and saves it.
open class AtomicStoreCacheNode: NSObject, @unchecked Sendable {
  /// The identifier of the object.
  public final let objectID: ManagedObjectID

  /// The values by the names of the properties: of a to-one relationship a node, of a to-many relationship a set of nodes, or an array of
  /// them if it is ordered. A property without a value has none. The elements of a composite attribute have the names of their paths, such as
  /// `address.city`.
  @_disfavoredOverload open var propertyCache: [String: Any] = [:]

  /// A node without values.
  public required init(objectID: ManagedObjectID) { self.objectID = objectID }

  /// The value of a property; nil if it has none.
  open func value(forKey key: String) -> Any? { propertyCache[key] }

  /// Sets the value of a property; nil for none.
  open func setValue(_ value: Any?, forKey key: String) { propertyCache[key] = value }
}

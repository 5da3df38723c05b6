import Foundation

/// An object of an ``AtomicStore``, as its class loads and saves it.
open class AtomicStoreCacheNode: NSObject, @unchecked Sendable {
  /// The identifier of the object.
  public final let objectID: ManagedObjectID

  /// The values by the names of the properties: of a to-one relationship a node, of a to-many relationship a set of nodes, or an array of
  /// them if it is ordered. A property without a value has none. The elements of a composite attribute have the names of their paths, such as
  /// `address.city`.
  @_disfavoredOverload open var propertyCache: [String: Any] {
    get { dictionary as? [String: Any] ?? values }
    set { (dictionary, values) = (nil, newValue) }
  }

  /// The values, as long as `dictionary` is nil.
  private var values: [String: Any] = [:]
  /// The values once the program has had them as a dictionary of Foundation, or has given one: it may keep and change it.
  private var dictionary: NSMutableDictionary?

  /// The values as a dictionary of Foundation; nil for a node that has never had any.
  package final var propertyDictionary: NSMutableDictionary? {
    get {
      if dictionary == nil, !values.isEmpty {
        dictionary = NSMutableDictionary(dictionary: values)
        values = [:]
      }
      return dictionary
    }
    set { (dictionary, values) = (newValue, [:]) }
  }

  /// A node without values.
  public required init(objectID: ManagedObjectID) { self.objectID = objectID }

  /// The value of a property; nil if it has none.
  open func value(forKey key: String) -> Any? {
    dictionary.map { $0.object(forKey: key) } ?? values[key]
  }

  /// Sets the value of a property; nil for none.
  open func setValue(_ value: Any?, forKey key: String) {
    guard let dictionary else { return values[key] = value }
    if let value {
      dictionary.setObject(value, forKey: key)
    } else {
      dictionary.removeObject(forKey: key)
    }
  }
}

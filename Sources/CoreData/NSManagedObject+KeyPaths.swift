import Foundation
import Heartwood

/// Key paths, several values at once, and collections that write through.
extension NSManagedObject {
  /// The value at the end of names with dots between them; over a to-many relationship the values of all destinations, or an aggregate of
  /// them such as `@count` and `@sum.price`.
  public final func value(forKeyPath keyPath: String) -> Any? { KeyValues.value(of: self, atPath: keyPath) }

  /// Sets the property at the end of names with dots between them; over a to-many relationship that of all destinations.
  ///
  /// - Precondition: The names before the last one lead to managed objects or to nil.
  public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
    KeyValues.set(value, of: self, atPath: keyPath)
  }

  /// Begins changing a to-many relationship in a custom accessor.
  public final func willChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) { willChangeValue(forKey: inKey) }

  /// Ends changing a to-many relationship in a custom accessor.
  public final func didChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) { didChangeValue(forKey: inKey) }

  /// The values of several properties, with `NSNull` for nil.
  public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
  }

  /// Sets several properties. `NSNull` stands for nil.
  public final func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
  }

  /// A set that changes a to-many relationship when it is changed.
  public final func mutableSetValue(forKey key: String) -> NSMutableSet { RelationshipSet(self, key) }

  /// An ordered set that changes an ordered relationship when it is changed.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    RelationshipOrderedSet(self, key)
  }

  /// The set of the relationship at the end of names with dots between them.
  public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
    let (owner, key) = owner(ofPath: keyPath)
    return owner.mutableSetValue(forKey: key)
  }

  /// The ordered set of the relationship at the end of names with dots between them.
  public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
    let (owner, key) = owner(ofPath: keyPath)
    return owner.mutableOrderedSetValue(forKey: key)
  }

  private final func owner(ofPath path: String) -> (NSManagedObject, String) {
    guard let dot = path.lastIndex(of: ".") else { return (self, path) }
    guard let owner = value(forKeyPath: String(path[..<dot])) as? NSManagedObject else {
      raise("mutableSetValueForKeyPath:", "\(path) leads to no object")
    }
    return (owner, String(path[path.index(after: dot)...]))
  }

  /// The value of a name that is no attribute or relationship of the model; nil if there is none.
  final func unmodelledValue(forKey key: String) -> Any?? {
    if entity.fetchedPropertiesByName[key] != nil {
      return .some(fetchedObjects(forKey: key, as: ManagedObject.self))
    }
    switch key {
    case "self": return .some(self)
    case "objectID": return .some(objectID)
    case "managedObjectContext": return .some(managedObjectContext)
    case "entity": return .some(entity)
    case "isInserted", "inserted": return .some(NSNumber(value: isInserted))
    case "isUpdated", "updated": return .some(NSNumber(value: isUpdated))
    case "isDeleted", "deleted": return .some(NSNumber(value: isDeleted))
    case "isFault", "fault": return .some(NSNumber(value: isFault))
    case "hasChanges": return .some(NSNumber(value: hasChanges))
    case "description": return .some(description)
    default: return nil
    }
  }
}

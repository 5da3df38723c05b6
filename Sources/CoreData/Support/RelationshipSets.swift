import Foundation
import Heartwood
import HeartwoodBytes

/// The destinations of a to-many relationship as a set that writes through.
///
/// Foundation reads subclasses of its sets by their objects, but for a few methods that read its own storage, which is empty here: those are
/// overridden. Swift's bridging to `Set` cannot be: it takes every subclass for empty.
final class RelationshipSet: NSMutableSet {
  private let owner: NSManagedObject
  private let key: String

  init(_ owner: NSManagedObject, _ key: String) {
    self.owner = owner
    self.key = key
    super.init(capacity: 0)
  }

  required init(capacity numItems: Int) { programError("a relationship's set is made of its object") }
  required init?(coder: NSCoder) { programError("a relationship's set cannot be coded") }

  private var related: RelatedObjects<ManagedObject> { owner.relatedObjects(forKey: key) }
  private var objects: [ManagedObject] { Array(related) }

  private func destination(_ object: Any) -> ManagedObject {
    RelationshipElement.destination(object, of: owner, key, "mutableSetValueForKey:")
  }

  // MARK: Reading

  override var count: Int { related.count }
  override func member(_ object: Any) -> Any? {
    guard let object = RelationshipElement.object(object), related.contains(object) else { return nil }
    return object
  }
  override func objectEnumerator() -> NSEnumerator { NSArray(array: objects).objectEnumerator() }
  override var allObjects: [Any] { objects }
  override func contains(_ anObject: Any) -> Bool { member(anObject) != nil }
  override func isEqual(_ value: Any?) -> Bool {
    (value as? RelationshipSet).map { super.isEqual($0.copy()) } ?? super.isEqual(value)
  }
  override func addingObjects(from other: Set<AnyHashable>) -> Set<AnyHashable> {
    Set(objects.map(AnyHashable.init)).union(other)
  }
  override func description(withLocale locale: Locale?) -> String {
    NSSet(array: objects).description(withLocale: locale)
  }
  override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: objects) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: objects) }

  // MARK: Changing

  override func add(_ object: Any) { addAll([destination(object)]) }
  override func addObjects(from array: [Any]) { addAll(array.map(destination)) }
  override func union(_ other: Set<AnyHashable>) { addAll(other.map { destination($0.base) }) }
  override func remove(_ object: Any) { removeAll([object]) }
  override func minus(_ other: Set<AnyHashable>) { removeAll(other.map(\.base)) }
  override func removeAllObjects() { setObjects([]) }
  override func intersect(_ other: Set<AnyHashable>) {
    removeAll(objects.filter { !other.contains(AnyHashable($0)) })
  }
  override func setSet(_ other: Set<AnyHashable>) { setObjects(other.map { destination($0.base) }) }

  private func addAll(_ added: [ManagedObject]) {
    related.insert(contentsOf: added)
    owner._noteAssignment(key)
  }

  private func removeAll(_ removed: [Any]) {
    for object in removed.compactMap(RelationshipElement.object) { related.remove(object) }
    owner._noteAssignment(key)
  }

  private func setObjects(_ objects: [ManagedObject]) { owner.setValue(NSSet(array: objects), forKey: key) }
}

/// The elements that a program hands to the sets of relationships.
enum RelationshipElement {
  /// The managed object, also one that came out of a collection of Swift; nil for other values.
  static func object(_ any: Any) -> ManagedObject? {
    any as? ManagedObject ?? (any as? AnyHashable)?.base as? ManagedObject
  }

  /// The managed object. Stops the program for any other value, as Core Data does.
  static func destination(
    _ any: Any, of owner: NSManagedObject, _ key: String, _ method: String
  ) -> ManagedObject {
    if let object = object(any) { return object }
    raise(
      method,
      "\(owner.entity.name ?? "?").\(key) takes managed objects, not \(Swift.type(of: any)): \(any)")
  }
}

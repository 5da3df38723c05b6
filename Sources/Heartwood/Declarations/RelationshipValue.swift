/// A type that relationships can have: `T?`, `Set<T>`, `[T]` and `RelatedObjects<T>` of managed objects.
public protocol RelationshipValue {
  /// The class of the destinations.
  associatedtype Destination: ManagedObject
  /// How many destinations there may be, and whether they have an order.
  static var _shape: _RelationshipShape { get }
  /// The destinations of an object's relationship.
  static func _read(_ object: ManagedObject, _ slot: Int) -> Self
  /// Makes this the whole relationship.
  func _write(to object: ManagedObject, _ slot: Int)
  /// A value that leads to one object, by which it is recognised again.
  static func _leading(to object: Destination) -> Self
  /// Whether the value came from `_leading(to:)` with this object.
  func _leads(to object: ManagedObject) -> Bool
}

/// How many destinations a relationship may have, and whether they have an order.
public enum _RelationshipShape: Sendable {
  /// One at most.
  case toOne
  /// Any number.
  case toMany
  /// Any number, in an order.
  case ordered
}

extension Optional: RelationshipValue where Wrapped: ManagedObject {
  /// The wrapped class.
  public typealias Destination = Wrapped
  /// One.
  public static var _shape: _RelationshipShape { .toOne }

  /// The destination, a fault until it is touched.
  public static func _read(_ object: ManagedObject, _ slot: Int) -> Wrapped? {
    guard let destination = object.destination(at: slot) else { return nil }
    return destination as? Wrapped
  }

  /// Makes this the destination.
  public func _write(to object: ManagedObject, _ slot: Int) { object.setDestination(self, at: slot) }

  /// The object.
  public static func _leading(to object: Wrapped) -> Wrapped? { object }

  /// Whether this is the object.
  public func _leads(to object: ManagedObject) -> Bool { self === object }
}

extension Set: RelationshipValue where Element: ManagedObject {
  /// The class of the elements.
  public typealias Destination = Element
  /// Many.
  public static var _shape: _RelationshipShape { .toMany }

  /// All destinations, as faults.
  public static func _read(_ object: ManagedObject, _ slot: Int) -> Set<Element> {
    let objects = object.destinations(at: slot)
    var set = Set(minimumCapacity: objects.count)
    for case let element as Element in objects { set.insert(element) }
    return set
  }

  /// Makes these the destinations.
  public func _write(to object: ManagedObject, _ slot: Int) {
    // In the order of keys, so that the same changes make the same bytes in the store.
    object.setDestinations(sorted { $0.identifier.key < $1.identifier.key }, at: slot)
  }

  /// The object alone.
  public static func _leading(to object: Element) -> Set<Element> { [object] }

  /// Whether this is the object alone.
  public func _leads(to object: ManagedObject) -> Bool { count == 1 && first === object }
}

extension Array: RelationshipValue where Element: ManagedObject {
  /// The class of the elements.
  public typealias Destination = Element
  /// Many, in their order.
  public static var _shape: _RelationshipShape { .ordered }

  /// All destinations, as faults, in their order.
  public static func _read(_ object: ManagedObject, _ slot: Int) -> [Element] {
    object.destinations(at: slot).compactMap { $0 as? Element }
  }

  /// Makes these the destinations.
  public func _write(to object: ManagedObject, _ slot: Int) { object.setDestinations(self, at: slot) }

  /// The object alone.
  public static func _leading(to object: Element) -> [Element] { [object] }

  /// Whether this is the object alone.
  public func _leads(to object: ManagedObject) -> Bool { count == 1 && first === object }
}

extension RelatedObjects: RelationshipValue {
  /// The class of the elements.
  public typealias Destination = Element
  /// Many.
  public static var _shape: _RelationshipShape { .toMany }

  /// The relationship itself; nothing is loaded.
  public static func _read(_ object: ManagedObject, _ slot: Int) -> RelatedObjects<Element> {
    RelatedObjects(owner: object, slot: slot)
  }

  /// Makes these the destinations.
  public func _write(to object: ManagedObject, _ slot: Int) {
    guard owner !== object || self.slot != slot else { return }
    object.setDestinations(Array(self), at: slot)
  }

  /// Stands for the object, and is no relationship of it.
  public static func _leading(to object: Element) -> RelatedObjects<Element> {
    RelatedObjects(owner: object, slot: -1)
  }

  /// Whether this stands for the object.
  public func _leads(to object: ManagedObject) -> Bool { owner === object && slot == -1 }
}

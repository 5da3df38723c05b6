/// A type of relationship properties: `T?`, `Set<T>`, `[T]` and `RelatedObjects<T>` of managed objects.
public protocol RelationshipValue {
  /// The class of the destinations.
  associatedtype Destination: ManagedObject
  /// How many destinations are allowed, and whether they are ordered.
  static var _shape: _RelationshipShape { get }
  /// The destinations of an object's relationship.
  static func _read(_ object: ManagedObject, _ slot: Int) -> Self
  /// Replaces all destinations by this value.
  func _write(to object: ManagedObject, _ slot: Int)
  /// A sentinel that contains one object, by which a property is recognised.
  static func _leading(to object: Destination) -> Self
  /// Whether the value is the sentinel of this object.
  func _leads(to object: ManagedObject) -> Bool
}

/// How many destinations a relationship may have, and whether they are ordered.
public enum _RelationshipShape: Sendable {
  /// At most one.
  case toOne
  /// Any number.
  case toMany
  /// Any number, ordered.
  case ordered
}

extension Optional: RelationshipValue where Wrapped: ManagedObject {
  /// The wrapped class.
  public typealias Destination = Wrapped
  /// To-one.
  public static var _shape: _RelationshipShape { .toOne }

  /// The destination, as a fault unless it is realised already.
  public static func _read(_ object: ManagedObject, _ slot: Int) -> Wrapped? {
    guard let destination = object.destination(at: slot) else { return nil }
    return destination as? Wrapped
  }

  /// Sets the destination.
  public func _write(to object: ManagedObject, _ slot: Int) { object.setDestination(self, at: slot) }

  /// The object itself.
  public static func _leading(to object: Wrapped) -> Wrapped? { object }

  /// Whether this is the object.
  public func _leads(to object: ManagedObject) -> Bool { self === object }
}

extension Set: RelationshipValue where Element: ManagedObject {
  /// The class of the elements.
  public typealias Destination = Element
  /// To-many, unordered.
  public static var _shape: _RelationshipShape { .toMany }

  /// All destinations; those that are not realised yet are faults.
  @inlinable
  public static func _read(_ object: ManagedObject, _ slot: Int) -> Set<Element> {
    let last = object.lastReadDestinations(at: slot, as: Set<Element>.self) { $0.change($1, isAdded: $2) }
    if let last { return last }
    let objects = object.destinations(at: slot)
    var set = Set(minimumCapacity: objects.count)
    for case let element as Element in objects { set.insert(element) }
    object.noteReadDestinations(set, at: slot)
    return set
  }

  /// Replaces the destinations.
  ///
  /// The property's own `insert` reads the set, changes it and writes it, so the difference to the set that was read last is
  /// written if it is still the current one.
  public func _write(to object: ManagedObject, _ slot: Int) {
    let last = object.lastReadDestinations(at: slot, as: Set<Element>.self) { $0.change($1, isAdded: $2) }
    guard let former = last else {
      // In key order, so that the same changes produce the same bytes in the store.
      return object.setDestinations(sorted { $0.identifier.key < $1.identifier.key }, at: slot)
    }
    let added = filter { !former.contains($0) }
    let removed = count - added.count == former.count ? [] : former.filter { !contains($0) }
    object.changeDestinations(
      at: slot, removing: removed.sorted { $0.identifier.key < $1.identifier.key },
      adding: added.sorted { $0.identifier.key < $1.identifier.key })
    object.noteReadDestinations(self, at: slot)
  }

  /// A set of only this object.
  public static func _leading(to object: Element) -> Set<Element> { [object] }

  /// Whether the set contains only this object.
  public func _leads(to object: ManagedObject) -> Bool { count == 1 && first === object }
}

extension Array: RelationshipValue where Element: ManagedObject {
  /// The class of the elements.
  public typealias Destination = Element
  /// To-many, ordered.
  public static var _shape: _RelationshipShape { .ordered }

  /// All destinations in order; those that are not realised yet are faults.
  public static func _read(_ object: ManagedObject, _ slot: Int) -> [Element] {
    let last = object.lastReadDestinations(at: slot, as: [Element].self) { $0.change($1, isAdded: $2) }
    if let last { return last }
    let array = object.destinations(at: slot).compactMap { $0 as? Element }
    object.noteReadDestinations(array, at: slot)
    return array
  }

  /// Replaces the destinations.
  ///
  /// The property's own `append` and `remove` read the array, change it and write it, so the difference to the array that was read last
  /// is written if it is still the current one.
  public func _write(to object: ManagedObject, _ slot: Int) {
    let former = object.lastReadDestinations(at: slot, as: [Element].self) { $0.change($1, isAdded: $2) }
    let change = former.flatMap(difference)
    if let change {
      object.changeDestinations(at: slot, removing: change.removed, adding: change.added)
    } else {
      object.setDestinations(self, at: slot)
    }
    // An object may be there twice, or stand for another one.
    let added = change?.added ?? self
    if object.destinationCount(at: slot) == count, added.allSatisfy({ $0.standing === $0 }) {
      object.noteReadDestinations(self, at: slot)
    }
  }

  /// The removed elements, and the appended ones; nil if the array differs otherwise.
  private func difference(to former: [Element]) -> (removed: [Element], added: [Element])? {
    var same = 0
    while same < Swift.min(count, former.count), self[same] === former[same] { same += 1 }
    if same == former.count { return ([], Array(self[same...])) }
    let rest = former.count - count
    guard rest > 0, zip(self[same...], former[(same + rest)...]).allSatisfy({ $0 === $1 }) else { return nil }
    return (Array(former[same..<same + rest]), [])
  }

  /// An array of only this object.
  public static func _leading(to object: Element) -> [Element] { [object] }

  /// Whether the array contains only this object.
  public func _leads(to object: ManagedObject) -> Bool { count == 1 && first === object }
}

extension RelatedObjects: RelationshipValue {
  /// The class of the elements.
  public typealias Destination = Element
  /// To-many, unordered.
  public static var _shape: _RelationshipShape { .toMany }

  /// The relationship itself; loads nothing.
  public static func _read(_ object: ManagedObject, _ slot: Int) -> RelatedObjects<Element> {
    RelatedObjects(owner: object, slot: slot)
  }

  /// Replaces the destinations; does nothing if this is the same relationship.
  public func _write(to object: ManagedObject, _ slot: Int) {
    guard owner !== object || self.slot != slot else { return }
    object.setDestinations(Array(self), at: slot)
  }

  /// A sentinel for the object, with the invalid slot -1; not a relationship of it.
  public static func _leading(to object: Element) -> RelatedObjects<Element> {
    RelatedObjects(owner: object, slot: -1)
  }

  /// Whether this is the sentinel of the object.
  public func _leads(to object: ManagedObject) -> Bool { owner === object && slot == -1 }
}

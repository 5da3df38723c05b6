import HeartwoodBytes

/// The destinations of a to-many relationship, created one at a time on access.
///
/// A `Set<City>` creates every object of the relationship at each read. This loads keys only: `count` and `contains` create no object, and
/// iteration creates one at a time. It is the projected value of every to-many property (`country.$cities`), and may be a property's declared type.
///
/// It always shows the current relationship, including later changes. An iteration continues with the destinations at
/// its start if the relationship changes.
public struct RelatedObjects<Element: ManagedObject>: Sequence {
  let owner: ManagedObject
  let slot: Int

  init(owner: ManagedObject, slot: Int) {
    self.owner = owner
    self.slot = slot
  }

  /// The number of destinations. Loads no object, and no key of a relationship without unsaved changes.
  ///
  /// - Complexity: Logarithmic in the size of the store before the keys are loaded, then constant.
  public var count: Int {
    owner.noteAccess(slot)
    return owner.destinationCount(at: slot)
  }

  /// Whether there are no destinations. Loads no object, and at most one key of a relationship without unsaved changes.
  public var isEmpty: Bool {
    owner.noteAccess(slot)
    guard let context = owner.managedObjectContext else { return owner.destinationCount(at: slot) == 0 }
    return !context.hasRelated(owner, slot)
  }

  /// Whether `object` is a destination. Loads no other key, unless the relationship is ordered.
  ///
  /// - Complexity: Logarithmic in the size of the store. In an ordered relationship, constant after a linear first call.
  public func contains(_ object: Element) -> Bool {
    owner.noteAccess(slot)
    return owner.managedObjectContext?.containsRelated(owner, slot, object)
      ?? owner.detachedList(slot)?.contains(object) ?? false
  }

  /// Adds `object`, at the end of an ordered relationship. Does nothing if it is a destination already.
  ///
  /// - Parameter object: An object of the same context.
  public func insert(_ object: Element) { owner.insertDestination(object, at: slot) }

  /// Adds objects, in this order at the end of an ordered relationship. Passes over those that are destinations already.
  ///
  /// - Parameter objects: Objects of the same context.
  public func insert(contentsOf objects: some Sequence<Element>) {
    for object in objects { insert(object) }
  }

  /// Removes `object`. Does nothing if it is not a destination.
  public func remove(_ object: Element) { owner.removeDestination(object, at: slot) }

  /// Removes all destinations from the relationship; deletes none.
  public func removeAll() { owner.setDestinations([], at: slot) }

  /// The identifiers of the destinations, without creating objects.
  public var objectIDs: [ManagedObjectID] { owner.objectIDs(forRelationshipAt: slot) }

  /// The keys of the destinations, which differ if the destinations do.
  package var keys: [UInt64] {
    owner.noteAccess(slot)
    return owner.managedObjectContext?.relatedKeys(owner, slot)
      ?? owner.detachedDestinations(at: slot).map(\.objectID.key)
  }

  /// The state of the keys, and its version, which changes with them; nil without a context.
  package var revision: (state: AnyObject, version: Int)? {
    let use = owner.beginUse("reading", slot)
    defer { use?.leave() }
    owner.noteAccess(slot)
    return owner.managedObjectContext.map { $0.loadedState(owner, slot) }.map { ($0, $0.version) }
  }

  /// The collection of all destinations that the program has read or written last, if it is still kept.
  package var lastCollection: Any? {
    get {
      let use = owner.beginUse("reading", slot)
      defer { use?.leave() }
      owner.noteAccess(slot)
      return owner.lastReadDestinations(at: slot)
    }
    nonmutating set { newValue.map { owner.noteReadDestinations($0, at: slot) } }
  }

  /// The same, also where objects have come and gone one by one since, for each of which `change` changes the collection; it returns whether
  /// it could.
  package func lastCollection<Collection>(
    as type: Collection.Type, _ change: (inout Collection, ManagedObject, _ isAdded: Bool) -> Bool
  ) -> Collection? {
    let use = owner.beginUse("reading", slot)
    defer { use?.leave() }
    owner.noteAccess(slot)
    return owner.lastReadDestinations(at: slot, as: type, change)
  }

  /// The destination that an object is or stands for, and its key.
  package func destination(_ object: ManagedObject) -> (key: UInt64, object: ManagedObject) {
    (object.standing.identifier.key, object.standing)
  }

  /// An iterator over the current destinations.
  public func makeIterator() -> Iterator {
    owner.noteAccess(slot)
    let destination: EntityDescription = owner.entity.relationship(at: slot).destinationEntity
    guard let context = owner.managedObjectContext else {
      return Iterator(detached: owner.detachedDestinations(at: slot), destination)
    }
    return Iterator(context: context, destination: destination, keys: context.relatedKeys(owner, slot))
  }

  /// Creates the destinations one after the other.
  public struct Iterator: IteratorProtocol {
    let context: ManagedObjectContext?
    let destination: EntityDescription
    let keys: [UInt64]
    /// The destinations of an object without a context.
    private var detached: [ManagedObject] = []
    var position = 0
    /// The class of the last destination: most have the same class, and a cast by the runtime costs more than looking up the object.
    private var lastClass: ObjectIdentifier?

    init(context: ManagedObjectContext?, destination: EntityDescription, keys: [UInt64]) {
      self.context = context
      self.destination = destination
      self.keys = keys
    }

    init(detached: [ManagedObject], _ destination: EntityDescription) {
      self.init(context: nil, destination: destination, keys: [])
      self.detached = detached
    }

    /// The next destination: the registered object or a fault.
    public mutating func next() -> Element? {
      guard let context else {
        defer { position += 1 }
        return position < detached.count ? detached[position] as? Element : nil
      }
      guard position < keys.count else { return nil }
      context.beginUse("iterating over a relationship")
      defer { context.endUse() }
      let object = context.object(destination, keys[position])
      position += 1
      let objectClass = ObjectIdentifier(type(of: object))
      if objectClass == lastClass { return CheckedCast.object(object, of: Element.self) }
      lastClass = object is Element ? objectClass : nil
      return object as? Element
    }
  }
}

/// Ordered relationships.
extension RelatedObjects {
  /// Adds `object` at an index of an ordered relationship, or moves it there.
  ///
  /// - Parameters:
  ///   - object: An object of the same context.
  ///   - index: The index that it has afterwards.
  /// - Precondition: The relationship is ordered and `index` is at most the count without `object`.
  /// - Complexity: Linear in the number of destinations at the first call, then about its square root.
  public func insert(_ object: Element, at index: Int) {
    owner.insertDestination(object, at: slot, index: index)
  }

  /// Removes the destination at an index of an ordered relationship.
  ///
  /// - Parameter index: Less than the count.
  /// - Returns: The object that was removed.
  @discardableResult
  public func remove(at index: Int) -> Element {
    let object = self[index]
    remove(object)
    return object
  }

  /// The destination at an index of an ordered relationship: the registered object or a fault. Creates no other object.
  ///
  /// - Precondition: The relationship is ordered and `index` is less than the count.
  public subscript(index: Int) -> Element {
    owner.noteAccess(slot)
    let relationship = owner.entity.relationship(at: slot)
    require(relationship.isOrdered, "\(relationship.displayName) has no order")
    guard let object = owner.destination(inOrderAt: slot, index) as? Element else {
      programError("index \(index) is outside of \(relationship.displayName)")
    }
    return object
  }

  /// The index of an object in an ordered relationship; nil if it is not a destination.
  ///
  /// - Complexity: Linear in the number of destinations; after an insertion at an index about its square root.
  public func firstIndex(of object: Element) -> Int? {
    owner.noteAccess(slot)
    return owner.managedObjectContext.map { $0.relatedIndex(owner, slot, object) }
      ?? owner.detachedList(slot)?.index(of: object)
  }
}

extension ManagedObject {
  /// The destination at an index of an ordered relationship; nil outside of it.
  fileprivate final func destination(inOrderAt slot: Int, _ index: Int) -> ManagedObject? {
    guard let context = managedObjectContext else {
      return detachedList(slot).flatMap { (0..<$0.count).contains(index) ? $0[index] : nil }
    }
    return context.relatedKey(self, slot, at: index).map { context.relatedObject(self, slot, $0) }
  }

  /// A to-many relationship by name, as a live collection: changes of it are changes of the relationship.
  ///
  /// Core Data's is an `NSMutableSet`; this one creates objects one at a time, and counts and tests without creating any.
  ///
  /// - Parameter key: The relationship's name.
  /// - Precondition: The entity has such a to-many relationship.
  @_disfavoredOverload public final func mutableSetValue(forKey key: String) -> RelatedObjects<ManagedObject>
  {
    let relationship = entity.relationship(at: knownSlot(key))
    require(relationship.isToMany, "\(relationship.displayName) is a to-one relationship")
    return RelatedObjects(owner: self, slot: relationship.slot)
  }

  /// An ordered to-many relationship by name, as a live collection: changes of it are changes of the relationship.
  ///
  /// - Parameter key: The relationship's name.
  /// - Precondition: The entity has such an ordered relationship.
  @_disfavoredOverload public final func mutableOrderedSetValue(forKey key: String) -> RelatedObjects<
    ManagedObject
  > {
    let relationship = entity.relationship(at: knownSlot(key))
    require(relationship.isOrdered, "\(relationship.displayName) has no order: use mutableSetValue(forKey:)")
    return RelatedObjects(owner: self, slot: relationship.slot)
  }
}

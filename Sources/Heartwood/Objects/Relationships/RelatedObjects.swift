/// The destinations of a to-many relationship, created one at a time on access.
///
/// A `Set<City>` creates every object of the relationship at each read. This loads keys only: `count` and `contains`
/// create no object, and iteration creates one at a time. It is the projected value of every to-many property
/// (`country.$cities`), and may be a property's declared type.
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

  /// The number of destinations. The first use loads the keys.
  public var count: Int {
    owner.noteAccess(slot)
    return owner.managedObjectContext?.relatedKeys(owner, slot).count ?? 0
  }

  /// Whether there are no destinations.
  public var isEmpty: Bool { count == 0 }

  /// Whether `object` is a destination. The first use loads the keys.
  ///
  /// - Complexity: Logarithmic in the number of destinations. In an ordered relationship, constant after a linear first
  ///   call.
  public func contains(_ object: Element) -> Bool {
    owner.noteAccess(slot)
    return owner.managedObjectContext?.containsRelated(owner, slot, object) ?? false
  }

  /// Adds `object`, at the end of an ordered relationship. Does nothing if it is a destination already.
  public func insert(_ object: Element) {
    owner.managedObjectContext?.insertRelated(owner, slot, object, at: nil)
  }

  /// Adds `object` at an index of an ordered relationship, or moves it there.
  ///
  /// - Precondition: The relationship is ordered and `index` is at most the count without `object`.
  public func insert(_ object: Element, at index: Int) {
    owner.managedObjectContext?.insertRelated(owner, slot, object, at: index)
  }

  /// Removes `object`. Does nothing if it is not a destination.
  public func remove(_ object: Element) {
    owner.managedObjectContext?.removeRelated(owner, slot, object)
  }

  /// The identifiers of the destinations, without creating objects.
  public var objectIDs: [ManagedObjectID] { owner.objectIDs(forRelationshipAt: slot) }

  /// An iterator over the current destinations.
  public func makeIterator() -> Iterator {
    owner.noteAccess(slot)
    let context = owner.managedObjectContext
    return Iterator(
      context: context, destination: owner.entity.relationship(at: slot).destinationEntity,
      keys: context?.relatedKeys(owner, slot) ?? [])
  }

  /// Creates the destinations one after the other.
  public struct Iterator: IteratorProtocol {
    let context: ManagedObjectContext?
    let destination: EntityDescription
    let keys: [UInt64]
    var position = 0
    /// The class of the last destination: most have the same class, and a cast by the runtime costs more than looking up
    /// the object.
    private var lastClass: ObjectIdentifier?

    init(context: ManagedObjectContext?, destination: EntityDescription, keys: [UInt64]) {
      self.context = context
      self.destination = destination
      self.keys = keys
    }

    /// The next destination: the registered object or a fault.
    public mutating func next() -> Element? {
      guard let context, position < keys.count else { return nil }
      context.beginUse("iterating over a relationship")
      defer { context.endUse() }
      let object = context.object(destination, keys[position])
      position += 1
      let objectClass = ObjectIdentifier(type(of: object))
      if objectClass == lastClass { return unsafeDowncast(object, to: Element.self) }
      lastClass = object is Element ? objectClass : nil
      return object as? Element
    }
  }
}

/// The destinations of a to-many relationship, made one at a time as they are asked for.
///
/// Where `Set<City>` makes every object of the relationship at each read, this loads keys only:
/// counting and membership make no object, iterating makes each as it comes by. It is the projected
/// value of every to-many property (`country.$cities`), and may be a property's declared type.
///
/// It shows the relationship as it is when it is asked, changes made later included. Changing the
/// relationship while iterating over it leaves the iteration on the state that it began with.
public struct RelatedObjects<Element: ManagedObject>: Sequence {
  let owner: ManagedObject
  let slot: Int

  init(owner: ManagedObject, slot: Int) {
    self.owner = owner
    self.slot = slot
  }

  /// How many destinations there are. Loads the keys once.
  public var count: Int { owner.managedObjectContext?.relatedKeys(owner, slot).count ?? 0 }

  /// Whether there is none.
  public var isEmpty: Bool { count == 0 }

  /// Whether `object` is among them. Loads the keys once; then logarithmic in their number, linear
  /// in an ordered relationship.
  public func contains(_ object: Element) -> Bool {
    owner.managedObjectContext?.containsRelated(owner, slot, object) ?? false
  }

  /// Relates `object`, at the end of an ordered relationship. Does nothing when it is related already.
  public func insert(_ object: Element) {
    owner.managedObjectContext?.insertRelated(owner, slot, object, at: nil)
  }

  /// Relates `object` at a place of an ordered relationship, or moves it there.
  ///
  /// - Precondition: the relationship is ordered and `index` is at most the count.
  public func insert(_ object: Element, at index: Int) {
    owner.managedObjectContext?.insertRelated(owner, slot, object, at: index)
  }

  /// Ends the relation to `object`. Does nothing when there is none.
  public func remove(_ object: Element) {
    owner.managedObjectContext?.removeRelated(owner, slot, object)
  }

  /// The identifiers of the destinations, without making objects.
  public var objectIDs: [ManagedObjectID] { owner.objectIDs(forRelationshipAt: slot) }

  /// An iterator over the destinations as they are now.
  public func makeIterator() -> Iterator {
    let context = owner.managedObjectContext
    return Iterator(
      context: context, destination: owner.entity.relationship(at: slot).destinationEntity,
      keys: context?.relatedKeys(owner, slot) ?? [])
  }

  /// Makes the destinations one after the other.
  public struct Iterator: IteratorProtocol {
    let context: ManagedObjectContext?
    let destination: EntityDescription
    let keys: [UInt64]
    var position = 0
    /// The class of the last destination: most are of one class, and asking the runtime costs more than finding
    /// the object.
    private var lastClass: ObjectIdentifier?

    init(context: ManagedObjectContext?, destination: EntityDescription, keys: [UInt64]) {
      self.context = context
      self.destination = destination
      self.keys = keys
    }

    /// The next destination, a fault until it is touched.
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

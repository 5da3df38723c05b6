import HeartwoodBytes

/// The accessors of property wrappers. `place` is the wrapper's.
extension ManagedObject {
  /// The value of an attribute.
  @inlinable @inline(__always)
  public final func _attribute<Wrapped: AttributeValue>(_ place: _WrapperPlace) -> Wrapped {
    let offset = place.offset(in: self)
    // If uses are checked, no row is exposed. Debug builds always check, so they omit this fast path.
    #if !DEBUG
      if let row = _row, let value = Wrapped._read(row, _columns[offset]) { return value }
    #endif
    return _attributeSlowly(offset)
  }

  /// Sets the value of an attribute.
  @inlinable @inline(__always)
  public final func _setAttribute(_ place: _WrapperPlace, _ value: _Value) {
    _setAttribute(at: place.offset(in: self), value)
  }

  /// The value if the exposed row does not have it: a fault, a pending value, a null.
  @inlinable @inline(never)
  final func _attributeSlowly<Wrapped: AttributeValue>(_ offset: Int) -> Wrapped {
    if _isPrototype { return _recordedAttribute(offset) }
    let use = _beginRead(offset)
    defer { use?.leave() }
    if let row = _rowWhenRead(), let value = Wrapped._read(row, _columns[offset]) { return value }
    let stored = _value(at: offset)
    return Wrapped(stored) ?? _replacement(at: offset, for: stored)
  }

  /// The exposed row, after firing a fault; nil if the object has no row, or values that are not in it.
  @usableFromInline
  final func _rowWhenRead() -> _RowFields? {
    willRead()
    guard pending?.hidesRow != true, entity.factory.exposesRows else { return nil }
    return _row ?? storedRow?.view.base
  }

  @usableFromInline
  final func _value(at offset: Int) -> _Value { wholeValue(at: modelledSlot(offset)) }

  @usableFromInline
  final func _setAttribute(at offset: Int, _ value: _Value) {
    guard !_isPrototype else { return }
    let slot = modelledSlot(offset)
    let use = beginUse("setting", slot)
    defer { use?.leave() }
    willEdit()
    setWhole(slot, value)
  }

  /// The replacement for a stored value that the declared type cannot represent. Null reads as the declared default, as
  /// reading cannot fail. Any other value makes the object unreadable.
  @usableFromInline
  final func _replacement<Wrapped: AttributeValue>(at offset: Int, for stored: _Value) -> Wrapped {
    let slot = modelledSlot(offset)
    if !stored.isNull { noteUnfitting(stored, slot, Wrapped.self) }
    guard let declared = entity.compiled.declarations[slot],
      let replacement = Wrapped(declared.defaultValue)
    else { programError("\(entity.property(at: slot).displayName) has no default value") }
    return replacement
  }

  private final func noteUnfitting(_ stored: Value, _ slot: Int, _ type: any AttributeValue.Type) {
    let error = HeartwoodError(
      .persistentStoreOperation,
      "\(entity.property(at: slot).displayName) of \(objectID) is \(stored), which \(type) has no value for",
      objectIDs: [objectID], property: entity.property(at: slot).name)
    managedObjectContext?.noteUnreadable(error, self)
  }

  /// - Precondition: The property at this offset is in the model of the object's entity.
  final func modelledSlot(_ offset: Int) -> Int {
    let column = _columns[offset]
    require(!column.isNone, "\(type(of: self)) has a property that \(entity.displayName) does not have")
    return Int(column.slot)
  }

  final func willEdit() {
    guard let contextReference else { return noteLostEdit() }
    contextReference.with { $0.willEdit(self) }
  }

  @inline(never)
  private final func noteLostEdit() { pending?.header.united?.noteLostEdit() }

  /// The destinations of a relationship, in its declared type. Inlinable, as a set of a class is made in half the time where the class is known.
  @inlinable public final func _related<Wrapped: RelationshipValue>(_ place: _WrapperPlace) -> Wrapped {
    guard let slot = _slotForReading(place) else { return _recorded(place) }
    return Wrapped._read(self, slot)
  }

  /// The slot of a relationship that is about to be read; nil in a prototype.
  @usableFromInline final func _slotForReading(_ place: _WrapperPlace) -> Int? {
    guard !_isPrototype else { return nil }
    let slot = modelledSlot(place.offset(in: self))
    noteAccess(slot)
    return slot
  }

  /// The sentinel of a prototype's relationship.
  @usableFromInline final func _recorded<Wrapped: RelationshipValue>(_ place: _WrapperPlace) -> Wrapped {
    recordedRelationship(place.offset(in: self))
  }

  /// Sets the destinations of a relationship.
  public final func _setRelated<Wrapped: RelationshipValue>(_ place: _WrapperPlace, _ value: Wrapped) {
    guard !_isPrototype else { return }
    let offset = place.offset(in: self)
    value._write(to: self, modelledSlot(offset))
  }

  /// The destinations of a relationship, created on access.
  public final func _relatedObjects<Destination: ManagedObject>(
    _ place: _WrapperPlace
  ) -> RelatedObjects<Destination> {
    let offset = place.offset(in: self)
    if _isPrototype { return recordedRelationship(offset) }
    return RelatedObjects(owner: self, slot: modelledSlot(offset))
  }

  final func destination(at slot: Int) -> ManagedObject? {
    guard let context = managedObjectContext else { return detachedDestinations(at: slot).first }
    return context.toOne(self, slot)
  }

  @usableFromInline
  final func destinations(at slot: Int) -> [ManagedObject] {
    managedObjectContext?.related(self, slot) ?? detachedDestinations(at: slot)
  }

  final func destinationCount(at slot: Int) -> Int {
    managedObjectContext?.relatedCount(self, slot) ?? detachedList(slot)?.count ?? 0
  }

  /// The value that a to-many property was last read or written as in this event, if it is still the current one.
  @usableFromInline
  final func lastReadDestinations(at slot: Int) -> Any? {
    relationshipState(at: slot).flatMap { managedObjectContext?.lastReads.destinations(of: $0) }
  }

  /// The same, also where objects have come and gone one by one since, for each of which `change` changes the collection; it returns whether
  /// it could.
  @usableFromInline
  final func lastReadDestinations<Collection>(
    at slot: Int, as _: Collection.Type,
    _ change: (inout Collection, ManagedObject, _ isAdded: Bool) -> Bool
  ) -> Collection? {
    guard let context = managedObjectContext, let state = relationshipState(at: slot) else { return nil }
    let last = context.lastReads.destinations(of: state) { last, steps in
      if last is ReadOnce { return true }
      guard type(of: last) == Collection.self, var collection = last as? Collection else { return false }
      last = ()
      for step in steps {
        let object = context.relatedObject(self, slot, step.key)
        guard change(&collection, object, step.isAdded) else { return false }
      }
      last = collection
      return true
    }
    return last.flatMap { type(of: $0) == Collection.self ? $0 as? Collection : nil }
  }

  @usableFromInline
  final func noteReadDestinations(_ destinations: Any, at slot: Int) {
    guard let state = relationshipState(at: slot) else { return }
    managedObjectContext?.lastReads.note(destinations, of: state)
  }

  final func changeDestinations(
    at slot: Int, removing removed: [ManagedObject], adding added: [ManagedObject]
  ) {
    // Who knows the former ones has read them from a context.
    guard let context = managedObjectContext else { return willEdit() }
    context.willEdit(self)
    context.state(self, slot).noteSetting()
    for destination in removed { context.removeRelated(self, slot, destination) }
    for destination in added { context.insertRelated(self, slot, destination, at: nil) }
  }

  final func setDestination(_ destination: ManagedObject?, at slot: Int) {
    if let context = managedObjectContext { return context.setToOne(self, slot, destination) }
    relate(slot, [destination].compactMap(\.self)) {
      $0.setToOne(self, slot, destination)
    } detached: {
      setDetached($0, at: slot)
    }
  }

  final func setDestinations(_ destinations: [ManagedObject], at slot: Int) {
    if let context = managedObjectContext { return context.setRelated(self, slot, destinations) }
    relate(slot, destinations) {
      $0.setRelated(self, slot, destinations)
    } detached: {
      setDetached($0, at: slot)
    }
  }

  final func insertDestination(_ destination: ManagedObject, at slot: Int, index: Int? = nil) {
    if let context = managedObjectContext {
      return context.insertRelated(self, slot, destination, at: index)
    }
    relate(slot, [destination]) {
      $0.insertRelated(self, slot, destination, at: index)
    } detached: {
      $0.forEach { insertDetached($0, at: slot, index: index) }
    }
  }

  final func removeDestination(_ destination: ManagedObject, at slot: Int) {
    if let context = managedObjectContext { return context.removeRelated(self, slot, destination) }
    relate(slot, []) {
      $0.removeRelated(self, slot, destination)
    } detached: { _ in
      removeDetached(destination.standing, at: slot)
    }
  }

  /// Changes a relationship of an object without a context. A new one is inserted into the context of a destination, if one has any.
  ///
  /// Does nothing for an object that only stands for another, but note the change as a lost one.
  @inline(never)
  private final func relate(
    _ slot: Int, _ destinations: [ManagedObject], _ change: (ManagedObjectContext) -> Void,
    detached: ([ManagedObject]) -> Void
  ) {
    guard standing === self else { return willEdit() }
    let destinations = destinations.map(\.standing)
    require(
      isUnattached,
      "\(entity.property(at: slot).displayName) cannot be set on a deleted object without a context: insert it first"
    )
    guard let context = destinations.lazy.compactMap(\.managedObjectContext).first else {
      return detached(destinations)
    }
    context.insert(self)
    change(context)
  }
}

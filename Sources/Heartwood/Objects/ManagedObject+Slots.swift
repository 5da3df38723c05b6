import HeartwoodBytes

/// Properties by their place in the model, for classes that do not declare them by wrappers.
extension ManagedObject {
  /// Whether the object was made for inspection, and has no values.
  public final var _isInspected: Bool { _isPrototype }

  /// The value of an attribute in a type; nil if the stored value is none of the type.
  ///
  /// - Precondition: The entity has an attribute of this name.
  public final func _typedValue<Wrapped: AttributeValue>(_ key: String, as type: Wrapped.Type) -> Wrapped? {
    let slot = knownSlot(key)
    // As for wrappers: a row is exposed only where no use is checked or observed.
    if let row = _row, let value = Wrapped._read(row, entity.layout.columns[slot]) { return value }
    let use = beginUse("reading", slot)
    defer { use?.leave() }
    noteAccess(slot)
    return Wrapped(wholeValue(at: slot))
  }

  /// Sets an attribute to a value of a type.
  ///
  /// - Returns: Whether the entity has an attribute of this name, and the value is one of it.
  public final func _setTypedValue<Wrapped: AttributeValue>(_ value: Wrapped, _ key: String) -> Bool {
    guard let slot = entity.slot(named: key), let attribute = entity.attribute(at: slot),
      let stored = value._value.fitted(to: attribute.type)
    else { return false }
    let use = beginUse("setting", slot)
    defer { use?.leave() }
    willEdit()
    setWhole(slot, stored)
    return true
  }

  /// The destination of a to-one relationship.
  ///
  /// - Precondition: The entity has such a relationship.
  public final func _destination(_ key: String) -> ManagedObject? {
    let slot = knownSlot(key)
    let use = beginUse("reading", slot)
    defer { use?.leave() }
    noteAccess(slot)
    return destination(at: slot)
  }

  /// The destinations of a to-many relationship.
  ///
  /// - Precondition: The entity has such a relationship.
  public final func _destinations(_ key: String) -> [ManagedObject] {
    let slot = knownSlot(key)
    let use = beginUse("reading", slot)
    defer { use?.leave() }
    noteAccess(slot)
    return destinations(at: slot)
  }

  /// As `value(forKey:)` of this class, also in an object whose class overrides it.
  package final func _plainValue(forKey key: String) -> Any? { namedValue(key) }

  /// As `setValue(_:forKey:)` of this class, also in an object whose class overrides it.
  package final func _setPlainValue(_ value: Any?, forKey key: String) { setNamedValue(value, key) }

  /// As `mutableSetValue(forKey:)`, with or without an order, under a name that the module `CoreData` does not have.
  package final func relatedObjects(forKey key: String) -> RelatedObjects<ManagedObject> {
    RelatedObjects(owner: self, slot: knownSlot(key))
  }

  /// A new object of a class for inspection, without values.
  package static func makeInspected(_ type: ManagedObject.Type) -> ManagedObject {
    ObjectMaking.make(type, PropertyRecorder.entity)
  }

  /// A new object of an entity, in the entity's class.
  package static func make(_ entity: EntityDescription, insertInto context: ManagedObjectContext?)
    -> ManagedObject
  {
    ObjectMaking.make(entity.compiled.objectClass, entity, insertInto: context)
  }
}

extension EntityDescription {
  /// The place of a property among those of the entity; nil if there is none of this name.
  package func slotIndex(named name: String) -> Int? { slot(named: name) }

  package func isRelationship(at slot: Int) -> Bool { compiled.relationshipBySlot[slot] != nil }

  package func isOrderedRelationship(at slot: Int) -> Bool {
    compiled.relationshipBySlot[slot]?.isOrdered == true
  }

  /// Whether the entity's model is in use.
  package var isInUse: Bool { knownFactory != nil }
}

import HeartwoodBytes

/// Properties by their place in the model, for classes that do not declare them by wrappers.
extension ManagedObject {
  /// Whether the object was made for inspection, and has no values.
  public final var _isInspected: Bool { _isPrototype }

  /// The value of an attribute in a type; nil if the stored value is none of the type.
  ///
  /// - Precondition: The entity has an attribute of this name.
  @inlinable
  public final func _typedValue<Wrapped: AttributeValue>(_ key: String, as type: Wrapped.Type) -> Wrapped? {
    // As for wrappers: a row is exposed only where no use is checked or observed.
    if let row = _row, let column = _exposedColumn(key, Wrapped.attributeType),
      let value = Wrapped._read(row, column)
    {
      return value
    }
    return Wrapped(_storedValue(key))
  }

  /// The column of an attribute that has exactly this type.
  @usableFromInline
  final func _exposedColumn(_ key: String, _ type: AttributeDescription.AttributeType) -> _Column? {
    let contents = entity.compiled
    guard let slot = contents.slotsByName[key], contents.attributes[slot]?.type == type else { return nil }
    return contents.layout.columns[slot]
  }

  @usableFromInline
  final func _storedValue(_ key: String) -> _Value {
    let slot = knownSlot(key)
    let use = beginUse("reading", slot)
    defer { use?.leave() }
    noteAccess(slot)
    return wholeValue(at: slot)
  }

  /// Sets an attribute to a value of a type.
  ///
  /// - Returns: Whether the entity has an attribute of this name, and the value is one of it.
  @inlinable
  public final func _setTypedValue<Wrapped: AttributeValue>(_ value: Wrapped, _ key: String) -> Bool {
    _setStoredValue(value._value, key)
  }

  @usableFromInline
  final func _setStoredValue(_ value: _Value, _ key: String) -> Bool {
    guard let slot = entity.slot(named: key), let attribute = entity.attribute(at: slot),
      let stored = value.fitted(to: attribute.type)
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

  /// The type of an attribute; nil for a relationship.
  package func attributeType(at slot: Int) -> AttributeDescription.AttributeType? {
    attribute(at: slot)?.type
  }

  package func isRelationship(at slot: Int) -> Bool { compiled.relationshipBySlot[slot] != nil }

  package func isOrderedRelationship(at slot: Int) -> Bool {
    compiled.relationshipBySlot[slot]?.isOrdered == true
  }

  /// Whether the entity's model is in use.
  package var isInUse: Bool { knownFactory != nil }
}

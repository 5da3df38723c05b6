import HeartwoodBytes

/// Properties by their place in the model, for classes that do not declare them by wrappers.
extension ManagedObject {
  /// Whether the object was made for inspection, and has no values.
  public final var _isInspected: Bool { _isPrototype }

  /// The value of an attribute that can be read from the row without a check; nil otherwise.
  ///
  /// - Parameter name: The hash of the attribute's name.
  @inlinable @inline(__always)
  public final func _exposedValue<Wrapped: AttributeValue>(_ name: UInt64) -> Wrapped? {
    // As for wrappers: debug builds always check uses, so they omit this fast path.
    #if !DEBUG
      if let row = _row, let found = _columns.column(named: name),
        found.type == _PropertyHash.number(Wrapped.attributeType)
      {
        return Wrapped._read(row, found.column)
      }
    #endif
    return nil
  }

  /// The type of an attribute whose value can be read from the row without a check; nil otherwise.
  ///
  /// - Parameter name: The hash of the attribute's name.
  package final func _exposedType(_ name: UInt64) -> AttributeDescription.AttributeType? {
    #if !DEBUG
      if _row != nil, let found = _columns.column(named: name) {
        return AttributeDescription.AttributeType(rawValue: Int(truncatingIfNeeded: found.type))
      }
    #endif
    return nil
  }

  /// The value of an attribute in a type; nil if the entity has no such attribute, or its value is none of the type.
  ///
  /// - Parameters:
  ///   - key: The name of the attribute.
  ///   - name: Its hash.
  @inlinable
  public final func _typedValue<Wrapped: AttributeValue>(_ key: String, _ name: UInt64) -> Wrapped? {
    // As for wrappers: most reads without an exposed row are the first of an object, whose row is there once its fault has fired.
    if let found = _columns.column(named: name), found.type == _PropertyHash.number(Wrapped.attributeType),
      let row = _rowForReading(found.column), let value = Wrapped._read(row, found.column)
    {
      return value
    }
    return _storedValue(key, name).flatMap { Wrapped($0) }
  }

  @usableFromInline
  final func _rowForReading(_ column: _Column) -> _RowFields? {
    let slot = Int(column.slot)
    let use = beginUse("reading", slot)
    defer { use?.leave() }
    noteAccess(slot)
    return _rowWhenRead()
  }

  /// The place of a property, found by the hash of its name, otherwise by the name.
  final func slot(named key: String, _ name: UInt64) -> Int? {
    guard let found = _columns.column(named: name) else { return entity.slot(named: key) }
    return Int(found.column.slot)
  }

  @usableFromInline
  final func _storedValue(_ key: String, _ name: UInt64) -> _Value? {
    guard let slot = slot(named: key, name), entity.attribute(at: slot) != nil else { return nil }
    let use = beginUse("reading", slot)
    defer { use?.leave() }
    noteAccess(slot)
    return wholeValue(at: slot)
  }

  /// Sets an attribute to a value of a type.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The name of the attribute.
  ///   - name: Its hash.
  /// - Returns: Whether the entity has an attribute of this name, and the value is one of it.
  @inlinable
  public final func _setTypedValue<Wrapped: AttributeValue>(
    _ value: Wrapped, _ key: String, _ name: UInt64
  ) -> Bool {
    if let found = _columns.column(named: name), found.type == _PropertyHash.number(Wrapped.attributeType) {
      _setStored(value._value, at: found.column)
      return true
    }
    return _setStoredValue(value._value, key, name)
  }

  /// - Precondition: The value is one of the attribute.
  @usableFromInline
  final func _setStored(_ value: _Value, at column: _Column) {
    let slot = Int(column.slot)
    let use = beginUse("setting", slot)
    defer { use?.leave() }
    willEdit()
    setEdit(slot, value)
  }

  @usableFromInline
  final func _setStoredValue(_ value: _Value, _ key: String, _ name: UInt64) -> Bool {
    guard let slot = slot(named: key, name), let attribute = entity.attribute(at: slot),
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

  /// The destination of a to-one relationship; nil if the entity has none of this name.
  ///
  /// - Parameter name: The hash of the relationship's name.
  package final func _toOneDestination(_ name: UInt64) -> ManagedObject?? {
    guard let found = _columns.column(named: name), found.type == _NamedColumn.toOne else { return nil }
    let slot = Int(found.column.slot)
    let use = beginUse("reading", slot)
    defer { use?.leave() }
    noteAccess(slot)
    return .some(destination(at: slot))
  }

  /// The place of a property, found by the hash of its name, otherwise by the name.
  package final func slotIndex(named key: String, _ name: UInt64) -> Int? { slot(named: key, name) }

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

  /// A new object of an entity, in the entity's class if it is a subclass of `type`, and in `type` otherwise.
  package static func make(
    _ entity: EntityDescription, insertInto context: ManagedObjectContext?, as type: ManagedObject.Type
  ) -> ManagedObject {
    let own = entity.factory.objectClass
    var ancestor: AnyClass? = own
    while let next = ancestor, next != type { ancestor = _getSuperclass(next) }
    return ObjectMaking.make(ancestor == nil ? type : own, entity, insertInto: context)
  }

  /// A new object of an entity, in the entity's class.
  package static func make(_ entity: EntityDescription, insertInto context: ManagedObjectContext?)
    -> ManagedObject
  {
    ObjectMaking.make(entity.factory.objectClass, entity, insertInto: context)
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
}

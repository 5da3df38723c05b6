import HeartwoodBytes

/// Values by key path.
extension ObjectSnapshot {
  /// An attribute. A stored value that the declared type does not have reads as the declared default.
  ///
  /// - Precondition: The object has the class, and the key path leads to an attribute of it.
  public subscript<Object: ManagedObject, Wrapped: AttributeValue>(
    keyPath: KeyPath<Object, Wrapped>
  ) -> Wrapped {
    get {
      let slot = slot(of: keyPath)
      guard let value = Wrapped(values[slot]) ?? Wrapped(entity.defaultValue(at: slot)) else {
        programError("\(entity.property(at: slot).displayName) is \(values[slot]), not \(Wrapped.self)")
      }
      return value
    }
    set { values(set: newValue._value, at: slot(of: keyPath)) }
  }

  /// The identifier of a to-one destination.
  ///
  /// - Precondition: The object has the class, and the key path leads to a relationship of it.
  public subscript<Object: ManagedObject, Destination: ManagedObject>(
    keyPath: KeyPath<Object, Destination?>
  ) -> ManagedObjectID? {
    get { identifier(at: slot(of: keyPath)) }
    set { values(set: newValue.map(Value.object) ?? .null, at: slot(of: keyPath)) }
  }

  /// The identifiers of to-many destinations; nil if they are not included.
  ///
  /// - Precondition: The object has the class, and the key path leads to a relationship of it. Nil is not assigned.
  public subscript<Object: ManagedObject, Many: RelationshipValue>(
    keyPath: KeyPath<Object, Many>
  ) -> [ManagedObjectID]? where Many: Sequence {
    get { destinations[slot(of: keyPath)] }
    set {
      let slot = slot(of: keyPath)
      guard let newValue else {
        programError("\(entity.property(at: slot).displayName) of a snapshot can be empty, but not nil")
      }
      set(newValue, at: slot)
    }
  }

  private mutating func values(set value: Value, at slot: Int) { set(value, at: slot) }

  private func slot(of keyPath: AnyKeyPath) -> Int {
    do {
      let names = try entity.propertyNames(of: keyPath)
      guard names.count == 1, let slot = entity.slot(named: names[0]) else {
        programError("\(names.joined(separator: ".")) is no property of \(entityName) itself")
      }
      return slot
    } catch {
      programError(error.message)
    }
  }
}

/// Values by name.
extension ObjectSnapshot {
  /// The value of a property, in the types of `ManagedObject.value(forKey:)`, with identifiers for objects: one for a to-one
  /// relationship, an array for a to-many one. Nil if a to-many relationship is not included.
  ///
  /// - Precondition: The entity has such a property.
  public func value(forKey key: String) -> Any? {
    let slot = knownSlot(key)
    guard let relationship = entity.compiled.relationshipBySlot[slot] else {
      return entity.anyValue(values[slot], at: slot)
    }
    return relationship.isToMany ? destinations[slot] : identifier(at: slot)
  }

  /// The value of a property, as `value(forKey:)`.
  ///
  /// - Precondition: The entity has such a property.
  public subscript(key: String) -> Any? { value(forKey: key) }

  /// The identifiers of a relationship's destinations; nil for a to-many one that is not included.
  ///
  /// - Precondition: The entity has such a relationship.
  public func objectIDs(forRelationshipNamed key: String) -> [ManagedObjectID]? {
    let relationship = entity.relationship(at: knownSlot(key))
    if relationship.isToMany { return destinations[relationship.slot] }
    return identifier(at: relationship.slot).map { [$0] } ?? []
  }

  /// Sets a property to a value of the types of `value(forKey:)`.
  ///
  /// - Parameters:
  ///   - value: The value; nil for none.
  ///   - key: The property's name.
  /// - Throws: `.managedObjectValidation` if there is no such property or the value does not fit; nothing is changed then.
  public mutating func setValue(_ value: Any?, forKey key: String) throws(HeartwoodError) {
    guard let slot = entity.slot(named: key) else { throw .unknownProperty(key, entity) }
    guard let relationship = entity.compiled.relationshipBySlot[slot] else {
      return set(try entity.storedValue(value, at: slot), at: slot)
    }
    switch value {
    case let identifiers as [ManagedObjectID] where relationship.isToMany: set(identifiers, at: slot)
    case let identifier as ManagedObjectID where !relationship.isToMany: set(.object(identifier), at: slot)
    case nil where !relationship.isToMany: set(.null, at: slot)
    default:
      throw HeartwoodError(
        .managedObjectValidation,
        "\(relationship.displayName) of a snapshot cannot be set: "
          + (relationship.isToMany ? "an array of identifiers is needed" : "an identifier or nil is needed"),
        property: key)
    }
  }

  private func identifier(at slot: Int) -> ManagedObjectID? {
    guard case .object(let id) = values[slot] else { return nil }
    return id
  }

  private func knownSlot(_ key: String) -> Int {
    guard let slot = entity.slot(named: key) else {
      programError(HeartwoodError.unknownProperty(key, entity).message)
    }
    return slot
  }
}

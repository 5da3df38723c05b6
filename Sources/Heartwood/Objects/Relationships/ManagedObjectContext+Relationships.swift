import HeartwoodBytes

/// Reading and changing relationships. Both sides of an inverse pair change at once.
extension ManagedObjectContext {
  // MARK: To-one

  /// The destination of a to-one relationship: the registered object or a fault.
  func toOne(_ object: ManagedObject, _ slot: Int) -> ManagedObject? {
    beginUse("reading", object, slot)
    defer { endUse() }
    guard case .object(let id) = object.value(at: slot) else { return nil }
    return self.object(object.entity.relationship(at: slot).destinationEntity, id.key)
  }

  /// Sets a to-one relationship and updates its inverse.
  func setToOne(_ object: ManagedObject, _ slot: Int, _ destination: ManagedObject?) {
    beginUse("setting", object, slot)
    defer { endUse() }
    let relationship = object.entity.relationship(at: slot)
    let destination = destination?.standing
    destination.map { admit($0, to: relationship) }
    let previous = toOne(object, slot)
    willEdit(object)
    object.setEdit(slot, destination.map { .object($0.identifier) } ?? .null)
    guard previous !== destination, relationship.inverseRelationship != nil else { return }
    if let previous { dropInverse(of: relationship, at: previous, of: object) }
    if let destination { addInverse(of: relationship, at: destination, of: object) }
  }

  // MARK: To-many

  /// The destinations' keys, in order if the relationship is ordered.
  func relatedKeys(_ object: ManagedObject, _ slot: Int) -> [UInt64] {
    beginUse("reading", object, slot)
    defer { endUse() }
    return loadedState(object, slot).keys()
  }

  /// The key at an index of an ordered relationship; nil outside of it.
  func relatedKey(_ object: ManagedObject, _ slot: Int, at index: Int) -> UInt64? {
    beginUse("reading", object, slot)
    defer { endUse() }
    let state = loadedState(object, slot)
    return index >= 0 && index < state.count ? state.key(at: index) : nil
  }

  /// The index of a destination in an ordered relationship; nil if it is none.
  func relatedIndex(_ object: ManagedObject, _ slot: Int, _ destination: ManagedObject) -> Int? {
    beginUse("reading", object, slot)
    defer { endUse() }
    let state = loadedState(object, slot)
    return state.contains(destination.identifier.key) ? state.index(of: destination.identifier.key) : nil
  }

  /// The destination with this key: the registered object or a fault.
  func relatedObject(_ object: ManagedObject, _ slot: Int, _ key: UInt64) -> ManagedObject {
    beginUse("reading", object, slot)
    defer { endUse() }
    return self.object(object.entity.relationship(at: slot).destinationEntity, key)
  }

  /// All destinations: registered objects or faults.
  func related(_ object: ManagedObject, _ slot: Int) -> [ManagedObject] {
    beginUse("reading", object, slot)
    defer { endUse() }
    let destination: EntityDescription = object.entity.relationship(at: slot).destinationEntity
    return relatedKeys(object, slot).map { self.object(destination, $0) }
  }

  /// Whether `destination` is a destination. Loads no other key.
  func containsRelated(_ object: ManagedObject, _ slot: Int, _ destination: ManagedObject) -> Bool {
    beginUse("reading", object, slot)
    defer { endUse() }
    return contains(destination.standing.identifier.key, state(object, slot), object, slot)
  }

  /// The number of destinations. Loads no key, unless there are unsaved changes of a relationship that is not loaded.
  func relatedCount(_ object: ManagedObject, _ slot: Int) -> Int {
    beginUse("reading", object, slot)
    defer { endUse() }
    let state = state(object, slot)
    guard !state.isLoaded, state.added.isEmpty, state.removed.isEmpty else {
      return loadedState(object, slot).count
    }
    return read(object, or: 0) { view in
      try view.destinationCount(object.entity.relationship(at: slot), of: object.identifier.key)
    }
  }

  /// Whether there is a destination. Loads no more than one key, as `relatedCount`.
  func hasRelated(_ object: ManagedObject, _ slot: Int) -> Bool {
    beginUse("reading", object, slot)
    defer { endUse() }
    let state = state(object, slot)
    guard !state.isLoaded, state.removed.isEmpty else { return loadedState(object, slot).count > 0 }
    guard state.added.isEmpty else { return true }
    return read(object, or: false) { view in
      var isFound = false
      try view.destinations(object.entity.relationship(at: slot), of: object.identifier.key) { _ in
        isFound = true
        return false
      }
      return isFound
    }
  }

  private func contains(
    _ key: UInt64, _ state: RelationshipState, _ object: ManagedObject, _ slot: Int
  ) -> Bool {
    if state.isLoaded || state.isOrdered { return loadedState(object, slot).contains(key) }
    if state.added.contains(key) { return true }
    guard key.isPermanentKey, !state.removed.contains(key) else { return false }
    return read(object, or: false) { view in
      try view.hasDestination(object.entity.relationship(at: slot), key, of: object.identifier.key)
    }
  }

  /// Reads the store; if that fails, the object is unreadable, and the result the replacement.
  private func read<Result>(
    _ object: ManagedObject, or replacement: Result, _ body: (any StoreView) throws -> Result
  ) -> Result {
    do {
      return try body(readingView())
    } catch {
      noteUnreadable(error, object)
      return replacement
    }
  }

  /// Replaces all destinations by `destinations`, writing only the differences.
  func setRelated(_ object: ManagedObject, _ slot: Int, _ destinations: [ManagedObject]) {
    beginUse("setting", object, slot)
    defer { endUse() }
    let state = loadedState(object, slot)
    let wanted = destinations.map(\.standing).uniqued()
    let wantedKeys = Set(wanted.map(\.identifier.key))
    willEdit(object)
    state.noteSetting()
    for key in state.keys() where !wantedKeys.contains(key) {
      removeRelated(object, slot, relatedObject(object, slot, key))
    }
    for destination in wanted where !state.contains(destination.identifier.key) {
      insertRelated(object, slot, destination, at: nil)
    }
    if state.isOrdered {
      let order = wanted.map(\.identifier.key)
      if order != state.keys() { state.setOrder(order) }
    }
  }

  /// Adds `destination`; in an ordered relationship at `index`, or at the end if it is nil.
  func insertRelated(_ object: ManagedObject, _ slot: Int, _ destination: ManagedObject, at index: Int?) {
    beginUse("adding to", object, slot)
    defer { endUse() }
    let relationship = object.entity.relationship(at: slot)
    let destination = destination.standing
    admit(destination, to: relationship)
    let state = state(object, slot)
    let key = destination.identifier.key
    willEdit(object)
    state.noteSetting(object.state.contains(.inserted) ? key : nil)
    if !contains(key, state, object, slot) {
      add(key, to: state, object, slot)
      addInverse(of: relationship, at: destination, of: object)
    }
    if let index { place(key, at: index, in: loadedState(object, slot), relationship) }
  }

  /// Removes `destination`; does nothing but mark `object` as changed if it is not a destination.
  func removeRelated(_ object: ManagedObject, _ slot: Int, _ destination: ManagedObject) {
    beginUse("removing from", object, slot)
    defer { endUse() }
    let destination = destination.standing
    let state = state(object, slot)
    willEdit(object)
    state.noteSetting()
    guard contains(destination.identifier.key, state, object, slot) else { return }
    state.remove(destination.identifier.key)
    dropInverse(of: object.entity.relationship(at: slot), at: destination, of: object)
  }

  /// The object's state of the relationship, with the keys in the store loaded.
  func loadedState(_ object: ManagedObject, _ slot: Int) -> RelationshipState {
    let state = state(object, slot)
    if !state.isLoaded { load(state, object, slot) }
    return state
  }

  private func place(
    _ key: UInt64, at index: Int, in state: RelationshipState, _ relationship: RelationshipDescription
  ) {
    require(
      relationship.isOrdered, "\(relationship.displayName) has no order: insert without an index")
    require(index >= 0 && index < state.count, "index \(index) is outside of \(relationship.displayName)")
    state.move(key, to: index)
  }

  /// The object's state of the relationship, loaded or not.
  func state(_ object: ManagedObject, _ slot: Int) -> RelationshipState {
    if let state = object.relationshipState(at: slot) { return state }
    let state = RelationshipState(of: object, object.entity.relationship(at: slot))
    object.setRelationshipState(state, at: slot)
    if object.state.contains(.inserted), !state.isTransient { state.load([]) }
    return state
  }

  /// Adds a key that is not among the current ones. An ordered relationship that it was removed from is loaded: the key is at the end then.
  func add(_ key: UInt64, to state: RelationshipState, _ object: ManagedObject, _ slot: Int) {
    if state.isOrdered, !state.isLoaded, state.removed.contains(key) { load(state, object, slot) }
    state.add(key)
  }

  private func load(_ state: RelationshipState, _ object: ManagedObject, _ slot: Int) {
    if loadBatch(prefetching: slot, of: object), state.isLoaded { return }
    let relationship = object.entity.relationship(at: slot)
    do {
      let view = try readingView()
      let observation = observation
      state.load(try view.destinationKeys(relationship, of: object.identifier.key))
      observation?.tell {
        .faulted(
          FiredFault(
            entityName: object.entity.displayName, relationshipName: relationship.name, duration: $0))
      }
    } catch {
      noteUnreadable(error, object)
      state.loadNothing()
    }
  }

  /// Drops the loaded keys; if an order was set, loads the newest keys and merges the order with them.
  func reloadRelationships(of object: ManagedObject) {
    for relationship in object.entity.relationshipsBySlot where relationship.isToMany {
      guard let state = object.relationshipState(at: relationship.slot) else { continue }
      reload(state, object, relationship.slot)
    }
  }

  func reload(_ state: RelationshipState, _ object: ManagedObject, _ slot: Int) {
    guard !state.isTransient else { return }
    state.unload()
    if state.order != nil { load(state, object, slot) }
  }

  // MARK: Inverses

  /// Records at `other` that `object` now references it. If the inverse is to-one, the previous partner of `other` loses
  /// it.
  func addInverse(
    of relationship: RelationshipDescription, at other: ManagedObject, of object: ManagedObject
  ) {
    guard let inverse = relationship.inverseRelationship else { return }
    let slot = inverse.slot
    if inverse.isToMany {
      let state = state(other, slot)
      guard !(other === object && inverse === relationship && state.contains(object.identifier.key)) else {
        return
      }
      if !relationship.isToMany, !relationship.isTransient, state.isKnownOfStore(object.identifier.key),
        object.committedValue(at: relationship.slot) != .object(other.identifier)
      {
        return RelationshipRestoring(self).addAgain(object, to: other, slot)
      }
      willEdit(other)
      add(object.identifier.key, to: state, other, slot)
      return
    }
    let former = toOne(other, slot)
    guard former !== object else { return }
    willEdit(other)
    other.setEdit(slot, .object(object.identifier))
    if let former { forget(other, in: relationship, of: former) }
  }

  /// Records at `other` that `object` no longer references it.
  func dropInverse(
    of relationship: RelationshipDescription, at other: ManagedObject, of object: ManagedObject
  ) {
    guard let inverse = relationship.inverseRelationship else { return }
    forget(object, in: inverse, of: other)
  }

  /// Removes `target` from one side of a relationship only.
  func forget(
    _ target: ManagedObject, in relationship: RelationshipDescription, of object: ManagedObject
  ) {
    guard !object.state.contains(.deleted) else { return }
    if relationship.isToMany {
      let state = state(object, relationship.slot)
      let key = target.identifier.key
      // Loaded before others added the object: it is to be taken out of what they have left.
      if state.isLoaded, !state.contains(key), let inverse = relationship.inverseRelationship,
        !inverse.isToMany, !state.removed.contains(key),
        target.committedValue(at: inverse.slot) == .object(object.identifier)
      {
        reload(state, object, relationship.slot)
      }
      // A loaded state is checked, so that an absent key makes no difference. An unloaded one is assumed to agree
      // with the side that was just changed.
      guard !state.isLoaded || state.contains(key) else { return }
      willEdit(object)
      state.remove(key)
    } else if toOne(object, relationship.slot) === target {
      willEdit(object)
      object.setEdit(relationship.slot, .null)
    }
  }

  /// Checks that a destination fits. A new one without a context is inserted into this one.
  private func admit(_ destination: ManagedObject, to relationship: RelationshipDescription) {
    if destination.managedObjectContext !== self {
      require(
        destination.isUnattached,
        "\(relationship.displayName): the destination belongs to another context; "
          + "pass its objectID and ask for the object in this context")
      insert(destination)
    }
    relationship.requireFitting(destination)
  }
}

extension RelationshipDescription {
  func requireFitting(_ destination: ManagedObject) {
    require(
      destination.entity.isKindOf(entity: destinationEntity),
      "\(displayName) holds \(destinationEntity.displayName), not \(destination.entity.displayName)")
  }
}

extension Array where Element == ManagedObject {
  /// The objects without duplicates, in the order of their first occurrence.
  fileprivate func uniqued() -> [ManagedObject] {
    var seen: Set<ObjectIdentifier> = []
    return filter { seen.insert(ObjectIdentifier($0)).inserted }
  }
}

import HeartwoodBytes

/// Recording edits; the stores and permanent identifiers of new objects before a save; query generations.
extension ManagedObjectContext {
  /// Records that an object is about to change.
  func willEdit(_ object: ManagedObject) {
    guard !ignoresEdits else { return }
    note(object)
    editCount &+= 1
    object.editCount &+= 1
    guard object.state.isDisjoint(with: [.inserted, .updated, .deleted]) else { return }
    // Load the row before the first edit: conflicts are detected by its version.
    object.willRead()
    guard !object.state.contains(.deleted) else { return }
    object.state.insert(.updated)
    changes.updated.append(object)
  }

  /// Decides which store a new object is saved to.
  ///
  /// Without a decision it is the store of objects that the new one is related to, and otherwise the first one of the coordinator that may
  /// be written and has the entity.
  ///
  /// - Parameters:
  ///   - object: An object of this context that has never been saved. If it has a permanent identifier, it has its store already.
  ///   - store: A store of the context's coordinator. A save throws if it does not have the entity, or is read-only.
  /// - Precondition: The object belongs to this context, is not saved in another store, and the store is open in the context's
  ///   coordinator.
  public func assign(_ object: ManagedObject, to store: PersistentStore) {
    beginUse("assigning a store")
    defer { endUse() }
    require(
      object.managedObjectContext === self,
      "\(object.entity.displayName) cannot be assigned to a store by a context that it does not belong to")
    require(
      persistentStoreCoordinator?.persistentStores.contains { $0 === store } == true,
      "\(object.entity.displayName) was assigned to the store at \(store.url.path), which is not open in the context's coordinator"
    )
    let identity = store.objectStore.identity
    guard object.identifier.isTemporaryID else {
      return require(
        object.identifier.store == identity,
        "\(object.identifier) has its store, and cannot be assigned to the one at \(store.url.path): make a copy there, and delete the object"
      )
    }
    nextSave.assignedStores[object.identifier.key] = identity
    editCount &+= 1
    forgetShownChanges()
    // An object that a child has saved is new in its parent only, which has to hear of the store.
    if parent != nil { willEdit(object) }
  }

  /// Assigns permanent identifiers to new objects before they are saved; the objects stay inserted.
  ///
  /// Costs one transaction for each root entity, because an assigned identifier is never used for another row.
  ///
  /// - Throws: The store's error; then no object has a new identifier.
  public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
    beginUse("obtaining permanent identifiers")
    defer { endUse() }
    let waiting = objects.map(\.standing).filter {
      $0.managedObjectContext === self && $0.identifier.isTemporaryID
    }
    guard !waiting.isEmpty else { return }
    let own = waiting.filter { $0.state.contains(.inserted) }
    try assignPermanentIDs(to: own)
    guard let parent, own.count < waiting.count else { return }
    // Objects that a child has saved are to be saved by its parent, which must write them under the same
    // identifiers.
    let others = waiting.filter { !$0.state.contains(.inserted) }.map(\.identifier)
    try parent.waitForQueue {
      try parent.obtainPermanentIDs(
        for: others.compactMap { parent.registered($0.entity.rootEntity, $0.key) })
    }
    takeAssignedIdentifiers()
  }

  /// Gives objects identifiers that the store has reserved for them.
  private func assignPermanentIDs(to objects: [ManagedObject]) throws {
    guard !objects.isEmpty else { return }
    assign(try objectStore().reserveIdentifiers(for: objects, of: self), to: objects)
  }

  /// Gives objects identifiers of their store.
  func assign(_ identifiers: [ManagedObjectID], to objects: [ManagedObject]) {
    let formers = objects.map(\.identifier.key)
    for (identifier, object) in zip(identifiers, objects) {
      publish([Assignment(former: object.identifier.key, identifier: identifier)])
      rename(object, to: identifier)
    }
    // Relationship states may still contain the temporary keys: for a few objects, those of their destinations.
    if objects.count < 64, changes.deleted.isEmpty, !hasOneWayLists {
      for (former, object) in zip(formers, objects) { renameOtherSides(of: object, former) }
    } else {
      identities.forEach { $0.forEachRelationshipState { $0.rename(permanentKeys.permanent) } }
    }
    forgetShownChanges()
    trackers.apply(rewritten: objects)
  }

  /// Replaces the temporary key of a new object in the relationships of its destinations.
  private func renameOtherSides(of object: ManagedObject, _ former: UInt64) {
    for relationship in object.entity.relationshipsBySlot {
      guard let inverse = relationship.inverseRelationship, inverse.isToMany else { continue }
      var keys = object.relationshipState(at: relationship.slot)?.keys() ?? []
      if !relationship.isToMany {
        guard case .object(let id) = object.value(at: relationship.slot) else { continue }
        keys = [id.key]
      }
      for key in keys {
        let other = registered(relationship.destinationEntity.rootEntity, permanentKeys.permanent(key))
        other?.relationshipState(at: inverse.slot)?.rename(former, to: object.identifier.key)
      }
    }
  }

  /// The generation that the context reads: nil for the newest, otherwise the one that it is pinned to.
  public var queryGenerationToken: QueryGenerationToken? {
    guard parent == nil else { return nil }
    if let pinned = view.pinned {
      return QueryGenerationToken(pinned.generations)
    }
    return view.pinsAtNextRead ? .current : nil
  }

  /// Pins the context to a generation. The context then reads that state regardless of later saves by others.
  ///
  /// Realised objects keep their values; refresh them or fetch again.
  ///
  /// - Parameter token: `.current` pins at the next read; a token of another context of the same store pins to that
  ///   context's generation; nil makes the context follow the newest state again.
  /// - Throws: The store's error if that generation can no longer be read; `.persistentStoreOperation` for a child context, for a
  ///   token of another store, and where there are several, if the token is not of all of them, or has one that was removed.
  public func setQueryGenerationFrom(_ token: QueryGenerationToken?) throws {
    beginUse("pinning")
    defer { endUse() }
    guard parent == nil else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "a child context shows what its parent shows: set the query generation of the parent")
    }
    guard let token else {
      view.held = nil
      view.pinned = nil
      view.pinsAtNextRead = false
      return
    }
    try persistentStoreCoordinator?.objectStore?.require(.generations)
    guard token.generation != nil else {
      view.held = nil
      view.pinned = nil
      view.pinsAtNextRead = true
      return
    }
    let store = try objectStore()
    let generations = token.generations(store.identity)
    if !store.identity.isOfSeveral, generations.number(of: store.identity) == nil {
      throw HeartwoodError(
        .persistentStoreOperation,
        "\(token) is one of the store \(token.storeID ?? "?"), not of this context's; use a token of this context's store"
      )
    }
    view.pinned = try store.view(at: generations)
    view.held = nil
    view.pinsAtNextRead = false
  }
}

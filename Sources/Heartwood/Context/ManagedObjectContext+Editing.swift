/// Recording edits, permanent identifiers before a save, and query generations.
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
    // What a child has saved is to be saved by its parent, which must write it under the same identifier.
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
    for (identifier, object) in zip(identifiers, objects) {
      publish([Assignment(former: object.identifier.key, identifier: identifier)])
      rename(object, to: identifier)
    }
    finishAssigning(objects)
  }

  private func finishAssigning(_ objects: [ManagedObject]) {
    // Relationship states may still contain the temporary keys.
    identities.forEach { object in
      object.forEachRelationshipState { $0.rename(permanentKeys.permanent) }
    }
    forgetShownChanges()
    tellTrackers(rewritten: objects)
  }
}

extension ManagedObjectContext {
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

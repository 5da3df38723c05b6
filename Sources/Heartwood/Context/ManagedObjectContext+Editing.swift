/// What an object tells its context before it changes, and what identifiers it can have before a save.
extension ManagedObjectContext {
  /// Notes that an object is about to change.
  func willEdit(_ object: ManagedObject) {
    editCount &+= 1
    object.editCount &+= 1
    guard object.state.isDisjoint(with: [.inserted, .updated, .deleted]) else { return }
    // The row must be at hand before the first edit: its version is what a conflict is judged by.
    object.willRead()
    guard !object.state.contains(.deleted) else { return }
    object.state.insert(.updated)
    changes.updated.append(object)
  }

  /// Gives new objects their lasting identifiers before they are saved; they stay inserted.
  ///
  /// Costs a transaction of its own, as an identifier once given is never used for another row.
  ///
  /// - Throws: the store's error; then no object has a new identifier.
  public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
    beginUse("giving out identifiers")
    defer { endUse() }
    let waiting = objects.filter { $0.managedObjectContext === self && $0.identifier.isTemporaryID }
    guard !waiting.isEmpty else { return }
    let store = try objectStore()
    let groups = Dictionary(grouping: waiting, by: { $0.entity.rootEntity.number })
      .sorted { $0.key < $1.key }.map(\.value)
    var firsts: [UInt64] = []
    for group in groups { firsts.append(try store.reserveKeys(group[0].entity.rootEntity, group.count)) }
    for (group, first) in zip(groups, firsts) {
      for (key, object) in zip(first..., group) {
        rename(object, to: ManagedObjectID(entity: object.entity, key: key, store: store.identity))
      }
    }
    // Relationships have noted the old keys.
    identities.forEach { object in
      object.forEachRelationshipState { $0.rename(permanentKeys.permanent) }
    }
  }
}

extension ManagedObjectContext {
  /// Where the context reads: nil for the newest state, else the generation that it is pinned to.
  public var queryGenerationToken: QueryGenerationToken? {
    if let pinned = view.pinned { return QueryGenerationToken(generation: pinned.generation) }
    return view.pinsAtNextRead ? .current : nil
  }

  /// Pins the context to a generation, whose state it then keeps seeing whatever others save.
  ///
  /// Objects that are realised keep their values; refresh or fetch them again.
  ///
  /// - Parameter token: `.current` pins at the next read; a token of another context of the same store
  ///   pins to what that one sees; nil lets the context follow the newest state again.
  /// - Throws: the store's error when that generation can no longer be read.
  public func setQueryGenerationFrom(_ token: QueryGenerationToken?) throws {
    beginUse("pinning")
    defer { endUse() }
    view.held = nil
    guard let token else {
      view.pinned = nil
      view.pinsAtNextRead = false
      return
    }
    guard let generation = token.generation else {
      view.pinned = nil
      view.pinsAtNextRead = true
      return
    }
    view.pinned = try objectStore().view(at: generation)
    view.pinsAtNextRead = false
  }
}

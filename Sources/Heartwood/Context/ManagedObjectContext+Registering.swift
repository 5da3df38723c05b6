import Foundation

/// Registering objects with a context: by insertion, by fetch, by identifier, by relationship.
extension ManagedObjectContext {
  /// The registered object with this key, temporary or permanent.
  func registered(_ root: EntityDescription, _ key: UInt64) -> ManagedObject? {
    registered(root.number, key)
  }

  private func registered(_ rootNumber: UInt16, _ key: UInt64) -> ManagedObject? {
    if let object = identities.object(rootNumber, key) { return object }
    guard !key.isPermanentKey, let permanent = permanentKeys[key] else { return nil }
    return identities.object(rootNumber, permanent)
  }

  /// The registered object with this key, or a new fault.
  ///
  /// If the entity has subentities, reads the row, because only the row tells the object's entity. If that fails, the object is
  /// of `entity` and unreadable, and the next fetch of its row replaces it.
  func object(_ entity: EntityDescription, _ key: UInt64) -> ManagedObject {
    let factory = entity.factory
    if let object = registered(factory.rootNumber, key) { return object }
    guard factory.hasSubentities else {
      return makeFault(factory, permanentKeys.permanent(key), in: storeIdentity)
    }
    let store = storeIdentity
    let permanent = permanentKeys.permanent(key)
    guard store != .none else { return makeFault(factory, permanent, in: store) }
    do {
      // The view may have brought permanent keys.
      let view = try readingView()
      let key = permanentKeys.permanent(key)
      return try view.withRow(entity.rootEntity, key) { row in
        guard let row else { return makeFault(factory, key, in: store) }
        let concrete = try entity.rootEntity.entity(numbered: row.entityNumber)
        return materialise(concrete.factory, key, in: store, row: row.bytes)
      }
    } catch {
      let object = makeFault(factory, permanent, in: store)
      noteUnreadable(error, object)
      return object
    }
  }

  /// The registered object for a row that has just been read, or a new fault that carries the row's bytes.
  ///
  /// A realised or changed object keeps its values: a fetch never replaces them.
  ///
  /// - Parameters:
  ///   - factory: The factory of the row's own entity.
  ///   - store: The store identity for the row's identifier.
  ///   - row: The bytes of a checked row; views return only checked rows.
  @inline(__always)
  func materialise(
    _ factory: ObjectFactory, _ key: UInt64, in store: StoreIdentity, row: UnsafeRawBufferPointer
  ) -> ManagedObject {
    guard let (object, isHeldOnce) = identities.find(factory.rootNumber, key) else {
      let object = makeFault(factory, key, in: store)
      object.adopt(checkedRow: row)
      return object
    }
    if object.state.contains(.inserted) { return object }
    if !object.isRealised {
      return adopted(row, factory, by: object)
    } else if isHeldOnce, object.state.isDisjoint(with: ObjectState.kept), !retainsRegisteredObjects,
      !object.isObserved
    {
      // Only the map has the object: the program gets it as one that was just made.
      object.turnIntoFault()
      return adopted(row, factory, by: object)
    }
    return object
  }

  /// Registers a new object under a temporary identifier.
  func adoptInserted(_ object: ManagedObject) {
    object.becomeNew()
    adoptInserted(object, as: ManagedObjectID.makeTemporary(object.entity))
  }

  /// Registers an object as a new one: one that a child has made, or whose delete was saved and is taken back.
  func adoptInserted(_ object: ManagedObject, as identifier: ManagedObjectID) {
    note(object)
    object.attach(to: self, as: identifier, isNew: true)
    object.state = [.inserted, .noted]
    identities.insert(object, object.entity.rootEntity.number, identifier.key)
    changes.inserted.append(object)
    editCount &+= 1
  }

  /// Registers an object that a store has had, and whose values follow: those that do not are nil where they may be, and not the model's defaults.
  func adoptReturning(_ object: ManagedObject, as identifier: ManagedObjectID) {
    adoptInserted(object, as: identifier)
    willEdit(object)
    let entity = object.entity
    for slot in entity.slots
    where entity.isPortable(slot) && entity.property(at: slot).isOptional && !object.value(at: slot).isNull {
      object.setEdit(slot, .null)
    }
  }

  /// Removes an object from the context; it keeps its last values but has no context any more, and no destinations.
  func forget(_ object: ManagedObject) {
    TransientLinks(self).dropTransientLinks(of: object)
    object.changeValues(object.entity.relationshipsBySlot.map(\.slot)) {
      identities.remove(object.entity.rootEntity.number, object.identifier.key)
      usedObjects?.remove(object.identifier)
      object.detach()
    }
  }

  /// Replaces an object's temporary identifier. Values that still contain the old key resolve it with `permanentKeys`.
  func rename(_ object: ManagedObject, to identifier: ManagedObjectID) {
    let root = object.entity.rootEntity.number
    identities.remove(root, object.identifier.key)
    permanentKeys.insert(identifier.key, for: object.identifier.key)
    ObjectReference.rename(object.identifier.key, to: identifier)
    object.identifier = identifier
    if let former = identities.object(root, identifier.key) { leave(former) }
    identities.insert(object, root, identifier.key)
    usedObjects?.add(identifier)
  }

  /// Removes an object that was made for an identifier of which there was no row, and that a new object has now.
  private func leave(_ object: ManagedObject) {
    changes.gone.remove(object)
    changes.updated.remove(object)
    changes.deleted.remove(object)
    object.state = []
    forget(object)
  }

  /// Releases objects that only the context references and that have nothing to save.
  ///
  /// - Precondition: The context is not using any object.
  func sweepIfDue() {
    guard identities.isSweepDue else { return }
    sweep()
  }

  func sweep() {
    guard !retainsRegisteredObjects else { return }
    // A row that others have deleted needs no hiding once nothing else references its object.
    let gone = changes.gone.map { ($0.entity.rootEntity, $0.identifier.key) }
    changes.gone = ObjectList()
    identities.sweep(keeping: isKeptInSweeps)
    for (root, key) in gone { registered(root, key).map { changes.gone.append($0) } }
    fetchBatches.sweep { registered($0, $1) != nil }
    usedObjects?.keep { registered($0.entity.rootEntity, $0.key) != nil }
  }

  /// Whether a sweep keeps an object that nothing but the context references.
  func isKeptInSweeps(_ object: ManagedObject) -> Bool {
    let isKept = !object.state.isDisjoint(with: ObjectState.kept) && !object.state.contains(.inaccessible)
    return isKept || object.isObserved
  }

  /// The object of a row: the registered fault, unless it was made as one of another entity.
  private func adopted(_ row: UnsafeRawBufferPointer, _ factory: ObjectFactory, by object: ManagedObject)
    -> ManagedObject
  {
    if factory.makes(object) {
      object.adopt(checkedRow: row)
      return object
    }
    return replaceMisnamed(object, row, factory)
  }

  /// Replaces a fault whose entity is not that of its row: its identifier named another entity of the family, or the row could
  /// not be read when it was made.
  func replaceMisnamed(
    _ object: ManagedObject, _ row: UnsafeRawBufferPointer?, _ factory: ObjectFactory
  ) -> ManagedObject {
    let (key, store) = (object.identifier.key, object.identifier.store)
    guard object.state.isDisjoint(with: ObjectState.kept) else {
      let error = HeartwoodError.misnamed(object.identifier, factory.identifier(key, in: store).entity)
      noteUnreadable(error, object)
      return object
    }
    unreadable[object.identifier] = nil
    object.state = []
    forget(object)
    let made = makeFault(factory, key, in: store)
    if let row { made.adopt(checkedRow: row) }
    return made
  }

  func makeFault(_ factory: ObjectFactory, _ key: UInt64, in store: StoreIdentity) -> ManagedObject {
    let object = factory.makeObject()
    object.attach(to: self, as: factory.identifier(key, in: store), isNew: false)
    identities.insert(object, factory.rootNumber, key)
    usedObjects?.add(object.identifier)
    return object
  }

  /// The identifier of a destination.
  ///
  /// A relationship stores keys only. If its destination entity has subentities, the registered object or the row tells the
  /// object's own entity; if neither exists, it is the destination entity.
  func identifier(_ destination: EntityDescription, _ key: UInt64) -> ManagedObjectID {
    let factory = destination.factory
    let key = permanentKeys.permanent(key)
    guard factory.hasSubentities else { return factory.identifier(key, in: storeIdentity) }
    if let object = registered(destination.rootEntity, key) { return object.objectID }
    let number = try? readingView().withRow(destination.rootEntity, key) { $0?.entityNumber }
    guard let number, let own = try? destination.rootEntity.entity(numbered: number)
    else { return factory.identifier(key, in: storeIdentity) }
    return own.factory.identifier(key, in: storeIdentity)
  }
}

import HeartwoodBytes

/// Objects by their identifiers, and the objects that a context has.
extension ManagedObjectContext {
  /// The object with this identifier: the registered instance, or a fault whose row is read at its first use. If the row
  /// does not exist, the fault turns out to be inaccessible (`shouldDeleteInaccessibleFaults`).
  ///
  /// - Precondition: The identifier is temporary or belongs to this context's store. `existingObject(with:)` throws
  ///   instead.
  @_disfavoredOverload public func object(with objectID: ManagedObjectID) -> ManagedObject {
    anyObject(with: objectID)
  }

  /// As `object(with:)`, under a name that the module `CoreData` does not have.
  package func anyObject(with objectID: ManagedObjectID) -> ManagedObject {
    beginUse("getting an object")
    defer { endUse() }
    let key = localKey(of: objectID)
    require(key != nil, "\(objectID) is an object of another store than this context's")
    takeAssignedIdentifiers()
    return object(objectID.entity, key ?? objectID.key)
  }

  /// The object with this identifier, as `object(with:)`, in its class.
  ///
  /// - Parameters:
  ///   - objectID: The identifier.
  ///   - type: The class.
  /// - Precondition: As of `object(with:)`, and the object is of the class.
  public func object<Object: ManagedObject>(
    with objectID: ManagedObjectID, as type: Object.Type = Object.self
  ) -> Object {
    let object = anyObject(with: objectID)
    guard let typed = object as? Object else {
      programError(HeartwoodError.otherClass(object, Object.self).message)
    }
    return typed
  }

  /// The object with this identifier if it is registered, otherwise nil. Does not read the store.
  @_disfavoredOverload public func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
    beginUse("getting an object")
    defer { endUse() }
    takeAssignedIdentifiers()
    return localKey(of: objectID).flatMap { registered(objectID.entity.rootEntity, $0) }
  }

  /// The object with this identifier, read from the store if it is not registered or is a fault.
  ///
  /// An object that was deleted in this context, and whose delete is not saved yet, is returned as it is.
  ///
  /// - Throws: `HeartwoodError` with code `.managedObjectReferentialIntegrity` if the row does not exist or belongs to
  ///   another store; the store's error if the row cannot be read.
  @_disfavoredOverload public func existingObject(with objectID: ManagedObjectID) throws -> ManagedObject {
    try anyExistingObject(with: objectID)
  }

  /// As `existingObject(with:)`, under a name that the module `CoreData` does not have.
  package func anyExistingObject(with objectID: ManagedObjectID) throws -> ManagedObject {
    beginUse("getting an object")
    defer { endUse() }
    takeAssignedIdentifiers()
    guard let localKey = localKey(of: objectID) else { throw HeartwoodError.noRow(objectID) }
    let root = objectID.entity.rootEntity
    try showReturned()
    if let object = registered(root, localKey), !object.isFault || object.hasChanges {
      if object.state.contains(.inaccessible) { throw HeartwoodError.noRow(objectID) }
      return object
    }
    let view = try readingView()
    let key = permanentKeys.permanent(localKey)
    let object = try view.withRow(root, key) { row in
      guard let row else { throw HeartwoodError.noRow(objectID) }
      let factory = try root.entity(numbered: row.entityNumber).factory
      return materialise(factory, key, in: storeIdentity, row: row.bytes)
    }
    if object.isDeleted { throw HeartwoodError.noRow(objectID) }
    object.willRead()
    try throwIfUnreadable()
    return object
  }

  /// The object with this identifier, as `existingObject(with:)`, in its class.
  ///
  /// ```swift
  /// let artist: Artist = try context.existingObject(with: id)
  /// ```
  ///
  /// - Parameters:
  ///   - objectID: The identifier.
  ///   - type: The class.
  /// - Throws: As `existingObject(with:)`; `.managedObjectReferentialIntegrity` also if the object is of another class.
  public func existingObject<Object: ManagedObject>(
    with objectID: ManagedObjectID, as type: Object.Type = Object.self
  ) throws -> Object {
    let object = try anyExistingObject(with: objectID)
    guard let typed = object as? Object else { throw HeartwoodError.otherClass(object, Object.self) }
    return typed
  }

  /// While no store is open, the identifiers of any store are accepted, and reading throws.
  func isOfStore(_ objectID: ManagedObjectID) -> Bool { localKey(of: objectID) != nil }

  /// The key of an object in this context; nil if it is of another store.
  func localKey(of objectID: ManagedObjectID) -> UInt64? {
    let store = storeIdentity
    return store == .none ? objectID.key : objectID.key(in: store)
  }

  /// Objects that the next save will write as new rows.
  @_disfavoredOverload public var insertedObjects: Set<ManagedObject> { listing { Set(changes.inserted) } }
  /// Objects that were changed since they were fetched or saved.
  @_disfavoredOverload public var updatedObjects: Set<ManagedObject> { listing { Set(changes.updated) } }
  /// Objects that the next save will delete. Unlike in Core Data, those that others have deleted already are not among them: a save
  /// has nothing to do for them.
  @_disfavoredOverload public var deletedObjects: Set<ManagedObject> { listing { Set(changes.deleted) } }
  /// The objects of the context that the program references, and those that have changes. With `retainsRegisteredObjects` all that the context
  /// has read.
  ///
  /// - Complexity: Linear in the number of objects.
  @_disfavoredOverload public var registeredObjects: Set<ManagedObject> {
    listing {
      Set(retainsRegisteredObjects ? identities.objects : identities.objectsInUse(isKeptInSweeps))
    }
  }

  /// The value of `hasChanges`.
  var hasUnsavedChanges: Bool { listing { !changes.isEmpty || nextSave.lostEdit != nil } }

  private func listing<Result>(_ list: () -> Result) -> Result {
    beginUse("listing objects")
    defer { endUse() }
    return list()
  }
}

/// The same under names that the module `CoreData` does not have: its own members of these names have other types.
extension ManagedObjectContext {
  package func anyRegisteredObject(for objectID: ManagedObjectID) -> ManagedObject? {
    registeredObject(for: objectID)
  }
  package var anyInsertedObjects: Set<ManagedObject> { insertedObjects }
  package var anyUpdatedObjects: Set<ManagedObject> { updatedObjects }
  package var anyDeletedObjects: Set<ManagedObject> { deletedObjects }
  /// The objects that the next save inserts, updates and deletes, each list in the order of the first change.
  package var listsOfChanges: (inserted: [ManagedObject], updated: [ManagedObject], deleted: [ManagedObject])
  {
    listing { (Array(changes.inserted), Array(changes.updated), Array(changes.deleted)) }
  }
  package var anyRegisteredObjects: Set<ManagedObject> { registeredObjects }
  /// Also the objects that only the context references.
  package var anyObjectsInMemory: Set<ManagedObject> { listing { Set(identities.objects) } }
  package var anyMergePolicy: MergePolicy {
    get { mergePolicy }
    set { mergePolicy = newValue }
  }
  package var anyUndoManager: (any UndoRegistering)? {
    get { undoManager }
    set { undoManager = newValue }
  }
  package var anyUserInfo: [String: Any] {
    get { userInfo }
    set { userInfo = newValue }
  }
}

/// The entities of a context's model.
extension ManagedObjectContext {
  /// The entity of a class, in the model of the context's coordinator.
  ///
  /// - Precondition: The model has exactly one entity with this class.
  func entity(of type: ManagedObject.Type) -> EntityDescription {
    if let entity = knownEntity(of: type) { return entity }
    guard let model = persistentStoreCoordinator?.managedObjectModel else { return type.entity() }
    programError(
      "\(type) is not the class of exactly one entity of the model, which has "
        + ModelChecks.list(model.entitiesByName.keys))
  }

  /// The same; nil if there is no coordinator, or no such entity.
  func knownEntity(of type: ManagedObject.Type) -> EntityDescription? {
    if let entityOfClass, entityOfClass.type == ObjectIdentifier(type) { return entityOfClass.entity.object }
    guard let entity = persistentStoreCoordinator?.managedObjectModel.entity(of: type) else { return nil }
    entityOfClass = (ObjectIdentifier(type), UnownedReference(entity))
    return entity
  }
}

extension EntityDescription {
  /// A new object of the entity with this name in the context's model.
  ///
  /// - Precondition: The model has such an entity.
  @_disfavoredOverload public static func insertNewObject(
    forEntityName name: String, into context: ManagedObjectContext
  ) -> ManagedObject {
    guard let entity = entity(forEntityName: name, in: context) else {
      programError("the context's model has no entity called \"\(name)\"")
    }
    return ObjectMaking.make(entity.factory.objectClass, entity, insertInto: context)
  }

  /// The entity with this name in the context's model; nil if there is none.
  public static func entity(
    forEntityName name: String, in context: ManagedObjectContext
  ) -> EntityDescription? {
    context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name]
  }
}

import HeartwoodBytes

/// Taking snapshots, and applying them.
extension ManagedObject {
  /// The object's current values, unsaved ones included, as a value that may cross threads and actors.
  ///
  /// Fires a fault. An object that cannot be read gives its defaults, and the context's next fetch or save throws.
  ///
  /// - Parameter relationships: The names of to-many relationships whose destinations are included, as identifiers.
  /// - Precondition: The entity has these relationships.
  @_disfavoredOverload
  public final func snapshot(including relationships: [String] = []) -> ObjectSnapshot {
    let use = beginUse("taking a snapshot of", nil)
    defer { use?.leave() }
    var values: [Value] = []
    for slot in entity.slots {
      noteAccess(slot)
      let isToMany = entity.compiled.relationshipBySlot[slot]?.isToMany == true
      values.append(isToMany ? .null : withOwnEntity(value(at: slot)))
    }
    var destinations: [Int: [ManagedObjectID]] = [:]
    for name in relationships {
      guard let slot = entity.slot(named: name) else {
        programError(HeartwoodError.unknownProperty(name, entity).message)
      }
      destinations[slot] = objectIDs(forRelationshipAt: slot)
    }
    return ObjectSnapshot(objectID, values: values, destinations: destinations)
  }

  /// Sets the values of a snapshot.
  ///
  /// A snapshot of this object writes only what was changed in it. A snapshot of another object is a template: all of its
  /// values are set, and the destinations that it includes.
  ///
  /// - Parameters:
  ///   - snapshot: A snapshot of an object of the same entity.
  ///   - overwrites: Whether a value that was changed in the snapshot replaces one that the object has got since. Without, that is a conflict.
  /// - Throws: `.managedObjectValidation` if the entity is another one or a destination does not fit, `.managedObjectMerge` if a
  ///   property was changed to different values in the snapshot and in the object. Nothing is changed then.
  public final func apply(_ snapshot: ObjectSnapshot, overwriting overwrites: Bool = false)
    throws(HeartwoodError)
  {
    let use = beginUse("applying a snapshot to", nil)
    defer { use?.leave() }
    guard snapshot.entity === entity || snapshot.entityName == entity.displayName else {
      throw HeartwoodError(
        .managedObjectValidation,
        "a snapshot of \(snapshot.entityName) cannot be applied to \(objectID), an object of "
          + "\(entity.displayName): apply it to an object of its own entity",
        objectIDs: [objectID, snapshot.objectID])
    }
    let isOwn = snapshot.objectID == objectID
    let slots = isOwn ? snapshot.changedSlots : entity.slots.filter(snapshot.includes)
    if isOwn, !overwrites { try throwIfConflicting(slots, snapshot) }
    for slot in slots { try check(snapshot, slot) }
    for slot in slots { set(snapshot, slot) }
  }

  private final func throwIfConflicting(_ slots: [Int], _ snapshot: ObjectSnapshot) throws(HeartwoodError) {
    let conflicting = slots.filter { isConflicting(with: snapshot, at: $0) }
    guard let first = conflicting.first else { return }
    let names = conflicting.map { entity.property(at: $0).name }
    throw HeartwoodError(
      .managedObjectMerge,
      "\(ModelChecks.list(names)) of \(objectID) was changed both in the snapshot and in the object since it was taken; "
        + "take a new snapshot, or apply this one with overwriting: true",
      objectIDs: [objectID], property: entity.property(at: first).name)
  }

  private final func isConflicting(with snapshot: ObjectSnapshot, at slot: Int) -> Bool {
    guard let relationship = entity.compiled.relationshipBySlot[slot], relationship.isToMany else {
      let present = value(at: slot)
      return present != snapshot.formerValues[slot] && present != snapshot.values[slot]
    }
    // The differences of unordered relationships can be merged.
    guard relationship.isOrdered, let former = snapshot.formerDestinations[slot] else { return false }
    let present = objectIDs(forRelationshipAt: slot)
    return present != former && present != snapshot.destinations[slot]
  }

  private final func check(_ snapshot: ObjectSnapshot, _ slot: Int) throws(HeartwoodError) {
    guard let relationship = entity.compiled.relationshipBySlot[slot] else { return }
    for id in snapshot.identifiers(at: slot) {
      guard let context = managedObjectContext, context.isOfStore(id),
        !id.isTemporaryID || context.registeredObject(for: id) != nil,
        id.entity.isKindOf(entityNamed: relationship.destinationEntity.displayName)
      else {
        throw HeartwoodError(
          .managedObjectValidation,
          "\(relationship.displayName) of \(objectID) cannot be set to \(id): "
            + "an object of \(relationship.destinationEntity.displayName) in the same store is needed",
          objectIDs: [objectID], property: relationship.name)
      }
    }
  }

  private final func set(_ snapshot: ObjectSnapshot, _ slot: Int) {
    guard let relationship = entity.compiled.relationshipBySlot[slot], let context = managedObjectContext
    else {
      willEdit()
      return setEdit(slot, snapshot.values[slot])
    }
    let objects = snapshot.identifiers(at: slot).map { context.object(with: $0) }
    guard relationship.isToMany else { return setDestination(objects.first, at: slot) }
    guard !relationship.isOrdered, let former = snapshot.formerDestinations[slot],
      snapshot.objectID == objectID
    else { return setDestinations(objects, at: slot) }
    let wanted = Set(snapshot.identifiers(at: slot))
    let removed = former.filter { !wanted.contains($0) }.map { context.object(with: $0) }
    let kept = Set(former)
    changeDestinations(
      at: slot, removing: removed, adding: objects.filter { !kept.contains($0.objectID) })
  }
}

extension ObjectSnapshot {
  /// Whether the snapshot has a value for the property, or its destinations.
  fileprivate func includes(_ slot: Int) -> Bool {
    entity.compiled.relationshipBySlot[slot]?.isToMany != true || destinations[slot] != nil
  }

  /// The destinations of a relationship.
  fileprivate func identifiers(at slot: Int) -> [ManagedObjectID] {
    if let identifiers = destinations[slot] { return identifiers }
    if case .object(let id) = values[slot] { return [id] }
    return []
  }
}

extension EntityDescription {
  /// Whether this entity or one of its superentities has the name, also if it is one of another model.
  fileprivate func isKindOf(entityNamed name: String) -> Bool {
    sequence(first: self, next: \.superentity).contains { $0.displayName == name }
  }
}

extension ManagedObjectContext {
  /// Applies a snapshot to its object in this context, as `ManagedObject.apply(_:overwriting:)`.
  ///
  /// - Parameters:
  ///   - snapshot: A snapshot that was taken in any context of the same store.
  ///   - overwrites: Whether a value that was changed in the snapshot replaces one that the object has got since.
  /// - Returns: The object.
  /// - Throws: `.managedObjectReferentialIntegrity` if the object does not exist any more, and as `ManagedObject.apply(_:overwriting:)`.
  @discardableResult
  public func apply(_ snapshot: ObjectSnapshot, overwriting overwrites: Bool = false) throws -> ManagedObject
  {
    beginUse("applying a snapshot")
    defer { endUse() }
    let object: ManagedObject = try existingObject(with: snapshot.objectID)
    try object.apply(snapshot, overwriting: overwrites)
    return object
  }
}

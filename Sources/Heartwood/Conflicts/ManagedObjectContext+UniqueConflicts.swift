import HeartwoodBytes

/// Resolving violations of uniqueness constraints.
///
/// The row in the store always keeps its identifier. Where the unsaved object wins, it becomes that row's object, with its own
/// values over the stored ones: importing the same things again updates them.
extension ManagedObjectContext {
  func resolve(_ conflicts: [ConstraintConflict], by type: MergePolicyType) throws {
    var mergedInto: [ManagedObjectID: ManagedObjectID] = [:]
    for conflict in conflicts {
      // An object may violate several constraints: what the first has resolved is passed over.
      let claimants = conflict.conflictingObjects.filter { $0.managedObjectContext === self && !$0.isDeleted }
      guard let first = claimants.first else { continue }
      var rest = claimants.dropFirst()
      var survivor = first
      if let stored = conflict.databaseObjectID {
        survivor = try resolve(first, against: stored, conflict, by: type, &mergedInto)
        rest = rest.filter { $0 !== survivor }[...]
      }
      for other in rest {
        guard other.state.contains(.inserted) else {
          try keepApart(other, conflict, by: type)
          continue
        }
        let identifier = other.identifier
        try refuseOtherEntity(other, conflict, survivor.entity)
        merge(other, into: survivor, by: type)
        mergedInto[identifier] = survivor.identifier
      }
    }
    redirectReferences(mergedInto)
    identities.forEach { object in
      object.forEachRelationshipState { $0.rename(permanentKeys.permanent) }
    }
  }

  /// Resolves the conflict of an unsaved object with a stored row; returns the object of the row.
  private func resolve(
    _ object: ManagedObject, against stored: ManagedObjectID, _ conflict: ConstraintConflict,
    by type: MergePolicyType, _ mergedInto: inout [ManagedObjectID: ManagedObjectID]
  ) throws -> ManagedObject {
    guard object.state.contains(.inserted) else {
      try keepApart(object, conflict, by: type)
      return object
    }
    let root = stored.entity.rootEntity
    let isKnown =
      identities.find(root.number, stored.key).map { !$0.isHeldOnce || $0.object.hasChanges } ?? false
    let isDone = try readingView().withRow(root, stored.key) { row in
      let entity = try row.map { try root.entity(numbered: $0.entityNumber) } ?? stored.entity
      try refuseOtherEntity(object, conflict, entity)
      guard let row, entity === object.entity, !isKnown, !type.storeWins else { return false }
      identities.remove(root.number, stored.key)
      become(object, stored, row.bytes, by: type)
      return true
    }
    if isDone { return object }
    let survivor = self.object(stored.entity, stored.key)
    let identifier = object.identifier
    merge(object, into: survivor, by: type)
    mergedInto[identifier] = survivor.identifier
    return survivor
  }

  /// An object becomes only one of its own entity or of a subentity: what refers to it must fit the other object too.
  private func refuseOtherEntity(
    _ object: ManagedObject, _ conflict: ConstraintConflict, _ entity: EntityDescription
  ) throws {
    guard entity.isKindOf(entity: object.entity) else { throw HeartwoodError.constraints([conflict]) }
  }

  /// Makes a new object the object of a stored row.
  private func become(
    _ object: ManagedObject, _ stored: ManagedObjectID, _ row: UnsafeRawBufferPointer,
    by type: MergePolicyType
  ) {
    note(object)
    if type == .overwrite {
      for slot in object.entity.slots where object.entity.compiled.relationshipBySlot[slot]?.isToMany != true
      {
        object.setEdit(slot, object.value(at: slot))
      }
    }
    changes.inserted.remove(object)
    object.state.remove(.inserted)
    rename(object, to: ManagedObjectID(entity: object.entity, key: stored.key, store: stored.store))
    object.adopt(checkedRow: row)
    object.forEachRelationshipState { $0.unload() }
    object.state.insert(.updated)
    changes.updated.append(object)
    leaveFormerDestinations(object)
    object.awake(fromSnapshotEvents: .mergePolicy)
  }

  /// Removes an object from the inverses of the to-one values that its unsaved ones replace.
  func leaveFormerDestinations(_ object: ManagedObject) {
    for relationship in object.entity.relationshipsBySlot where !relationship.isToMany {
      guard let inverse = relationship.inverseRelationship,
        let edit = object.pending?.edit(relationship.slot),
        case .object(let former) = object.committedValue(at: relationship.slot), edit != .object(former)
      else { continue }
      forget(object, in: inverse, of: self.object(relationship.destinationEntity, former.key))
    }
  }

  /// Moves what a new object has to another object, and drops it.
  private func merge(_ object: ManagedObject, into survivor: ManagedObject, by type: MergePolicyType) {
    note(object)
    for slot in object.entity.slots where survivor.entity.slots.contains(slot) {
      if let relationship = object.entity.compiled.relationshipBySlot[slot] {
        moveDestinations(relationship, from: object, to: survivor, keepingSurvivors: type.storeWins)
      } else if !type.storeWins, type == .overwrite || object.pending?.edit(slot) != nil {
        willEdit(survivor)
        survivor.setEdit(slot, object.value(at: slot))
      }
    }
    changes.inserted.remove(object)
    object.state = [.inserted, .deleted, .noted]
    endEvent()
    object.state = []
    forget(object)
    survivor.awake(fromSnapshotEvents: .mergePolicy)
  }

  private func moveDestinations(
    _ relationship: RelationshipDescription, from object: ManagedObject, to survivor: ManagedObject,
    keepingSurvivors: Bool
  ) {
    let slot = relationship.slot
    if relationship.isToMany {
      for destination in related(object, slot) where destination !== object {
        removeRelated(object, slot, destination)
        insertRelated(survivor, slot, destination, at: nil)
      }
    } else if let destination = toOne(object, slot) {
      setToOne(object, slot, nil)
      if !keepingSurvivors, destination !== object { setToOne(survivor, slot, destination) }
    }
  }

  /// Two stored rows cannot become one.
  private func keepApart(_ object: ManagedObject, _ conflict: ConstraintConflict, by type: MergePolicyType)
    throws
  {
    guard type.storeWins else { throw HeartwoodError.constraints([conflict]) }
    note(object)
    if type == .rollback { restoreInverses(of: object) }
    for slot in object.editedSlots {
      let isConstrained = conflict.constraint.contains(object.entity.property(at: slot).name)
      if isConstrained || type == .rollback { object.dropEdit(slot) }
    }
    if type == .rollback { object.forEachRelationshipState { $0.forgetDifferences() } }
    object.exposeRow()
    editCount &+= 1
  }

  /// Replaces merged objects in the to-one values that have no inverse.
  private func redirectReferences(_ mergedInto: [ManagedObjectID: ManagedObjectID]) {
    guard !mergedInto.isEmpty else { return }
    for object in Array(changes.inserted) + Array(changes.updated) {
      for slot in object.editedSlots {
        guard case .object(let id)? = object.pending?.edit(slot), let survivor = mergedInto[id] else {
          continue
        }
        object.setEdit(slot, .object(survivor))
      }
    }
  }
}

import HeartwoodBytes

/// Resolving violations of uniqueness constraints.
///
/// The row in the store always keeps its identifier. Where the unsaved object wins, it becomes that row's object, with its own
/// values over the stored ones: importing the same things again updates them.
struct UniqueConflictResolution {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Changes the conflicting objects so that a save can succeed.
  ///
  /// - Throws: `.managedObjectConstraintMerge` for two stored objects that would have to become one, and for an object that would have to
  ///   become one of a superentity.
  func resolve(_ conflicts: [ConstraintConflict], by type: MergePolicyType, _ toMany: ToManyResolution) throws
  {
    try refuseTwoPartners(conflicts)
    let resolution = UniqueResolution(
      type: type, replaces: toMany == .replace && !type.storeWins,
      conflicting: Set(conflicts.lazy.flatMap(\.conflictingObjects).map(ObjectIdentifier.init)))
    var united = UnitedObjects()
    for conflict in conflicts {
      // An object may violate several constraints: what the first has resolved is passed over.
      let claimants = conflict.conflictingObjects.filter {
        $0.managedObjectContext === context && !$0.isDeleted
      }
      guard let first = claimants.first else { continue }
      var rest = claimants.dropFirst()
      var survivor = first
      if let stored = conflict.databaseObjectID {
        survivor = try resolve(first, against: stored, conflict, resolution, &united)
        rest = rest.filter { $0 !== survivor }[...]
      }
      for other in rest {
        guard other.state.contains(.inserted) else {
          try keepApart(other, conflict, resolution)
          continue
        }
        try refuseOtherEntity(other, conflict, survivor.entity)
        Uniting(context).unite(other, with: survivor, resolution, &united)
      }
    }
    Uniting(context).finish(united)
  }

  /// Refuses a new object that equals two stored ones, each by a constraint of its own: it cannot become both, and it cannot give way to both.
  private func refuseTwoPartners(_ conflicts: [ConstraintConflict]) throws {
    var partners: [ObjectIdentifier: ConstraintConflict] = [:]
    for conflict in conflicts {
      guard let stored = conflict.databaseObjectID else { continue }
      for object in conflict.conflictingObjects where object.state.contains(.inserted) {
        let known = partners.updateValue(conflict, forKey: ObjectIdentifier(object))
        if let known, known.databaseObjectID != stored {
          throw HeartwoodError.twoPartners(object, known, conflict)
        }
      }
    }
  }

  /// Resolves the conflict of an unsaved object with a stored row; returns the object of the row.
  private func resolve(
    _ object: ManagedObject, against stored: ManagedObjectID, _ conflict: ConstraintConflict,
    _ resolution: UniqueResolution, _ united: inout UnitedObjects
  ) throws -> ManagedObject {
    // By another constraint, it has become this object already.
    if object.identifier == stored { return object }
    guard object.state.contains(.inserted) else {
      try keepApart(object, conflict, resolution)
      return object
    }
    let root = stored.entity.rootEntity
    let isKnown =
      context.identities.find(root.number, stored.key).map { !$0.isHeldOnce || $0.object.hasChanges } ?? false
    let isDone = try context.readingView().withRow(root, stored.key) { row in
      let entity = try row.map { try root.entity(numbered: $0.entityNumber) } ?? stored.entity
      try refuseOtherEntity(object, conflict, entity)
      guard let row, entity === object.entity, !isKnown, !resolution.type.storeWins else { return false }
      context.identities.remove(root.number, stored.key)
      Uniting(context).become(object, stored, row.bytes, resolution, &united)
      return true
    }
    if isDone { return object }
    let survivor = context.object(stored.entity, stored.key)
    Uniting(context).unite(object, with: survivor, resolution, &united)
    return survivor
  }

  /// An object becomes only one of its own entity or of a subentity: what refers to it must fit the other object too.
  private func refuseOtherEntity(
    _ object: ManagedObject, _ conflict: ConstraintConflict, _ entity: EntityDescription
  ) throws {
    guard entity.isKindOf(entity: object.entity) else { throw HeartwoodError.constraints([conflict]) }
  }

  /// Two stored rows cannot become one.
  private func keepApart(
    _ object: ManagedObject, _ conflict: ConstraintConflict, _ resolution: UniqueResolution
  ) throws {
    guard resolution.type.storeWins else { throw HeartwoodError.storedApart(object, conflict) }
    context.note(object)
    if resolution.type == .rollback {
      let rows = RowConflictResolution(context)
      rows.takeBackOwnChanges(of: object, over: nil, resolution.conflicting)
      rows.leaveTakenPartners(of: object)
    } else {
      for slot in object.editedSlots where conflict.constrains(slot, of: object.entity) {
        // The other side must not keep what is taken back here.
        RelationshipRestoring(context).restoreInverses(of: object, slot: slot)
        object.dropEdit(slot)
      }
    }
    object.exposeRow()
    context.editCount &+= 1
  }
}

extension ConstraintConflict {
  /// Whether a property is one of those that together are unique.
  func constrains(_ slot: Int, of entity: EntityDescription) -> Bool {
    constraint.contains(entity.property(at: slot).name)
  }
}

extension HeartwoodError {
  fileprivate static func twoPartners(
    _ object: ManagedObject, _ first: ConstraintConflict, _ second: ConstraintConflict
  ) -> HeartwoodError {
    func named(_ conflict: ConstraintConflict) -> String {
      let stored = conflict.databaseObjectID.map { "\($0)" } ?? "an object"
      return "\(stored) by \(conflict.constraint.joined(separator: ", "))"
    }
    return HeartwoodError(
      .managedObjectConstraintMerge,
      "\(object.identifier) equals two different objects in the store, \(named(first)) and \(named(second)), and cannot become both: "
        + "change one of the values and save again",
      objectIDs: [object.identifier] + [first, second].compactMap(\.databaseObjectID),
      constraintConflicts: [first, second])
  }

  fileprivate static func storedApart(
    _ object: ManagedObject, _ conflict: ConstraintConflict
  ) -> HeartwoodError {
    let values = zip(conflict.constraint, conflict.constraintValues).map { "\($0) = \($1)" }
    let holder =
      conflict.databaseObjectID.map { "\($0) in the store has" } ?? "another changed object has"
    return HeartwoodError(
      .managedObjectConstraintMerge,
      "\(object.identifier) is in the store already, and \(holder) \(values.joined(separator: ", ")) too: "
        + "two stored objects do not become one by a merge policy; change the value, or delete one of them, and save again",
      objectIDs: [object.identifier] + [conflict.databaseObjectID].compactMap { $0 },
      constraintConflicts: [conflict])
  }
}

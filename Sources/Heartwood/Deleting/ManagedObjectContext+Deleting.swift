/// Delete rules, with Core Data's timing.
///
/// `delete` marks one object. Its delete rules are applied when pending changes are processed (or only at a save, if
/// `propagatesDeletesAtEndOfEvent` is false): nullify removes the object from the inverse, cascade deletes the destinations, deny is checked at a
/// save, noAction leaves dangling references in the destinations. Of an object that was never saved deny and noAction are nullify.
extension ManagedObjectContext {
  func markDeleted(_ object: ManagedObject) {
    guard object.state.isDisjoint(with: [.deleted, .preparingForDeletion]) else { return }
    object.state.insert(.preparingForDeletion)
    object.prepareForDeletion()
    object.state.remove(.preparingForDeletion)
    note(object)
    editCount &+= 1
    changes.unpropagatedDeletes.append(object)
    changes.updated.remove(object)
    object.state.remove(.updated)
    object.state.insert(.deleted)
    // An object without a row is in none of the three lists; it stays marked until the save or rollback.
    if object.state.contains(.inserted) {
      changes.inserted.remove(object)
      changes.discarded.append(object)
    } else {
      changes.deleted.append(object)
    }
  }

  func undelete(_ object: ManagedObject) {
    note(object)
    editCount &+= 1
    object.state.remove(.ofDeletes)
    if !changes.unpropagatedDeletes.isEmpty { changes.unpropagatedDeletes.removeAll { $0 === object } }
    changes.deleted.remove(object)
    changes.gone.remove(object)
    if object.state.contains(.inserted) {
      changes.discarded.remove(object)
      changes.inserted.append(object)
    } else if object.hasUnsavedValues {
      object.state.insert(.updated)
      changes.updated.append(object)
    }
  }

  /// Applies the delete rules of every deleted object, and of those that cascades delete. Each object is processed once, so cycles of cascades end.
  func propagateDeletes() {
    var next = 0
    while next < changes.unpropagatedDeletes.count {
      let object = changes.unpropagatedDeletes[next]
      next += 1
      for relationship in object.entity.relationshipsBySlot { apply(relationship, of: object) }
    }
    changes.unpropagatedDeletes = []
  }

  private func apply(_ relationship: RelationshipDescription, of object: ManagedObject) {
    var rule = relationship.deleteRule
    // No row can refer to an object that was never saved.
    if object.state.contains(.inserted), rule != .cascadeDeleteRule { rule = .nullifyDeleteRule }
    switch rule {
    case .noActionDeleteRule, .denyDeleteRule:
      return
    case .nullifyDeleteRule:
      guard let inverse = relationship.inverseRelationship else { return }
      for destination in destinations(of: object, relationship) {
        forget(object, in: inverse, of: destination)
      }
    case .cascadeDeleteRule:
      for destination in destinations(of: object, relationship) { markDeleted(destination) }
    }
  }

  /// The destinations that are not deleted themselves.
  func destinations(of object: ManagedObject, _ relationship: RelationshipDescription) -> [ManagedObject] {
    let all =
      relationship.isToMany
      ? related(object, relationship.slot)
      : toOne(object, relationship.slot).map { [$0] } ?? []
    return all.filter { !$0.state.contains(.deleted) }
  }

  /// Whether an object has a row, or will have one: the rule noAction leaves references to deleted ones.
  func isStoredOrNew(_ object: ManagedObject) throws -> Bool {
    try object.state.contains(.inserted)
      || readingView().row(object.entity.rootEntity, object.identifier.key) != nil
  }
}

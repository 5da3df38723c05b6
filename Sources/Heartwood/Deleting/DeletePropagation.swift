/// Delete rules, with Core Data's timing.
///
/// `delete` marks one object. Its delete rules are applied when pending changes are processed (or only at a save, if
/// `propagatesDeletesAtEndOfEvent` is false): nullify removes the object from the inverse, cascade deletes the
/// destinations, deny is checked at a save, noAction leaves dangling references in the destinations. Of an object that was never saved deny
/// and noAction are nullify.
struct DeletePropagation {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  func markDeleted(_ object: ManagedObject) {
    guard object.state.isDisjoint(with: [.deleted, .preparingForDeletion]) else { return }
    object.state.insert(.preparingForDeletion)
    object.prepareForDeletion()
    object.state.remove(.preparingForDeletion)
    context.note(object)
    context.editCount &+= 1
    context.unpropagatedDeletes.append(object)
    context.changes.updated.remove(object)
    object.state.remove(.updated)
    object.state.insert(.deleted)
    // An object without a row is in none of the three lists; it stays marked until the save or rollback.
    if object.state.contains(.inserted) {
      context.changes.inserted.remove(object)
      context.discarded.append(object)
    } else {
      context.changes.deleted.append(object)
    }
  }

  func undelete(_ object: ManagedObject) {
    context.note(object)
    context.editCount &+= 1
    object.state.remove(.ofDeletes)
    if !context.unpropagatedDeletes.isEmpty { context.unpropagatedDeletes.removeAll { $0 === object } }
    context.changes.deleted.remove(object)
    context.changes.gone.remove(object)
    if object.state.contains(.inserted) {
      context.discarded.remove(object)
      context.changes.inserted.append(object)
    } else if object.hasUnsavedValues {
      object.state.insert(.updated)
      context.changes.updated.append(object)
    }
  }

  /// Applies the delete rules of every deleted object, and of those that cascades delete. Each object is processed once,
  /// so cycles of cascades end.
  func propagateDeletes() {
    var next = 0
    while next < context.unpropagatedDeletes.count {
      let object = context.unpropagatedDeletes[next]
      next += 1
      for relationship in object.entity.relationshipsBySlot { apply(relationship, of: object) }
    }
    context.unpropagatedDeletes = []
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
        context.forget(object, in: inverse, of: destination)
      }
    case .cascadeDeleteRule:
      for destination in destinations(of: object, relationship) { markDeleted(destination) }
    }
  }

  /// The destinations that are not deleted themselves.
  func destinations(of object: ManagedObject, _ relationship: RelationshipDescription) -> [ManagedObject] {
    let all =
      relationship.isToMany
      ? context.related(object, relationship.slot)
      : context.toOne(object, relationship.slot).map { [$0] } ?? []
    return all.filter { !$0.state.contains(.deleted) }
  }
}

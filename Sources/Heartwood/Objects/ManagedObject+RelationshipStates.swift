/// Storage of the states of an object's to-many relationships.
extension ManagedObject {
  /// Nil until the relationship is first used.
  final func relationshipState(at slot: Int) -> RelationshipState? {
    pending?.relationship(slot)
  }

  final func setRelationshipState(_ state: RelationshipState, at slot: Int) {
    let pending = makePendingValues()
    if pending.relationships.isEmpty {
      pending.header.relationships = Array(repeating: nil, count: pending.header.slotCount)
    }
    pending.header.relationships[slot] = state
  }

  final func forEachRelationshipState(_ body: (RelationshipState) -> Void) {
    guard let pending else { return }
    for case let state? in pending.relationships { body(state) }
  }

  /// The slots of to-many relationships with unsaved differences, ascending.
  final var changedToManySlots: [Int] {
    guard let pending else { return [] }
    let states = pending.relationships
    return states.indices.filter { states[$0]?.hasChanges == true }
  }

  final var hasRelationshipChanges: Bool { !changedToManySlots.isEmpty }

  /// As `changedToManySlots`, without transient relationships.
  final var changedStoredToManySlots: [Int] {
    let slots = changedToManySlots
    guard !slots.isEmpty, !entity.compiled.transientRelationships.isEmpty else { return slots }
    return slots.filter { !entity.property(at: $0).isTransient }
  }

  /// Whether a save has something to write of to-many relationships.
  final var hasStoredRelationshipChanges: Bool { !changedStoredToManySlots.isEmpty }

  /// The identifiers of the destinations, without creating objects.
  final func objectIDs(forRelationshipAt slot: Int) -> [ManagedObjectID] {
    let relationship = entity.relationship(at: slot)
    noteAccess(slot)
    guard let context = managedObjectContext else { return detachedDestinations(at: slot).map(\.objectID) }
    guard relationship.isToMany else {
      guard case .object(let id) = value(at: slot) else { return [] }
      return [context.identifier(relationship.destinationEntity, id.key)]
    }
    return context.relatedKeys(self, slot).map { context.identifier(relationship.destinationEntity, $0) }
  }
}

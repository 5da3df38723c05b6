/// Where an object keeps what it knows of its to-many relationships.
extension ManagedObject {
  /// Nil before the relationship is first looked at.
  final func relationshipState(at slot: Int) -> RelationshipState? {
    guard let side, !side.header.relationships.isEmpty else { return nil }
    return side.header.relationships[slot]
  }

  final func setRelationshipState(_ state: RelationshipState, at slot: Int) {
    let side = madeSide()
    if side.header.relationships.isEmpty {
      side.header.relationships = Array(repeating: nil, count: side.header.slotCount)
    }
    side.header.relationships[slot] = state
  }

  final func forEachRelationshipState(_ body: (RelationshipState) -> Void) {
    guard let side else { return }
    for case let state? in side.header.relationships { body(state) }
  }

  /// The slots of to-many relationships with differences to be saved, ascending.
  final var changedToManySlots: [Int] {
    guard let side else { return [] }
    return side.header.relationships.indices.filter { side.header.relationships[$0]?.hasChanges == true }
  }

  final var hasRelationshipChanges: Bool { !changedToManySlots.isEmpty }

  /// The identifiers of the destinations, without making objects.
  final func objectIDs(forRelationshipAt slot: Int) -> [ManagedObjectID] {
    let relationship = entity.relationship(at: slot)
    guard let context = managedObjectContext else { return [] }
    guard relationship.isToMany else {
      guard case .object(let id) = value(at: slot) else { return [] }
      return [id]
    }
    return context.relatedKeys(self, slot).map { key in
      ManagedObjectID(entity: relationship.destinationEntity, key: key, store: context.storeIdentity)
    }
  }
}

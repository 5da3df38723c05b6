/// Taking back the changes of one object at the other sides of its relationships.
extension ManagedObjectContext {
  /// Takes back what the unsaved relationship changes of `object` have changed at registered objects. The object itself
  /// is not changed.
  func restoreInverses(of object: ManagedObject) {
    for relationship in object.entity.relationshipsBySlot { restoreInverse(of: object, relationship) }
  }

  /// The same for one property; nothing for an attribute.
  func restoreInverses(of object: ManagedObject, slot: Int) {
    if let relationship = object.entity.compiled.relationshipBySlot[slot] {
      restoreInverse(of: object, relationship)
    }
  }

  private func restoreInverse(of object: ManagedObject, _ relationship: RelationshipDescription) {
    guard let inverse = relationship.inverseRelationship else { return }
    if relationship.isToMany {
      guard let state = object.relationshipState(at: relationship.slot) else { return }
      for key in state.added { take(object, outOf: inverse, at: registered(relationship, key)) }
      for key in state.removed { putBack(object, into: inverse, at: registered(relationship, key)) }
    } else if let edit = object.pending?.edit(relationship.slot) {
      let committed = object.committedValue(at: relationship.slot)
      guard edit != committed else { return }
      if case .object(let id) = edit { take(object, outOf: inverse, at: registered(relationship, id.key)) }
      if case .object(let id) = committed {
        putBack(object, into: inverse, at: registered(relationship, id.key))
      }
    }
  }

  private func registered(_ relationship: RelationshipDescription, _ key: UInt64) -> ManagedObject? {
    registered(relationship.destinationEntity.rootEntity, key)
  }

  private func take(_ object: ManagedObject, outOf inverse: RelationshipDescription, at other: ManagedObject?)
  {
    guard let other, other !== object else { return }
    forget(object, in: inverse, of: other)
  }

  private func putBack(
    _ object: ManagedObject, into inverse: RelationshipDescription, at other: ManagedObject?
  ) {
    guard let other, other !== object, !other.state.contains(.deleted) else { return }
    let key = object.identifier.key
    if inverse.isToMany {
      let state = state(other, inverse.slot)
      guard !state.contains(key) else { return }
      willEdit(other)
      state.add(key)
    } else if other.value(at: inverse.slot).isNull {
      willEdit(other)
      other.setEdit(inverse.slot, .object(object.identifier))
    }
  }
}

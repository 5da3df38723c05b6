/// Dropping the changes of objects in conflict, and of no others.
///
/// A relationship is changed at both sides. A to-one value belongs to the object that has it, and so does the order of a to-many
/// relationship; its destinations belong to their own to-one values. A link, and a pair of one-to-one values, belong to both objects:
/// they stay if one of the two has no conflict.
extension ManagedObjectContext {
  /// Drops what an object in conflict has changed, also at the other sides of its relationships.
  ///
  /// - Parameters:
  ///   - newest: The newest row; nil if it is the one that the object has.
  ///   - conflicting: All objects with conflicts.
  func takeBackOwnChanges(
    of object: ManagedObject, over newest: [UInt8]?, _ conflicting: Set<ObjectIdentifier>
  ) {
    let kept = keptPairs(of: object, over: newest, conflicting)
    for slot in object.editedSlots where !kept.contains(slot) {
      restoreInverses(of: object, slot: slot)
      object.dropEdit(slot)
    }
    for relationship in object.entity.relationshipsBySlot where relationship.isToMany {
      guard let state = object.relationshipState(at: relationship.slot) else { continue }
      if relationship.ownsLinks { takeBackLinks(of: object, relationship, state, conflicting) }
      if relationship.isOrdered { state.forgetOrder() }
    }
    object.exposeRow()
  }

  /// Where the store wins, leaves the partners of one-to-one relationships that have another one by their own unsaved values.
  func leaveTakenPartners(of object: ManagedObject) {
    for relationship in object.entity.compiled.pairs where object.pending?.edit(relationship.slot) == nil {
      guard let inverse = relationship.inverseRelationship,
        case .object(let id) = object.committedValue(at: relationship.slot),
        let partner = registered(relationship.destinationEntity.rootEntity, id.key),
        !partner.state.contains(.deleted), let edit = partner.pending?.edit(inverse.slot),
        edit != .object(object.identifier)
      else { continue }
      willEdit(object)
      object.setEdit(relationship.slot, .null)
    }
  }

  private func takeBackLinks(
    of object: ManagedObject, _ relationship: RelationshipDescription, _ state: RelationshipState,
    _ conflicting: Set<ObjectIdentifier>
  ) {
    let root: EntityDescription = relationship.destinationEntity.rootEntity
    for key in Array(state.added) + state.removed.sorted() {
      guard let inverse = relationship.inverseRelationship else {
        state.forgetDifference(of: key)
        continue
      }
      guard let partner = registered(root, key), !partner.state.contains(.deleted),
        conflicting.contains(ObjectIdentifier(partner))
      else { continue }
      state.forgetDifference(of: key)
      partner.relationshipState(at: inverse.slot)?.forgetDifference(of: object.identifier.key)
    }
  }

  /// The one-to-one relationships whose unsaved values are those of a partner without a conflict, too, and that others have not changed.
  private func keptPairs(
    of object: ManagedObject, over newest: [UInt8]?, _ conflicting: Set<ObjectIdentifier>
  ) -> Set<Int> {
    var kept: Set<Int> = []
    for relationship in object.entity.compiled.pairs {
      let slot = relationship.slot
      guard let inverse = relationship.inverseRelationship, let edit = object.pending?.edit(slot),
        !isChanged(slot, of: object, in: newest)
      else { continue }
      let former = object.baseValue(at: slot)
      guard edit != former else { continue }
      let partners = [edit, former].compactMap { value -> ManagedObject? in
        guard case .object(let id) = value else { return nil }
        return registered(relationship.destinationEntity.rootEntity, id.key)
      }
      let isOfOthers = partners.contains { partner in
        !conflicting.contains(ObjectIdentifier(partner)) && partner !== object
          && !partner.state.contains(.deleted) && partner.pending?.edit(inverse.slot) != nil
      }
      if isOfOthers { kept.insert(slot) }
    }
    return kept
  }

  /// Whether others have changed a property of an object.
  private func isChanged(_ slot: Int, of object: ManagedObject, in newest: [UInt8]?) -> Bool {
    guard let newest else { return false }
    let layout = object.entity.layout
    return newest.withUnsafeBytes { bytes in
      guard let row = try? RowView(validating: bytes, layout: layout) else { return true }
      return row.value(layout.columns[slot], layout: layout, store: object.identifier.store)
        != object.baseValue(at: slot)
    }
  }
}

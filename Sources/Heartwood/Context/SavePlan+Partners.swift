/// One-to-one relationships: the rows that a save leaves must agree on both sides.
extension SavePlan {
  /// The conflict with the former partner of an object, if it still refers to the object that has another one now; and with the
  /// new partner, if it refers to another one.
  func partnerConflicts(
    of object: ManagedObject, _ mapping: (UInt64) -> UInt64, in transaction: any StoreTransaction
  ) throws -> [MergeConflict] {
    var conflicts: [MergeConflict] = []
    for relationship in object.entity.relationshipsBySlot where relationship.isOneToOne {
      guard let edit = object.pending?.edit(relationship.slot) else { continue }
      let former =
        object.state.contains(.inserted) ? Value.null : object.committedValue(at: relationship.slot)
      guard edit != former else { continue }
      for (partner, isNew) in [(former, false), (edit, true)] {
        guard case .object(let id) = partner, !id.isTemporaryID,
          let other = try self.partner(of: id.key, relationship, in: transaction)
        else { continue }
        guard (other == mapping(object.identifier.key)) != isNew else { continue }
        conflicts.append(
          MergeConflict(
            object, newest: try transaction.row(object.entity.rootEntity, object.identifier.key),
            .partner(relationship.slot, id.key)))
      }
    }
    return conflicts
  }

  /// Whether the partner of a deleted object refers to it although a delete rule would have taken it out.
  func isPartnerLeft(by object: ManagedObject, in transaction: any StoreTransaction) throws -> Bool {
    for relationship in object.entity.relationshipsBySlot
    where relationship.isOneToOne && relationship.deleteRule != .noActionDeleteRule {
      guard case .object(let id) = object.committedValue(at: relationship.slot) else { continue }
      if try partner(of: id.key, relationship, in: transaction) == object.identifier.key { return true }
    }
    return false
  }

  /// The key that the destination of a one-to-one relationship has on its side, 0 if it has none; nil without a row.
  private func partner(
    of key: UInt64, _ relationship: RelationshipDescription, in transaction: any StoreTransaction
  ) throws -> UInt64? {
    let destination: EntityDescription = relationship.destinationEntity
    guard let inverse = relationship.inverseRelationship,
      let row = try transaction.row(destination.rootEntity, key)
    else { return nil }
    let column = try destination.rootEntity.entity(numbered: row.entityNumber).layout.columns[inverse.slot]
    return row.isNull(column) ? 0 : row.key(column)
  }
}

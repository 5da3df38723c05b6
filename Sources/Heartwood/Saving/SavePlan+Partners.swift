/// One-to-one relationships: the rows that a save leaves must agree on both sides.
extension SavePlan {
  /// Reads the rows that a save leaves.
  struct SavedRows {
    /// Reads a row, as the save leaves it; nil if there is none.
    let row: (_ root: EntityDescription, _ key: UInt64) throws -> RowView?
    /// The context whose unsaved values the rows do not have yet; nil if they are written.
    var context: ManagedObjectContext?
  }

  /// The conflict with the former partner of an object, if it still refers to the object that has another one now; and with the
  /// new partner, if it refers to another one.
  func partnerConflicts(
    of object: ManagedObject, _ mapping: (UInt64) -> UInt64, _ rows: SavedRows
  ) throws -> [MergeConflict] {
    var conflicts: [MergeConflict] = []
    for relationship in object.entity.compiled.pairs {
      guard let edit = object.pending?.edit(relationship.slot) else { continue }
      let former =
        object.state.contains(.inserted) ? Value.null : object.committedValue(at: relationship.slot)
      guard edit != former else { continue }
      for (partner, isNew) in [(former, false), (edit, true)] {
        guard case .object(let id) = partner, !id.isTemporaryID,
          let other = try self.partner(of: id.key, relationship, rows)
        else { continue }
        guard (other == mapping(object.identifier.key)) != isNew else { continue }
        conflicts.append(
          MergeConflict(
            object, newest: try rows.row(object.entity.rootEntity, object.identifier.key),
            .partner(relationship.slot, id.key)))
      }
    }
    return conflicts
  }

  /// Whether the partner of a deleted object refers to it although a delete rule would have taken it out.
  func isPartnerLeft(by object: ManagedObject, _ rows: SavedRows) throws -> Bool {
    for relationship in object.entity.compiled.pairs where relationship.deleteRule != .noActionDeleteRule {
      guard case .object(let id) = object.committedValue(at: relationship.slot) else { continue }
      if try partner(of: id.key, relationship, rows) == object.identifier.key { return true }
    }
    return false
  }

  /// The key that the destination of a relationship with a to-one inverse has on its side, 0 if it has none; nil without a row.
  func partner(
    of key: UInt64, _ relationship: RelationshipDescription, _ rows: SavedRows
  ) throws -> UInt64? {
    let root = relationship.destinationEntity.rootEntity
    guard let inverse = relationship.inverseRelationship else { return nil }
    if let object = rows.context?.registered(root, key) {
      if object.state.contains(.deleted) { return nil }
      if let edit = object.pending?.edit(inverse.slot) {
        guard case .object(let id) = edit else { return 0 }
        return id.key
      }
    }
    guard let row = try rows.row(root, key) else { return nil }
    let column = try root.entity(numbered: row.entityNumber).layout.columns[inverse.slot]
    return row.isNull(column) ? 0 : row.key(column)
  }
}

/// The changes that a batch hands to the class of its store.
extension IncrementalTransaction {
  /// The changes that were not handed over yet.
  func rowChanges() -> StoreRowChanges {
    var changes = StoreRowChanges()
    for place in order {
      guard let pending = rows[place] else { continue }
      let id = contents.identifier(pending.entity, place.key)
      guard let row = pending.row?.view else {
        if !pending.isNew { changes.deletedObjects.append(id) }
        continue
      }
      let entity = pending.entity
      let slots =
        pending.isNew ? entity.storedSlots : entity.storedSlots.filter(pending.changed.contains)
      guard pending.isNew || !slots.isEmpty else { continue }
      let written = StoreRowChanges.Row(
        objectID: id, properties: slots.map(entity.property(at:)),
        values: slots.map { StoredValue(value(row, entity, $0)) })
      if pending.isNew { changes.insertedRows.append(written) } else { changes.updatedRows.append(written) }
    }
    for place in linkOrder {
      guard let pending = links[place], let owner = pending.relationship.entity,
        let destination = pending.relationship.destinationEntity
      else { continue }
      func ids(_ keys: [UInt64]) -> [ManagedObjectID] {
        keys.map { contents.identifier(destination, $0) }
      }
      changes.relationships.append(
        StoreRowChanges.Links(
          objectID: contents.identifier(owner, pending.key), relationship: pending.relationship,
          changes: SaveChangesRequest.RelationshipChanges(
            added: ids(pending.added), removed: Set(ids(pending.removed.sorted())),
            order: pending.order.map(ids))))
    }
    return changes
  }

  private func value(_ row: RowView, _ entity: EntityDescription, _ slot: Int) -> Value {
    let column = entity.layout.columns[slot]
    guard column.kind == .toOne, let destination = entity.relationship(at: slot).destinationEntity else {
      return row.value(column)
    }
    return row.isNull(column) ? .null : .object(contents.identifier(destination, row.key(column)))
  }
}

import HeartwoodEngine

/// To-one relationships that get an inverse which had links before: each object gets the one that leads to it.
extension InPlaceMigration {
  /// - Throws: `.migration` if several objects lead to one, or to one that leads elsewhere itself: which is meant is not known.
  func joinRelationships() throws {
    for relationship in changes.joinedRelationships where !relationship.isToMany {
      guard let inverse = relationship.inverseRelationship, let entity = relationship.entity else { continue }
      for former in changes.formers(of: inverse) {
        try forEachPair(of: former) { source, target in
          guard try isPairKept(former, source, target, relationship, entity, true) else { return }
          try join(relationship, of: target, to: source, by: former)
        }
      }
    }
  }

  private func join(
    _ relationship: RelationshipDescription, of key: UInt64, to value: UInt64,
    by former: RelationshipDescription
  ) throws {
    guard let root = relationship.entity?.rootEntity else { return }
    let place = KeySpace.rowKey(new.keyNumber(of: root), key)
    var written: (bytes: [UInt8], entity: EntityDescription)?
    var other: UInt64?
    try transaction.scan(.prefix(place)) { found, bytes in
      guard found.count == place.count else { return false }
      try ConvertedRows.withRow(bytes, of: new.family(of: root)) { row in
        let entity = try root.entity(numbered: row.entityNumber)
        let column = entity.layout.columns[relationship.slot]
        guard row.isNull(column) else {
          if row.key(column) != value { other = row.key(column) }
          return
        }
        var builder = RowBuilder(entity.layout)
        for slot in entity.slots where slot != relationship.slot { builder.copy(from: row, slot) }
        let destination: EntityDescription = relationship.destinationEntity
        builder.set(
          relationship.slot, .object(ManagedObjectID(entity: destination, key: value, store: identity)))
        written = (builder.finish(version: row.version), entity)
      }
      return false
    }
    if let other { return try refuse(relationship, of: key, [other, value], by: former) }
    guard let written else { return }
    try transaction.put(place, new.entity(written.entity).numbered(written.bytes))
    note { $0.rewrittenObjects[written.entity.displayName, default: 0] += 1 }
  }

  private func refuse(
    _ relationship: RelationshipDescription, of key: UInt64, _ others: [UInt64],
    by former: RelationshipDescription
  ) throws {
    guard let owner = former.destinationEntity, let source = former.entity else { return }
    let id = ManagedObjectID(entity: owner, key: key, store: identity)
    let reason =
      "is to have one \(relationship.name), the inverse of \(relationship.inverseRelationship?.displayName ?? "?"), and there are "
      + "\(others.map { "\(source.displayName) \($0)" }.joined(separator: " and ")): take it out of one, make \(relationship.displayName) to-many, or map it"
    guard let findings else {
      throw HeartwoodError(
        .migration, "the store cannot be migrated: \(owner.displayName) \(key) \(reason)", objectIDs: [id],
        property: relationship.name)
    }
    findings.add(id, relationship.name, .migration, preventsMigration: true, "it \(reason)")
  }
}

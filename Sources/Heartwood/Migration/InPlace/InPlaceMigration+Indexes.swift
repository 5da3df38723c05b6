import HeartwoodEngine

/// Indexes: those whose entries stay the same are kept, the others are dropped and built.
extension InPlaceMigration {
  func migrateIndexes() throws {
    var kept: Set<UInt16> = []
    for index in old.indexes {
      guard let same = keptIndex(index) else { continue }
      record.indexes.append(same)
      kept.insert(index.number)
    }
    let (new, undeclared) = try record.takeIndexes(of: changes.destination)
    kept.subtract(undeclared.map(\.number))
    for index in old.record.indexes where !kept.contains(index.number) {
      _ = try transaction.deleteRange(.prefix(KeySpace.head(KeySpace.index, index.number)))
    }
    let schema = try StoreSchema(changes.destination, record)
    for index in schema.indexes where new.contains(where: { $0.number == index.number }) {
      let counter = try log.counter(
        "index of \(index.propertyNames.joined(separator: ", ")) of \(index.entity.displayName)",
        of: rowCount(below: index.entity))
      try IndexBuilding(
        index: index, schema: schema, transaction: transaction, identity: identity, findings: findings,
        counter: counter
      ).run()
      note { $0.builtIndexes.append("\(index.entity.displayName).\(index.name)") }
    }
  }

  private func rowCount(below entity: EntityDescription) throws -> Int {
    try changes.formerRoots(of: entity.rootEntity).first.map(view.rowCount) ?? 0
  }

  /// The index under the destination's names; nil if its entries change.
  private func keptIndex(_ index: StoreIndex) -> SchemaRecord.Index? {
    guard !index.hasExpressions, index.condition == nil, let entity = changes.destination(of: index.entity),
      index.slots.allSatisfy({ isKept($0, of: index) })
    else {
      return nil
    }
    // Its rows are the same.
    let covered = index.entity.selfAndBelow
    let nowCovered = entity.selfAndBelow.compactMap { changes.source(of: $0) }
    guard Set(covered) == Set(nowCovered) else { return nil }
    let slots = changes.sourceSlots[entity.displayName] ?? []
    let names = index.slots.compactMap { slot in
      slots.firstIndex(of: slot).map { entity.property(at: $0).name }
    }
    guard names.count == index.slots.count else { return nil }
    let name = index.isUnique ? names.joined(separator: ",") : index.name
    return SchemaRecord.Index(
      entity: entity.displayName, name: name, kind: index.kind, number: index.number,
      properties: names)
  }

  /// Whether the values of a property stay the same in all rows.
  private func isKept(_ slot: Int, of index: StoreIndex) -> Bool {
    index.entity.selfAndBelow.allSatisfy { former in
      guard let entity = changes.destination(of: former),
        let new = changes.sourceSlots[entity.displayName]?.firstIndex(of: slot),
        entity.layout.columns[new].kind == former.layout.columns[slot].kind,
        changes.fill(new, of: entity).isNull, !changes.isComputed(new, of: entity)
      else { return false }
      guard let known = former.property(at: slot) as? RelationshipDescription,
        let relationship = entity.property(at: new) as? RelationshipDescription
      else { return true }
      return !changes.mayLose(known, relationship) && !changes.isJoined(relationship)
    }
  }
}

/// Builds one index of a migrated store, in the transaction that migrates it.
private struct IndexBuilding {
  let index: StoreIndex
  let schema: StoreSchema
  let transaction: WriteTransaction
  let identity: StoreIdentity
  let findings: MigrationFindings?
  let counter: RowCounter?
  /// How many rows are read before their entries are written: a change ends a scan.
  private static let batch = 4000

  func run() throws {
    var next: UInt64? = 0
    while let start = next { next = try writeEntries(from: start) }
    counter?.finish()
    if index.isUnique { try checkUniqueness() }
  }

  /// - Returns: The key to go on from; nil at the end.
  private func writeEntries(from start: UInt64) throws -> UInt64? {
    let root = index.entity.rootEntity
    let number = schema.keyNumber(of: root)
    let family = schema.family(of: root)
    var range = KeyRange.prefix(KeySpace.head(KeySpace.row, number))
    range.lower = KeyRange.Bound(KeySpace.rowKey(number, start), isInclusive: true)
    var entries = KeyChanges()
    var read = 0
    var last: UInt64 = 0
    try transaction.scan(range, reversed: false) { key, bytes in
      last = try KeySpace.lastNumber(key)
      read += 1
      counter?.advance()
      try ConvertedRows.withRow(bytes, of: family) { row in
        if try root.entity(numbered: row.entityNumber).isKindOf(entity: index.entity) {
          entries.add(.put, index, row, last)
        }
      }
      return read < Self.batch
    }
    try entries.write(to: transaction)
    return read < Self.batch ? nil : last + 1
  }

  /// - Throws: `.migrationConstraintViolation` if two rows have the same values.
  private func checkUniqueness() throws {
    var previous: [UInt8] = []
    var duplicates: [ManagedObjectID] = []
    let names = index.propertyNames.joined(separator: ", ")
    let property = index.propertyNames.count == 1 ? index.propertyNames[0] : nil
    try transaction.scan(.prefix(KeySpace.head(KeySpace.index, index.number)), reversed: false) { entry, _ in
      if entry.count == previous.count,
        entry.dropLast(IndexKey.keySize).elementsEqual(previous.dropLast(IndexKey.keySize))
      {
        for key in [
          try previous.withUnsafeBytes { try KeySpace.lastNumber($0) }, try KeySpace.lastNumber(entry),
        ] {
          let id = ManagedObjectID(entity: index.entity, key: key, store: identity)
          guard duplicates.last != id else { continue }
          guard let findings else {
            duplicates.append(id)
            continue
          }
          duplicates = [id]
          findings.add(
            id, property, .migrationConstraintViolation, preventsMigration: true,
            "\(names) must be unique, and another object has the same")
        }
      }
      previous = Array(entry)
      return duplicates.count < InPlaceMigration.mostNamed
    }
    guard !duplicates.isEmpty, findings == nil else { return }
    let objects = duplicates.prefix(4).map { "\($0.key)" }.joined(separator: ", ")
    throw HeartwoodError(
      .migrationConstraintViolation,
      "the store cannot be migrated: \(names) of \(index.entity.displayName) must be unique in the new model, and objects "
        + "\(objects)\(duplicates.count > 4 ? " and others" : "") have equal values: make them different first, or map the entity",
      objectIDs: duplicates, property: property)
  }
}

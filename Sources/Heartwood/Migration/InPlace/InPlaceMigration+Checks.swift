/// Objects that the new model does not allow.
extension InPlaceMigration {
  /// How many objects an error names.
  static var mostNamed: Int { 100 }

  /// - Throws: `.migration` if an object has no value in a mandatory attribute without a default, has one that its attribute's new type does not have
  ///   exactly, or is of an entity that becomes abstract.
  func checkObjects() throws {
    for entity in changes.sorted(changes.destination) {
      guard let former = changes.source(of: entity), !former.isAbstract else { continue }
      if entity.isAbstract {
        try refuse(former, nil, "is of the entity \(entity.displayName), which is abstract") { _ in true }
      }
      for slot in entity.slots {
        try checkMandatory(slot, of: entity, former)
        try checkExactness(slot, of: entity, former)
      }
    }
  }

  private func checkExactness(_ slot: Int, of entity: EntityDescription, _ former: EntityDescription) throws {
    guard let attribute = entity.attribute(at: slot), let match = changes.sourceSlot(slot, of: entity),
      let old = former.attribute(at: match), !old.columnKind.widensLosslessly(to: attribute.columnKind),
      old.columnKind.mayWiden(to: attribute.columnKind)
    else { return }
    let column = former.layout.columns[match]
    try refuse(
      former, attribute.name,
      "has a value in \(old.displayName) that the type \(attribute.type) does not have exactly: map it, or keep the type"
    ) { !$0.value(column).isExact(as: attribute.columnKind) }
  }

  private func checkMandatory(_ slot: Int, of entity: EntityDescription, _ former: EntityDescription) throws {
    guard let attribute = entity.attribute(at: slot), !attribute.isOptional, !attribute.isTransient,
      attribute.derivation == nil,
      attribute.type != .composite, entity.defaultValue(at: slot).isNull
    else { return }
    let wholes = entity.compositeSlots(around: slot)
    let reason =
      "has no value in \(attribute.displayName), which is mandatory and has no constant default: give it one in the new model; or, for a value of each object's "
      + "own, make it optional, set it in didMigrateHandler of a custom stage, and make it mandatory in the next version; or map the "
      + "entity with a closure"
    // Objects without a value of a composite attribute around it need none.
    let missing: [(isOptional: Bool, column: Column?)] = wholes.map { whole in
      let column = changes.sourceSlot(whole, of: entity).map { former.layout.columns[$0] }
      return (entity.property(at: whole).isOptional, column)
    }
    let isNeeded: (RowView) -> Bool = { row in
      !missing.contains { whole in whole.isOptional && whole.column.map(row.isNull) ?? true }
    }
    guard let match = changes.sourceSlot(slot, of: entity) else {
      return try refuse(former, attribute.name, reason, where: isNeeded)
    }
    let around = wholes.compactMap { changes.sourceProperty(at: $0, of: entity) }
    guard former.property(at: match).isOptional || around.contains(where: \.isOptional) else { return }
    let column = former.layout.columns[match]
    try refuse(former, attribute.name, reason) { $0.isNull(column) && isNeeded($0) }
  }

  /// Throws if a row of an entity is refused.
  private func refuse(
    _ former: EntityDescription, _ property: String?, _ reason: String, where isRefused: (RowView) -> Bool
  ) throws {
    var named: [ManagedObjectID] = []
    let counter = try log.counter(
      "mandatory properties of \(former.rootEntity.displayName)", of: view.rowCount(of: former.rootEntity))
    defer { counter?.finish() }
    try view.scanRows(of: former.rootEntity, from: nil, reversed: false) { found in
      counter?.advance()
      guard found.row.entityNumber == former.number, isRefused(found.row) else { return true }
      let id = ManagedObjectID(entity: former, key: found.key, store: identity)
      if let findings {
        findings.add(id, property, .migration, preventsMigration: true, "it \(reason)")
        return true
      }
      named.append(id)
      return named.count < Self.mostNamed
    }
    guard let first = named.first else { return }
    let others = named.count > 1 ? " and at least \(named.count - 1) more" : ""
    throw HeartwoodError(
      .migration, "the store cannot be migrated: \(former.displayName) \(first.key)\(others) \(reason)",
      objectIDs: named, property: property)
  }
}

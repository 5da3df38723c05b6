/// Objects that the new model does not allow.
extension InPlaceMigration {
  /// How many objects an error names.
  static var mostNamed: Int { 100 }

  /// - Throws: `.migration` if an object has no value in a mandatory attribute without a default, or is of an entity that becomes
  ///   abstract.
  func checkMandatory() throws {
    for entity in changes.sorted(changes.destination) {
      guard let former = changes.source(of: entity), !former.isAbstract else { continue }
      if entity.isAbstract {
        try refuse(former, nil, "is of the entity \(entity.displayName), which is abstract") { _ in true }
      }
      for slot in entity.slots { try checkMandatory(slot, of: entity, former) }
    }
  }

  private func checkMandatory(_ slot: Int, of entity: EntityDescription, _ former: EntityDescription) throws {
    guard let attribute = entity.attribute(at: slot), !attribute.isOptional, !attribute.isTransient,
      attribute.type != .composite, attribute.composite?.isOptional != true,
      entity.defaultValue(at: slot).isNull
    else { return }
    let reason =
      "has no value in \(attribute.displayName), which is mandatory and has no constant default: give it one in the new model; or, for a value of each object's "
      + "own, make it optional, set it in didMigrateHandler of a custom stage, and make it mandatory in the next version; or map the "
      + "entity with a closure"
    guard let match = changes.sourceSlot(slot, of: entity) else {
      return try refuse(former, attribute.name, reason) { _ in true }
    }
    guard former.property(at: match).isOptional else { return }
    let column = former.layout.columns[match]
    try refuse(former, attribute.name, reason) { $0.isNull(column) }
  }

  /// Throws if a row of an entity is refused.
  private func refuse(
    _ former: EntityDescription, _ property: String?, _ reason: String, where isRefused: (RowView) -> Bool
  ) throws {
    var named: [ManagedObjectID] = []
    try view.scanRows(of: former.rootEntity, from: nil, reversed: false) { found in
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

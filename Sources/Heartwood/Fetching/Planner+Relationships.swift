/// Candidate accesses by relationships.
extension Planner {
  /// The rows whose to-one relationship has one of `keys` as destination, found by the inverse.
  func related(
    _ entity: EntityDescription, _ slot: Int, _ keys: [UInt64], _ reason: String, _ number: Int
  ) throws -> Candidate? {
    guard let inverse = entity.relationship(at: slot).inverseRelationship, inverse.isToMany else {
      return nil
    }
    return try destinations(of: inverse, keys, reason, number)
  }

  /// The rows that have one of `keys` in a to-many relationship, found by the inverse.
  func holders(
    of keys: [UInt64], _ entity: EntityDescription, _ slot: Int, _ reason: String, _ number: Int
  ) throws -> Candidate? {
    guard let inverse = entity.relationship(at: slot).inverseRelationship else { return nil }
    if inverse.isToMany {
      var candidate = try destinations(of: inverse, keys, reason, number)
      // A row that has several of the keys is counted several times, but delivered once.
      if keys.count > 1 { candidate.isCountExact = false }
      return candidate
    }
    let owners = try owners(of: keys, inverse)
    return Candidate(
      access: .identifiers(owners), covers: entity.rootEntity, count: owners.count, isCountExact: false,
      isSure: false, consumed: [number])
  }

  /// The rows whose to-one destination satisfies a condition: finds the destinations, then follows the inverse.
  func joinOverToOne(
    _ entity: EntityDescription, _ slot: Int, _ condition: Conjunct, _ number: Int
  ) throws -> Candidate? {
    guard let found = try destinations(of: entity, slot, satisfying: condition) else { return nil }
    guard var candidate = try related(entity, slot, found.keys, found.reason, number) else { return nil }
    candidate.isCountExact = found.isExact
    candidate.isSure = found.isExact
    return candidate
  }

  /// The rows with a to-many destination that satisfies a condition: finds the destinations, then follows the inverse.
  func joinOverToMany(
    _ entity: EntityDescription, _ slot: Int, _ condition: Conjunct, _ number: Int
  ) throws -> Candidate? {
    guard let found = try destinations(of: entity, slot, satisfying: condition) else { return nil }
    guard var candidate = try holders(of: found.keys, entity, slot, found.reason, number) else { return nil }
    candidate.isCountExact = candidate.isCountExact && found.isExact
    candidate.isSure = candidate.isSure && found.isExact
    return candidate
  }

  private func destinations(
    of relationship: RelationshipDescription, _ keys: [UInt64], _ reason: String, _ number: Int
  ) throws -> Candidate {
    let keys = Set(keys).filter(\.isPermanentKey).sorted()
    var count = 0
    for key in keys { count += try view.destinationCount(relationship, of: key) }
    return Candidate(
      access: .destinations(relationship, of: keys, because: reason), covers: relationship.destinationEntity,
      count: count, isCountExact: true, isSure: true, consumed: [number])
  }

  /// The destinations of a relationship that satisfy a condition; nil if finding them is not cheap, or if the context has
  /// unsaved changes of their root entity.
  private func destinations(
    of entity: EntityDescription, _ slot: Int, satisfying condition: Conjunct
  ) throws -> (keys: [UInt64], reason: String, isExact: Bool)? {
    let relationship = entity.relationship(at: slot)
    guard let destination = relationship.destinationEntity,
      !changedRoots.contains(destination.rootEntity.number),
      let way = try best(for: condition.parts, destination), way.count <= Self.greatestJoin,
      way.entriesFirst <= Self.greatestJoin
    else { return nil }
    var keys: [UInt64] = []
    try way.access.forEachKey(in: view, destination) { key in
      keys.append(key)
      return true
    }
    let reason = "by \(relationship.name) from (\(way.access.explain(destination)))"
    return (keys, reason, way.isSure && way.consumed.count == condition.parts.count)
  }

  /// The maximum number of rows of a join that is executed while planning.
  private static var greatestJoin: Int { 1000 }

  /// The to-one destinations of the rows with `keys`, ascending and without duplicates.
  private func owners(of keys: [UInt64], _ relationship: RelationshipDescription) throws -> [UInt64] {
    guard let entity = relationship.entity else { return [] }
    var owners: Set<UInt64> = []
    for key in keys where key.isPermanentKey {
      guard let row = try view.row(entity.rootEntity, key) else { continue }
      defer { view.releaseRows() }
      let concrete = try entity.rootEntity.entity(numbered: row.entityNumber)
      guard concrete.isKindOf(entity: entity) else { continue }
      let column = concrete.layout.columns[relationship.slot]
      if !row.isNull(column) { owners.insert(row.key(column)) }
    }
    return owners.sorted()
  }
}

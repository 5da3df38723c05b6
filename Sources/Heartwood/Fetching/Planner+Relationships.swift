/// The ways to rows by what they are related to.
extension Planner {
  /// Rows whose to-one relationship leads to one of `keys`, from the other side.
  func related(
    _ entity: EntityDescription, _ slot: Int, _ keys: [UInt64], _ reason: String, _ number: Int
  ) throws -> Candidate? {
    guard let inverse = entity.relationship(at: slot).inverseRelationship, inverse.isToMany else {
      return nil
    }
    return try destinations(of: inverse, keys, reason, number)
  }

  /// Rows that have one of `keys` in a to-many relationship, from the other side.
  func holders(
    of keys: [UInt64], _ entity: EntityDescription, _ slot: Int, _ reason: String, _ number: Int
  ) throws -> Candidate? {
    guard let inverse = entity.relationship(at: slot).inverseRelationship else { return nil }
    if inverse.isToMany {
      var candidate = try destinations(of: inverse, keys, reason, number)
      // A row that has several of them is counted so often, but given once.
      if keys.count > 1 { candidate.isCountExact = false }
      return candidate
    }
    let owners = try owners(of: keys, inverse)
    return Candidate(
      access: .identifiers(owners), covers: entity.rootEntity, count: owners.count, isCountExact: false,
      consumed: [number])
  }

  /// Rows by a condition on the object that a to-one relationship leads to: first those, then back.
  func joinOverToOne(
    _ entity: EntityDescription, _ slot: Int, _ condition: Conjunct, _ number: Int
  ) throws -> Candidate? {
    guard let found = try destinations(of: entity, slot, satisfying: condition) else { return nil }
    guard var candidate = try related(entity, slot, found.keys, found.reason, number) else { return nil }
    candidate.isCountExact = found.isExact
    return candidate
  }

  /// Rows by a condition on any destination of a to-many relationship: first those, then back.
  func joinOverToMany(
    _ entity: EntityDescription, _ slot: Int, _ condition: Conjunct, _ number: Int
  ) throws -> Candidate? {
    guard let found = try destinations(of: entity, slot, satisfying: condition) else { return nil }
    guard var candidate = try holders(of: found.keys, entity, slot, found.reason, number) else { return nil }
    candidate.isCountExact = candidate.isCountExact && found.isExact
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
      count: count, isCountExact: true, consumed: [number])
  }

  /// The objects on the other side of a relationship that satisfy a condition; nil where finding them is
  /// not cheap, or where the context has changed some of their kind.
  private func destinations(
    of entity: EntityDescription, _ slot: Int, satisfying condition: Conjunct
  ) throws -> (keys: [UInt64], reason: String, isExact: Bool)? {
    let relationship = entity.relationship(at: slot)
    guard let destination = relationship.destinationEntity, !changedRoots.contains(destination.rootEntity),
      let way = try candidates(for: [condition], entity: destination).min(by: { $0.count < $1.count }),
      way.count <= Self.greatestJoin
    else { return nil }
    var keys: [UInt64] = []
    try way.access.forEachKey(in: view, destination) { key in
      keys.append(key)
      return true
    }
    let reason = "by \(relationship.name) from (\(way.access.explain(destination)))"
    return (keys, reason, way.isCountExact)
  }

  /// Joins from more rows than these are not worked out while planning.
  private static var greatestJoin: Int { 1000 }

  /// The rows that a to-one relationship leads to from `keys`, ascending and each once.
  private func owners(of keys: [UInt64], _ relationship: RelationshipDescription) throws -> [UInt64] {
    guard let entity = relationship.entity else { return [] }
    var owners: Set<UInt64> = []
    for key in keys where key.isPermanentKey {
      guard let row = try view.row(entity.rootEntity, key) else { continue }
      let concrete = try entity.rootEntity.entity(numbered: row.entityNumber)
      guard concrete.isKindOf(entity: entity) else { continue }
      let column = concrete.layout.columns[relationship.slot]
      if !row.isNull(column) { owners.insert(row.key(column)) }
    }
    return owners.sorted()
  }
}

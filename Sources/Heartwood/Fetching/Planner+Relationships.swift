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
    return try owned(inverse, of: .identifiers(keys), isSure: false, number)
  }

  /// The to-one destinations of the rows of an access.
  private func owned(
    _ relationship: RelationshipDescription, of access: RowAccess, isSure: Bool, _ number: Int
  ) throws -> Candidate {
    let owners = try owners(relationship, of: access)
    return Candidate(
      access: .identifiers(owners), covers: relationship.destinationEntity, count: owners.count,
      isCountExact: false, isSure: isSure, consumed: [number])
  }

  /// The rows whose to-one destination satisfies a condition: finds the destinations, then follows the inverse.
  func joinOverToOne(
    _ entity: EntityDescription, _ slot: Int, _ condition: Conjunct, _ number: Int, _ fewest: Int
  ) throws -> Candidate? {
    guard let found = try join(entity, slot, condition, fewest),
      var candidate = try related(entity, slot, try found.keys(in: view), found.reason, number)
    else { return nil }
    candidate.isCountExact = found.isExact
    candidate.isSure = found.isExact
    return candidate
  }

  /// The rows with a to-many destination that satisfies a condition: finds the destinations, then follows the inverse.
  func joinOverToMany(
    _ entity: EntityDescription, _ slot: Int, _ condition: Conjunct, _ number: Int, _ fewest: Int
  ) throws -> Candidate? {
    guard let found = try join(entity, slot, condition, fewest),
      let inverse = found.relationship.inverseRelationship
    else { return nil }
    guard inverse.isToMany else {
      return try owned(
        inverse, of: found.way.access, isSure: found.isExact && inverse.mayNotDangle, number)
    }
    guard var candidate = try holders(of: try found.keys(in: view), entity, slot, found.reason, number) else {
      return nil
    }
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

  /// The destinations of a relationship that satisfy a condition.
  private struct Join {
    let relationship: RelationshipDescription
    let destination: EntityDescription
    let way: Candidate
    /// Whether each destination that is found satisfies the condition.
    let isExact: Bool

    var reason: String { "by \(relationship.name) from (\(way.access.explain(destination)))" }

    func keys(in view: any StoreView) throws -> [UInt64] {
      var keys: [UInt64] = []
      try way.access.forEachKey(in: view, destination) { key in
        keys.append(key)
        return true
      }
      return keys
    }
  }

  /// - Parameter fewest: The fewest rows of another access.
  /// - Returns: Nil if finding the destinations is not cheap, or if the context has unsaved changes of their root entity.
  private func join(
    _ entity: EntityDescription, _ slot: Int, _ condition: Conjunct, _ fewest: Int
  ) throws -> Join? {
    let relationship = entity.relationship(at: slot)
    guard let destination = relationship.destinationEntity,
      !changedRoots.contains(destination.rootEntity.number),
      let way = try best(for: condition.parts, destination)
    else { return nil }
    let most = try greatestJoin(entity, fewest)
    guard way.count <= most, way.entriesFirst <= most else { return nil }
    return Join(
      relationship: relationship, destination: destination, way: way,
      isExact: way.isSure && way.consumed.count == condition.parts.count)
  }

  /// The maximum number of destinations of a join, which is executed while planning: four times as many as rows that would otherwise be asked for
  /// their destinations, which costs so much more for each, or 1,000. Of a request with a limit 1,000, as few rows may fill its window.
  private func greatestJoin(_ entity: EntityDescription, _ fewest: Int) throws -> Int {
    guard request.window == nil else { return 1000 }
    return max(1000, 4 * min(fewest, try view.rowCount(of: entity.rootEntity)))
  }

  /// The to-one destinations of the rows of an access, ascending and without duplicates. Read in the entries of an index that has them.
  private func owners(_ relationship: RelationshipDescription, of access: RowAccess) throws -> [UInt64] {
    guard let entity = relationship.entity else { return [] }
    var entries: EntryRows?
    if let index = access.index, index.slots.contains(relationship.slot), !view.convertsRows,
      index.entity.isKindOf(entity: entity)
    {
      entries = EntryRows(index)
    }
    var owners: [UInt64] = []
    try access.forEachRow(in: view, entity, covering: entries) { found in
      defer { view.releaseRows() }
      let concrete = try entity.rootEntity.entity(numbered: found.row.entityNumber)
      guard concrete.isKindOf(entity: entity) else { return true }
      let column = concrete.layout.columns[relationship.slot]
      if !found.row.isNull(column) { owners.append(found.row.key(column)) }
      return true
    }
    return owners.ascendingOnce
  }
}

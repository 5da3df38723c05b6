/// The ways to the rows that satisfy some of a request's conditions.
extension Planner {
  /// All ways that narrow the rows of `entity` by a condition.
  func candidates(for conjuncts: [Conjunct], entity: EntityDescription) throws -> [Candidate] {
    var found: [Candidate] = []
    for (number, conjunct) in conjuncts.enumerated() {
      if let candidate = try direct(conjunct, number, entity) { found.append(candidate) }
    }
    let conditions = SlotConditions(conjuncts)
    for index in indexes(entity) {
      if let candidate = try indexCandidate(index, conditions) { found.append(candidate) }
    }
    return found
  }

  /// The ways that give the requested order by walking an index.
  func orderCandidates(_ conjuncts: [Conjunct]) throws -> [Candidate] {
    guard let sort = request.sort else { return [] }
    let conditions = SlotConditions(conjuncts)
    var found: [Candidate] = []
    for index in indexes(request.entity) {
      guard let direction = Self.direction(of: sort, on: index, conditions) else { continue }
      let (range, consumed) = conditions.range(on: index)
      guard var candidate = try candidate(index, [range], consumed) else { continue }
      candidate.access = .index(index, [range], reversed: direction == .backwards)
      candidate.isInOrder = true
      found.append(candidate)
    }
    return found
  }

  // MARK: Without an index

  private func direct(_ conjunct: Conjunct, _ number: Int, _ entity: EntityDescription) throws -> Candidate? {
    switch conjunct {
    case .identity(let keys):
      let keys = Set(keys).filter(\.isPermanentKey).sorted()
      return Candidate(
        access: .identifiers(keys), covers: entity.rootEntity, count: keys.count, isCountExact: false,
        consumed: [number])
    case .equal(let slot, .object(let id)):
      return try related(entity, slot, [id.key], "by \(entity.property(at: slot).name)", number)
    case .isIn(let slot, let values):
      guard let keys = Self.keys(values) else { return nil }
      return try related(entity, slot, keys, "by \(entity.property(at: slot).name)", number)
    case .throughToOne(let slot, let condition):
      return try join(entity, slot, condition, number)
    case .containsDestination(let slot, let key):
      return try holders(of: key, entity, slot, number)
    default:
      return nil
    }
  }

  /// Rows whose to-one relationship leads to one of `keys`, from the other side.
  private func related(
    _ entity: EntityDescription, _ slot: Int, _ keys: [UInt64], _ reason: String, _ number: Int
  ) throws -> Candidate? {
    guard let inverse = entity.relationship(at: slot).inverseRelationship, inverse.isToMany else {
      return nil
    }
    let keys = Set(keys).filter(\.isPermanentKey).sorted()
    var count = 0
    for key in keys { count += try view.destinationCount(inverse, of: key) }
    return Candidate(
      access: .destinations(inverse, of: keys, because: reason), covers: inverse.destinationEntity,
      count: count, isCountExact: true, consumed: [number])
  }

  /// Rows by a condition on the object that a to-one relationship leads to: first those, then back.
  private func join(
    _ entity: EntityDescription, _ slot: Int, _ condition: Conjunct, _ number: Int
  ) throws -> Candidate? {
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
    guard var candidate = try related(entity, slot, keys, reason, number) else { return nil }
    // What the way to the other side promises is checked again on it by the whole predicate.
    candidate.isCountExact = false
    return candidate
  }

  /// Joins from more rows than these are not worked out while planning.
  private static var greatestJoin: Int { 1000 }

  /// Rows that have `key` in a to-many relationship, from the other side.
  private func holders(
    of key: UInt64, _ entity: EntityDescription, _ slot: Int, _ number: Int
  ) throws -> Candidate? {
    let relationship = entity.relationship(at: slot)
    guard let inverse = relationship.inverseRelationship, let destination = relationship.destinationEntity,
      key.isPermanentKey
    else { return nil }
    if inverse.isToMany {
      let count = try view.destinationCount(inverse, of: key)
      return Candidate(
        access: .destinations(inverse, of: [key], because: "by \(relationship.name)"),
        covers: inverse.destinationEntity, count: count, isCountExact: true, consumed: [number])
    }
    var keys: [UInt64] = []
    if let row = try view.row(destination.rootEntity, key) {
      let concrete = try destination.rootEntity.entity(numbered: row.entityNumber)
      let column = concrete.layout.columns[inverse.slot]
      if !row.isNull(column) { keys = [row.key(column)] }
    }
    return Candidate(
      access: .identifiers(keys), covers: entity.rootEntity, count: keys.count, isCountExact: false,
      consumed: [number])
  }

  private static func keys(_ values: [Value]) -> [UInt64]? {
    var keys: [UInt64] = []
    for value in values {
      guard case .object(let id) = value else { return nil }
      keys.append(id.key)
    }
    return keys
  }

  // MARK: By an index

  /// The one row that a uniqueness constraint allows, if the conditions name it: nothing can be cheaper,
  /// so nothing needs to be counted.
  func uniqueLookup(_ conjuncts: [Conjunct], _ entity: EntityDescription) -> Candidate? {
    let conditions = SlotConditions(conjuncts)
    for index in indexes(entity) where index.isUnique {
      let (range, consumed) = conditions.range(on: index)
      guard range.equal.count == index.slots.count, range.leavesOutNull(in: index) else { continue }
      return Candidate(
        access: .index(index, [range], reversed: false), covers: index.entity, count: 1,
        isCountExact: false, consumed: consumed)
    }
    return nil
  }

  private func indexCandidate(_ index: StoreIndex, _ conditions: SlotConditions) throws -> Candidate? {
    let (range, consumed) = conditions.range(on: index)
    if range.equal.count < index.slots.count, !range.leavesOutNull,
      let (number, values) = conditions.list(index.slots[range.equal.count])
    {
      let ranges = values.map { IndexRange(equal: range.equal + [$0]) }
      return try candidate(index, ranges, consumed.union([number]))
    }
    guard !consumed.isEmpty else { return nil }
    return try candidate(index, [range], consumed)
  }

  private func candidate(
    _ index: StoreIndex, _ ranges: [IndexRange], _ consumed: Set<Int>
  ) throws -> Candidate? {
    if index.isUnique && !ranges.allSatisfy({ $0.leavesOutNull(in: index) }) { return nil }
    var count = 0
    var isExact = true
    for range in ranges {
      if let exact = try view.indexCount(index, range) {
        count += exact
      } else {
        // A cut key: as many rows as share its first bytes, which are few.
        isExact = false
        count += 1
      }
    }
    return Candidate(
      access: .index(index, ranges, reversed: false), covers: index.entity, count: count,
      isCountExact: isExact, consumed: consumed)
  }

  private enum Direction { case forwards, backwards }

  /// Which way the index has to be walked to give the order; nil where it cannot give it.
  ///
  /// An element that an equality fixes is in every order.
  private static func direction(
    of sort: CompiledSort, on index: StoreIndex, _ conditions: SlotConditions
  ) -> Direction? {
    let fixed = conditions.range(on: index).range.equal.count
    var next = 0
    var direction: Direction?
    for key in sort.keys {
      guard let slot = key.slot else { return nil }
      while next < min(fixed, index.slots.count), index.slots[next] != slot { next += 1 }
      guard next < index.slots.count, index.slots[next] == slot else { return nil }
      next += 1
      let wanted: Direction = key.ascending ? .forwards : .backwards
      if next - 1 < fixed { continue }
      guard direction == nil || direction == wanted else { return nil }
      direction = wanted
    }
    // Entries that are equal in the keys must stand by their row's key, as the last element does.
    guard max(next, fixed) == index.slots.count else { return nil }
    return direction ?? (sort.keys.last?.ascending == false ? .backwards : .forwards)
  }
}

extension IndexRange {
  /// Whether no entry with a missing value can be in the range: unique indexes have no such entries.
  fileprivate func leavesOutNull(in index: StoreIndex) -> Bool {
    equal.count + (leavesOutNull ? 1 : 0) == index.slots.count && !equal.contains(where: \.isNull)
  }
}

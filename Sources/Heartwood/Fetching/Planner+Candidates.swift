/// Candidate accesses for a request's conditions.
extension Planner {
  /// All accesses that restrict the rows of `entity` by a condition.
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

  /// All index walks that deliver the requested order.
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
      guard let keys = values.objectKeys else { return nil }
      return try related(entity, slot, keys, "by \(entity.property(at: slot).name)", number)
    case .throughToOne(let slot, let condition):
      return try joinOverToOne(entity, slot, condition, number)
    case .throughToMany(let slot, let condition):
      return try joinOverToMany(entity, slot, condition, number)
    case .containsDestination(let slot, let key):
      return try holders(of: [key], entity, slot, "by \(entity.property(at: slot).name)", number)
    default:
      return nil
    }
  }

  // MARK: By an index

  /// The look-up of the single row that a uniqueness constraint allows, if the conditions give all its values. No other
  /// access is cheaper, so the others need not be counted.
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
        // A truncated key: as many rows as share its first bytes, which are few.
        isExact = false
        count += 1
      }
    }
    return Candidate(
      access: .index(index, ranges, reversed: false), covers: index.entity, count: count,
      isCountExact: isExact, consumed: consumed)
  }

  private enum Direction { case forwards, backwards }

  /// The direction in which walking the index gives the order; nil if it cannot give it.
  ///
  /// An element that an equality fixes fits every order.
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
    // Entries that are equal in the sort keys must be ordered by row key, which follows the last element.
    guard max(next, fixed) == index.slots.count else { return nil }
    return direction ?? (sort.keys.last?.ascending == false ? .backwards : .forwards)
  }
}

extension IndexRange {
  /// Whether the range cannot contain an entry with a missing value: unique indexes have no such entries.
  fileprivate func leavesOutNull(in index: StoreIndex) -> Bool {
    equal.count + (leavesOutNull ? 1 : 0) == index.slots.count && !equal.contains(where: \.isNull)
  }
}

extension [Value] {
  /// The keys of the objects; nil if there are other values among them.
  fileprivate var objectKeys: [UInt64]? {
    var keys: [UInt64] = []
    for value in self {
      guard case .object(let id) = value else { return nil }
      keys.append(id.key)
    }
    return keys
  }
}

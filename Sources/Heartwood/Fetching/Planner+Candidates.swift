/// Candidate accesses for a request's conditions.
extension Planner {
  /// All accesses that restrict the rows of `entity` by a condition.
  ///
  /// - Parameter isWhole: Whether the conjuncts are those of the request.
  func candidates(
    for conjuncts: [Conjunct], entity: EntityDescription, isWhole: Bool = false
  ) throws -> [Candidate] {
    var found: [Candidate] = []
    let usable = usableIndexes(entity, conjuncts, isWhole: isWhole)
    for (number, conjunct) in conjuncts.enumerated() {
      if let candidate = try direct(conjunct, number, entity, usable) { found.append(candidate) }
    }
    let conditions = SlotConditions(conjuncts)
    for (index, same) in usable {
      var candidate: Candidate?
      switch index.kind {
      case .ordered, .unique: candidate = try indexCandidate(index, conditions, satisfied: same)
      case .ranges: candidate = try rangesCandidate(index, conditions)
      case .words: break
      }
      candidate?.consumed.formUnion(same)
      if let candidate { found.append(candidate) }
    }
    // The last ones, as they are executed at once: those that others make needless are not.
    for (number, conjunct) in conjuncts.enumerated() {
      let fewest = found.map(\.count).min() ?? .max
      if let candidate = try join(conjunct, number, entity, fewest) { found.append(candidate) }
    }
    return found
  }

  private func join(
    _ conjunct: Conjunct, _ number: Int, _ entity: EntityDescription, _ fewest: Int
  ) throws -> Candidate? {
    switch conjunct {
    case .throughToOne(let slot, let condition):
      try joinOverToOne(entity, slot, condition, number, fewest)
    case .throughToMany(let slot, let condition):
      try joinOverToMany(entity, slot, condition, number, fewest)
    default: nil
    }
  }

  /// An index that has all rows of which some conjuncts are true, and the numbers of those that all its rows satisfy.
  typealias UsableIndex = (index: StoreIndex, same: Set<Int>)

  /// - Parameter isWhole: Whether the conjuncts are those of the request.
  func usableIndexes(
    _ entity: EntityDescription, _ conjuncts: [Conjunct], isWhole: Bool
  ) -> [UsableIndex] {
    indexes(entity).compactMap { index in
      guard let condition = index.condition else { return (index, []) }
      let same = condition.consequence(of: conjuncts, isWhole ? request.predicate?.condition : nil)
      return same.map { (index, $0) }
    }
  }

  /// All index walks that deliver the requested order, or its first keys.
  func orderCandidates(_ conjuncts: [Conjunct]) throws -> [Candidate] {
    guard let sort = request.sort else { return [] }
    let conditions = SlotConditions(conjuncts)
    var found: [Candidate] = []
    for (index, same) in usableIndexes(request.entity, conjuncts, isWhole: true) where index.isOrdered {
      guard let served = Self.order(of: sort, on: index, conditions) else { continue }
      let (range, consumed) = conditions.range(on: index)
      guard var candidate = try candidate(index, [range], consumed.union(same)) else { continue }
      candidate.access = .index(index, [range], reversed: served.direction == .backwards)
      candidate.order = try order(served, index, range, candidate.count)
      found.append(candidate)
    }
    return found
  }

  private func order(
    _ served: ServedOrder, _ index: StoreIndex, _ range: IndexRange, _ count: Int
  ) throws -> IndexOrder {
    if served.isWhole { return .whole }
    // The run where a walk would end if half of the rows matched: one sample instead of statistics.
    let window = min(request.window ?? 0, count)
    let place = min(count, 2 * window)
    let rank = max(0, served.direction == .forwards ? min(place, count - 1) : count - 1 - place)
    let length = try view.indexRunLength(index, range, elements: served.elements, atRank: rank)
    return .runs(keys: served.keys, length: length)
  }

  // MARK: Without an index

  private func direct(
    _ conjunct: Conjunct, _ number: Int, _ entity: EntityDescription, _ usable: [UsableIndex]
  ) throws -> Candidate? {
    switch conjunct {
    case .identity(let keys):
      let keys = Set(keys).filter(\.isPermanentKey).sorted()
      return Candidate(
        access: .identifiers(keys), covers: entity.rootEntity, count: keys.count, isCountExact: false,
        isSure: false, consumed: [number])
    case .equal(let slot, .object(let id)):
      return try related(entity, slot, [id.key], "by \(entity.property(at: slot).name)", number)
    case .isIn(let slot, let values):
      guard let keys = values.objectKeys else { return nil }
      return try related(entity, slot, keys, "by \(entity.property(at: slot).name)", number)
    case .word(let slot, let word, let isPrefix):
      return try containing(word, isPrefix, entity, slot, number, usable)
    case .any(let parts):
      return try union(of: parts, entity, number)
    case .containsDestination(let slot, let key):
      return try holders(of: [key], entity, slot, "by \(entity.property(at: slot).name)", number)
    default:
      return nil
    }
  }

  // MARK: By an index

  /// The rows whose text has a word, by a full-text index.
  private func containing(
    _ word: String, _ isPrefix: Bool, _ entity: EntityDescription, _ slot: Int, _ number: Int,
    _ usable: [UsableIndex]
  ) throws -> Candidate? {
    guard let (index, same) = usable.first(where: { $0.index.kind == .words && $0.index.slots == [slot] })
    else { return nil }
    let range = isPrefix ? IndexRange(prefix: word) : IndexRange(equal: [.string(word)])
    guard var candidate = try candidate(index, [range], same.union([number])) else { return nil }
    guard isPrefix else { return candidate }
    // A row may have several words that begin so.
    candidate.access = .union([candidate.access])
    candidate.entriesFirst = candidate.count
    candidate.count = min(candidate.count, try view.rowCount(of: entity.rootEntity))
    candidate.isCountExact = false
    return candidate
  }

  /// The look-up of the single row that a uniqueness constraint allows, if the conditions give all its values. No other
  /// access is cheaper, so the others need not be counted.
  func uniqueLookup(_ conjuncts: [Conjunct], _ entity: EntityDescription) -> Candidate? {
    let conditions = SlotConditions(conjuncts)
    for index in indexes(entity) where index.isUnique {
      let (range, consumed) = conditions.range(on: index)
      guard range.equal.count == index.slots.count, range.leavesOutNull(in: index) else { continue }
      return Candidate(
        access: .index(index, [range], reversed: false), covers: index.entity, count: 1,
        isCountExact: false, isSure: false, consumed: consumed)
    }
    return nil
  }

  /// - Parameter same: The conjuncts that all rows of the index satisfy.
  private func indexCandidate(
    _ index: StoreIndex, _ conditions: SlotConditions, satisfied same: Set<Int>
  ) throws -> Candidate? {
    let (range, consumed) = conditions.range(on: index)
    if range.equal.count < index.slots.count, !range.isNarrowed,
      let (number, listed) = conditions.list(index.slots[range.equal.count])
    {
      let values = range.isPresent ? listed.filter { !$0.isNull } : listed
      let ranges = values.map { IndexRange(equal: range.equal + [$0]) }
      return try candidate(index, ranges, consumed.union([number]))
    }
    guard !consumed.isEmpty || !same.isEmpty else { return nil }
    return try candidate(index, [range], consumed)
  }

  func candidate(
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
      isCountExact: isExact, isSure: isExact, consumed: consumed)
  }

  private enum Direction { case forwards, backwards }

  /// The part of an order that walking an index serves.
  private struct ServedOrder {
    var direction: Direction?
    /// How many of the first keys of the order, and in how many elements of the index.
    var keys = 0
    var elements = 0
    var isWhole = false
  }

  /// How walking the index gives the order or its first keys; nil if it gives none.
  ///
  /// An element that an equality fixes fits every order.
  private static func order(
    of sort: CompiledSort, on index: StoreIndex, _ conditions: SlotConditions
  ) -> ServedOrder? {
    let fixed = conditions.range(on: index).range.equal.count
    var served = ServedOrder()
    for key in sort.keys {
      var next = served.elements
      while next < min(fixed, index.slots.count), index.slots[next] != key.slot { next += 1 }
      guard let slot = key.slot, next < index.slots.count, index.slots[next] == slot else { break }
      let wanted: Direction = key.ascending ? .forwards : .backwards
      if next >= fixed {
        guard served.direction == nil || served.direction == wanted else { break }
        served.direction = wanted
      }
      served.elements = next + 1
      served.keys += 1
    }
    // Entries that are equal in the sort keys must be ordered by row key, which follows the last element.
    served.isWhole = served.keys == sort.keys.count && max(served.elements, fixed) == index.slots.count
    guard served.isWhole || served.direction != nil else { return nil }
    if served.direction == nil {
      served.direction = sort.keys.last?.ascending == false ? .backwards : .forwards
    }
    return served
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

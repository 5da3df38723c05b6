/// Chooses how a request finds its rows.
///
/// The planner counts the rows of every access that an index, a uniqueness constraint, a relationship or a list of
/// identifiers offers, and of their unions and intersections, and chooses the cheapest. A count in the store's tree visits only a few
/// pages. No statistics are stored, so none can be stale.
struct Planner {
  let request: ResolvedRequest
  let view: any StoreView
  let indexes: (EntityDescription) -> [StoreIndex]
  /// The numbers of the root entities with unsaved changes: joins through their stored rows may be wrong.
  let changedRoots: Set<UInt16>

  /// One way to access the rows.
  struct Candidate {
    var access: RowAccess
    /// The entity whose rows, including those of subentities, the access returns.
    var covers: EntityDescription
    /// How many rows it returns; an estimate unless `isCountExact`.
    var count: Int
    var isCountExact: Bool
    /// Whether every key that it returns is that of a row that satisfies the consumed conjuncts.
    var isSure: Bool
    /// The indices of the conjuncts that every row of it satisfies.
    var consumed: Set<Int> = []
    var order = IndexOrder.none
    /// How many entries are read before the first row.
    var entriesFirst = 0
    /// Whether the entries have all that is read of the rows.
    var isCovering = false
    /// Whether the entries have all that the condition reads, so that only rows that match are read.
    var filtersEntries = false
  }

  /// How far the rows of an access come in the order of the request.
  enum IndexOrder {
    case none
    case whole
    /// In the order of the first `keys` of its keys. About `length` rows are equal in them, and have to be sorted.
    case runs(keys: Int, length: Int)
  }

  func choose() throws -> ChosenPlan {
    let conjuncts = request.predicate?.conjuncts ?? []
    if conjuncts.contains(where: \.isNever) {
      return ChosenPlan(
        access: .nothing, order: .any, checksEntity: false, count: 0, matches: 0, exactCount: 0)
    }
    if let single = uniqueLookup(conjuncts, request.entity) { return plan(single, conjuncts, matches: 1) }
    let candidates = try allCandidates(conjuncts)
    let matches = expectedMatches(candidates, conjuncts)
    let ways = (candidates + (try orderCandidates(conjuncts))).map(covering)
    let cheapest = cheapest(ways) { cost($0, matches) }
    return plan(cheapest, conjuncts, matches: matches)
  }

  /// The plan of a count: the order does not matter, and the window is applied to the number.
  func chooseForCount() throws -> ChosenPlan {
    let conjuncts = request.predicate?.conjuncts ?? []
    if conjuncts.contains(where: \.isNever) { return try choose() }
    let candidates = try allCandidates(conjuncts)
    let matches = expectedMatches(candidates, conjuncts)
    let cheapest = cheapest(candidates.map(covering)) {
      costOfCount(plan($0, conjuncts, matches: matches), $0)
    }
    return plan(cheapest, conjuncts, matches: matches)
  }

  /// All accesses of the request's rows, without those for an order.
  private func allCandidates(_ conjuncts: [Conjunct]) throws -> [Candidate] {
    var single = try candidates(for: conjuncts, entity: request.entity, isWhole: true)
    let fewest = single.map(\.count).min() ?? .max
    single += try skipCandidates(conjuncts, unless: fewest)
    return single + (try intersections(single, request.entity)) + [try scan()]
  }

  private func plan(_ candidate: Candidate, _ conjuncts: [Conjunct], matches: Double) -> ChosenPlan {
    let isServed = candidate.consumed.count == conjuncts.count
    let checksEntity = !request.takesAll(below: candidate.covers)
    let isExact = isServed && candidate.isSure && !checksEntity
    let order = order(candidate)
    let scanned = scannedSlots(candidate, order, isExact: isExact)
    return ChosenPlan(
      access: candidate.access, order: order,
      filter: isServed && candidate.isSure ? nil : request.predicate, isFilterServed: isServed,
      checksEntity: checksEntity, count: candidate.count,
      matches: isExact ? candidate.count : min(candidate.count, Int(min(matches, 0x1p62))),
      exactCount: candidate.isCountExact ? candidate.count : nil,
      entryRows: candidate.isCovering || candidate.filtersEntries
        ? candidate.access.index.flatMap { EntryRows($0) } : nil,
      scannedSlots: scanned.slots, readsResults: scanned.readsResults,
      isCovering: candidate.isCovering || scanned.slots != nil && request.usedSlots != nil)
  }

  /// The slots that a scan reads of each row, where a view reads single values, to check the condition and to find the first rows of an
  /// order; nil if it reads rows as a whole.
  private func scannedSlots(
    _ candidate: Candidate, _ order: PlanOrder, isExact: Bool
  ) -> (slots: Set<Int>?, readsResults: Bool) {
    guard case .scan = candidate.access, view.readsSingleValues else { return (nil, false) }
    if let used = request.usedSlots { return (used, false) }
    // A plan may have no condition, and check only the entity.
    let predicate = isExact ? nil : request.predicate
    guard let checked = predicate == nil ? [] : predicate?.usedSlots else { return (nil, false) }
    if case .sorted(keeping: .some) = order, let sorted = request.sort?.usedSlots {
      return (checked.union(sorted), true)
    }
    return isExact ? (nil, false) : (checked, false)
  }

  /// Notes whether an index's entries have all that is read of the rows.
  private func covering(_ candidate: Candidate) -> Candidate {
    guard let index = candidate.access.index, index.isOrdered, !index.hasExpressions, !view.convertsRows,
      request.takesAll(below: candidate.covers),
      index.columns.allSatisfy(\.kind.isReadableInEntries)
    else { return candidate }
    var covering = candidate
    if let used = request.usedSlots, used.isSubset(of: index.slots) {
      covering.isCovering = true
    } else if let used = request.predicate?.usedSlots, used.isSubset(of: index.slots) {
      covering.filtersEntries = candidate.consumed.count < (request.predicate?.conjuncts.count ?? 0)
    }
    return covering
  }

  private func order(_ candidate: Candidate) -> PlanOrder {
    switch candidate.order {
    case .whole where request.sort != nil: return .index
    case .runs(let keys, _): return .indexRuns(keys: keys, keeping: request.window)
    default: if request.sort != nil { return .sorted(keeping: request.window) }
    }
    switch candidate.access {
    case .scan, .identifiers, .union, .intersection: return .keys
    default: return .any
    }
  }

  private func scan() throws -> Candidate {
    let consumed = Set(
      (request.predicate?.conjuncts ?? []).indices.filter { index in
        request.predicate?.conjuncts[index].isAlways ?? false
      })
    return Candidate(
      access: .scan, covers: request.entity.rootEntity,
      count: try view.rowCount(of: request.entity.rootEntity), isCountExact: true, isSure: true,
      consumed: consumed)
  }
}

extension Conjunct {
  fileprivate var isNever: Bool {
    switch self {
    case .constant(false): true
    case .isIn(_, let values): values.isEmpty
    case .identity(let keys): keys.isEmpty
    case .any(let parts): parts.allSatisfy(\.isNever)
    case .all(let parts): parts.contains(where: \.isNever)
    default: false
    }
  }

  fileprivate var isAlways: Bool {
    if case .constant(true) = self { return true }
    return false
  }
}

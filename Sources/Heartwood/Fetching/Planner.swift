/// Chooses how a request finds its rows.
///
/// The planner counts the rows of every access that an index, a uniqueness constraint, a relationship or a list of
/// identifiers offers, and chooses the cheapest. A count in the store's tree visits only a few pages. No statistics are
/// stored, so none can be stale.
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
    /// The indices of the conjuncts that every row of it satisfies.
    var consumed: Set<Int> = []
    var order = IndexOrder.none
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
      return ChosenPlan(access: .nothing, order: .any, checksEntity: false, exactCount: 0)
    }
    if let single = uniqueLookup(conjuncts, request.entity) { return plan(single, conjuncts) }
    let candidates = try candidates(for: conjuncts, entity: request.entity) + [scan()]
    let cheapest = try cheapest(candidates + orderCandidates(conjuncts), conjuncts)
    return plan(cheapest, conjuncts)
  }

  /// The plan of a count: the order does not matter, and the window is applied to the number.
  func chooseForCount() throws -> ChosenPlan {
    let conjuncts = request.predicate?.conjuncts ?? []
    if conjuncts.contains(where: \.isNever) { return try choose() }
    let candidates = try candidates(for: conjuncts, entity: request.entity) + [scan()]
    let exact = candidates.first { candidate in
      let plan = plan(candidate, conjuncts)
      return plan.isExact && plan.exactCount != nil
    }
    let chosen = exact ?? candidates.min { $0.count < $1.count } ?? scan(counting: 0)
    return plan(chosen, conjuncts)
  }

  private func plan(_ candidate: Candidate, _ conjuncts: [Conjunct]) -> ChosenPlan {
    let isServed = candidate.consumed.count == conjuncts.count
    return ChosenPlan(
      access: candidate.access, order: order(candidate),
      filter: isServed && candidate.isCountExact ? nil : request.predicate, isFilterServed: isServed,
      checksEntity: !request.takesAll(below: candidate.covers),
      exactCount: candidate.isCountExact ? candidate.count : nil)
  }

  private func order(_ candidate: Candidate) -> PlanOrder {
    switch candidate.order {
    case .whole where request.sort != nil: return .index
    case .runs(let keys, _): return .indexRuns(keys: keys, keeping: request.window)
    default: if request.sort != nil { return .sorted(keeping: request.window) }
    }
    switch candidate.access {
    case .scan, .identifiers: return .keys
    default: return .any
    }
  }

  private func scan() throws -> Candidate { scan(counting: try view.rowCount(of: request.entity.rootEntity)) }

  private func scan(counting count: Int) -> Candidate {
    let consumed = Set(
      (request.predicate?.conjuncts ?? []).indices.filter { index in
        request.predicate?.conjuncts[index].isAlways ?? false
      })
    return Candidate(
      access: .scan, covers: request.entity.rootEntity, count: count, isCountExact: true, consumed: consumed)
  }
}

/// The cost of accesses, in rows of a sequential scan.
extension Planner {
  private func cheapest(_ candidates: [Candidate], _ conjuncts: [Conjunct]) throws -> Candidate {
    let matches = expectedMatches(candidates, conjuncts)
    var best = candidates[0]
    var bestCost = cost(best, matches)
    for candidate in candidates.dropFirst() {
      let cost = cost(candidate, matches)
      if cost < bestCost { (best, bestCost) = (candidate, cost) }
    }
    return best
  }

  /// The expected number of matching rows: at most the smallest count of an access, or a quarter of it if some conditions
  /// are not served by any access.
  private func expectedMatches(_ candidates: [Candidate], _ conjuncts: [Conjunct]) -> Double {
    let fewest = Double(candidates.map(\.count).min() ?? 0)
    let served = candidates.reduce(into: Set<Int>()) { $0.formUnion($1.consumed) }
    return max(1, served.count == conjuncts.count ? fewest : fewest / 4)
  }

  private func cost(_ candidate: Candidate, _ matches: Double) -> Double {
    let rowCost = candidate.access.costOfRow
    let count = Double(candidate.count)
    if case .runs(_, let length) = candidate.order {
      let walked = min(count, walkedRows(candidate, matches) + Double(length))
      let kept = min(Double(length), Double(request.window ?? .max))
      return walked * rowCost + walked * logarithm(kept) * Self.costOfComparison + 1
    }
    if case .whole = candidate.order { return walkedRows(candidate, matches) * rowCost + 1 }
    guard request.sort != nil else { return walkedRows(candidate, matches) * rowCost + 1 }
    let kept = min(matches, Double(request.window ?? .max))
    return count * rowCost + matches * logarithm(kept) * Self.costOfComparison + 1
  }

  /// How many rows are read until the window is full.
  private func walkedRows(_ candidate: Candidate, _ matches: Double) -> Double {
    let count = Double(candidate.count)
    guard let window = request.window else { return count }
    return min(count, Double(window) * max(1, count / matches))
  }

  private func logarithm(_ count: Double) -> Double {
    Double(Int(min(max(count, 1), 0x1p62)).bitWidth - Int(min(max(count, 1), 0x1p62)).leadingZeroBitCount)
  }

  private static var costOfComparison: Double { 0.3 }
}

extension RowAccess {
  /// A row found by key costs a descent of the tree; a row of a scan is the next entry of a page.
  fileprivate var costOfRow: Double {
    switch self {
    case .nothing: 0
    case .scan: 1
    case .identifiers, .index, .destinations: 3
    }
  }
}

extension Conjunct {
  fileprivate var isNever: Bool {
    switch self {
    case .constant(false): true
    case .isIn(_, let values): values.isEmpty
    case .identity(let keys): keys.isEmpty
    default: false
    }
  }

  fileprivate var isAlways: Bool {
    if case .constant(true) = self { return true }
    return false
  }
}

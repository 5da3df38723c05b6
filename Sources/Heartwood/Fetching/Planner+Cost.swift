/// The cost of accesses, in rows of a sequential scan.
extension Planner {
  func cheapest(_ candidates: [Candidate], _ cost: (Candidate) -> Double) -> Candidate {
    var best = candidates[0]
    var bestCost = cost(best)
    for candidate in candidates.dropFirst() {
      let cost = cost(candidate)
      if cost < bestCost { (best, bestCost) = (candidate, cost) }
    }
    return best
  }

  /// The expected number of matching rows: at most the smallest count of an access, or a quarter of it if some conditions
  /// are not served by any access.
  func expectedMatches(_ candidates: [Candidate], _ conjuncts: [Conjunct]) -> Double {
    let fewest = Double(candidates.map(\.count).min() ?? 0)
    let served = candidates.reduce(into: Set<Int>()) { $0.formUnion($1.consumed) }
    return max(1, served.count == conjuncts.count ? fewest : fewest / 4)
  }

  func cost(_ candidate: Candidate, _ matches: Double) -> Double {
    let count = Double(candidate.count)
    let rowCost = costOfRow(candidate, matches)
    let before = Double(candidate.entriesFirst) * Self.costOfEntry + 1
    if case .runs(_, let length) = candidate.order {
      let walked = min(count, walkedRows(candidate, matches) + Double(length))
      let kept = min(Double(length), Double(request.window ?? .max))
      return before + walked * rowCost + walked * logarithm(kept) * Self.costOfComparison
    }
    if case .whole = candidate.order { return before + walkedRows(candidate, matches) * rowCost }
    guard request.sort != nil else { return before + walkedRows(candidate, matches) * rowCost }
    let kept = min(matches, Double(request.window ?? .max))
    return before + count * rowCost + matches * logarithm(kept) * Self.costOfComparison
  }

  /// The cost of a count: from the tree, by entries without their rows, or row by row.
  func costOfCount(_ plan: ChosenPlan, _ candidate: Candidate) -> Double {
    if plan.isExact, plan.exactCount != nil { return 0 }
    let before = Double(candidate.entriesFirst) * Self.costOfEntry + 1
    guard !plan.isExact else {
      return candidate.entriesFirst > 0 ? before : before + Double(candidate.count) * Self.costOfEntry
    }
    let rowCost = candidate.isCovering ? Self.costOfCoveredRow : candidate.access.costOfRow
    return before + Double(candidate.count) * (rowCost + costOfTest(candidate))
  }

  /// The cost of a row of an access on average.
  private func costOfRow(_ candidate: Candidate, _ matches: Double) -> Double {
    let test = costOfTest(candidate)
    if candidate.isCovering { return Self.costOfCoveredRow + test }
    guard candidate.filtersEntries else { return candidate.access.costOfRow + test }
    return test + Self.costOfCoveredRow + Self.costOfLookup
      * min(1, matches / Double(max(1, candidate.count)))
  }

  /// The cost of checking the condition for a row beyond comparisons of its values, unless the access is of the rows that satisfy it.
  private func costOfTest(_ candidate: Candidate) -> Double {
    guard let conjuncts = request.predicate?.conjuncts,
      candidate.consumed.count < conjuncts.count || !candidate.isSure
    else { return 0 }
    return conjuncts.costOfTest
  }

  /// How many rows are read until the window is full.
  private func walkedRows(_ candidate: Candidate, _ matches: Double) -> Double {
    let count = Double(candidate.count)
    guard let window = request.window else { return count }
    if skipsByRank(candidate) { return min(count, Double(request.limit ?? .max)) }
    return min(count, Double(window) * max(1, count / matches))
  }

  /// Whether the rows before the window are not read, because the tree has the rank of the first row in it.
  private func skipsByRank(_ candidate: Candidate) -> Bool {
    guard request.offset > 0, changedRoots.isEmpty, candidate.isSure,
      request.takesAll(below: candidate.covers),
      candidate.consumed.count == request.predicate?.conjuncts.count ?? 0
    else { return false }
    switch candidate.access {
    case .index: if case .runs = candidate.order { return false }
    case .scan: break
    default: return false
    }
    if case .whole = candidate.order { return true }
    return request.sort == nil
  }

  private func logarithm(_ count: Double) -> Double {
    Double(Int(min(max(count, 1), 0x1p62)).bitWidth - Int(min(max(count, 1), 0x1p62)).leadingZeroBitCount)
  }

  private static var costOfComparison: Double { 0.3 }
  /// Of an entry of an index or a relationship, without its row.
  static var costOfEntry: Double { 0.4 }
  /// Of a row that is made of an entry of an index.
  private static var costOfCoveredRow: Double { 1 }
  /// Of a row that is found by its key: a descent of the tree.
  static var costOfLookup: Double { 3 }
}

extension [Conjunct] {
  /// The cost of the dearest one's test.
  fileprivate var costOfTest: Double { reduce(0) { Swift.max($0, $1.costOfTest) } }
}

extension Conjunct {
  /// The cost of its test for a row: a text is split into words, destinations are looked up.
  fileprivate var costOfTest: Double {
    switch self {
    case .word: 20
    case .throughToMany: 10
    case .throughToOne: Planner.costOfLookup
    case .all(let parts), .any(let parts): parts.costOfTest
    default: 0
    }
  }
}

extension RowAccess {
  /// A row found by key costs a descent of the tree; a row of a scan is the next entry of a page.
  fileprivate var costOfRow: Double {
    switch self {
    case .nothing: 0
    case .scan, .requested: 1
    case .identifiers, .index, .destinations, .union, .intersection: Planner.costOfLookup
    }
  }
}

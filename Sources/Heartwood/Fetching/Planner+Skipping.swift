/// Skip scans: an index whose first properties have few values serves a condition on the one that follows.
extension Planner {
  /// The fewest rows for which looking at an index's values is worthwhile.
  private static var leastRows: Int { 200 }
  /// The most values of a property that are looked up one by one.
  private static var greatestSkips: Int { 100 }

  /// - Parameter fewest: The number of rows of the best other access.
  func skipCandidates(_ conjuncts: [Conjunct], unless fewest: Int) throws -> [Candidate] {
    guard fewest >= Self.leastRows else { return [] }
    let conditions = SlotConditions(conjuncts)
    var found: [Candidate] = []
    for (index, same) in usableIndexes(request.entity, conjuncts, isWhole: true)
    where index.slots.count > 1 && index.kind == .ordered
      && !index.hasExpressions
    {
      let (range, consumed) = conditions.range(on: index)
      let element = range.equal.count
      guard !range.leavesOutNull, element < index.slots.count - 1, index.columns[element].kind != .toOne
      else {
        continue
      }
      let (behind, further) = conditions.range(on: index, after: element + 1)
      guard !further.isEmpty, let values = try values(of: index, range, element) else { continue }
      let ranges = values.map { value in
        var whole = behind
        whole.equal = range.equal + [value] + behind.equal
        return whole
      }
      if let candidate = try candidate(index, ranges, consumed.union(further).union(same)) {
        found.append(candidate)
      }
    }
    return found
  }

  /// The values of an index's element within a range, in order; nil if there are many.
  private func values(of index: StoreIndex, _ range: IndexRange, _ element: Int) throws -> [Value]? {
    guard let count = try view.indexCount(index, range), count >= Self.leastRows else { return nil }
    // One sample shows whether there may be few values.
    let length = try view.indexRunLength(index, range, elements: element + 1, atRank: count / 2)
    guard length * Self.greatestSkips > count / 4 else { return nil }
    let column = index.columns[element]
    var values: [Value] = []
    let isCertain = try view.forEachIndexRun(index, range, elements: element + 1) { key, _ in
      guard let row = try view.row(index.entity.rootEntity, key) else {
        throw HeartwoodError.missingRow(key, index, index.entity.rootEntity)
      }
      defer { view.releaseRows() }
      values.append(row.value(column))
      return values.count <= Self.greatestSkips
    }
    return isCertain && values.count <= Self.greatestSkips ? values : nil
  }
}

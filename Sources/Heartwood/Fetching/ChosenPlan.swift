/// The planner's decision.
struct ChosenPlan {
  var access: RowAccess
  var order: PlanOrder
  /// The predicate to check on each row; nil if the access returns matching rows only.
  var filter: CompiledPredicate?
  /// Whether the access serves all conditions. `filter` is then set only because some of its rows may not match, for example
  /// because index keys of long values are truncated.
  var isFilterServed = false
  /// Whether the access may also return rows of other entities.
  var checksEntity: Bool
  /// How many rows the access is expected to return.
  var count: Int
  /// How many of them are expected to match.
  var matches: Int
  /// How many rows the access returns; nil if the tree cannot count them.
  var exactCount: Int?
  /// The maker of rows of the index's entries; nil if rows are read.
  var entryRows: EntryRows?
  /// The properties that a scan reads of a row; nil if it reads all of them.
  var scannedSlots: Set<Int>?
  /// Whether the other values are read of the first rows of an order only, and not of all rows that match.
  var readsResults = false
  /// Whether no row is read at all, or none as a whole. Otherwise, with `entryRows` or `scannedSlots`, rows are read that satisfy the condition.
  var isCovering = false

  /// Whether every key that the access returns belongs to a result.
  var isExact: Bool { filter == nil && !checksEntity }

  /// Whether the first row of the window can be found by its rank in the tree.
  func canSkipByRank(_ pendingCount: Int) -> Bool {
    guard isExact, pendingCount == 0 else { return false }
    switch (access, order) {
    case (.scan, .keys), (.index, .index), (.index, .any): return true
    default: return false
    }
  }
}

extension FetchExecution {
  /// The plan in words, with what was counted if it was executed.
  func explain() throws -> FetchPlan {
    var steps = [accessStep()]
    if plan.checksEntity { steps.append(step("entity: \(request.entityText)", nil, figures?.ofEntity)) }
    let matches =
      try plan.filter == nil || plan.isFilterServed ? plan.matches : sampledMatches() ?? plan.matches
    if let filter = plan.filter, !plan.isFilterServed {
      let place = plan.entryRows != nil && !plan.isCovering ? ", on the entries" : ""
      steps.append(
        step("filter: \(filter.text)\(place)", matches, figures?.matching, figures?.duration(of: \.filtering))
      )
    }
    if pending.count > 0 { steps.append(step("merge: \(pending.count) pending changes")) }
    for related in try relatedRows() { steps.append(step(related.text, nil)) }
    let all = matches + pending.matchCount
    if let order = orderStep(all) { steps.append(order) }
    if request.offset > 0 { steps.append(step(offsetText)) }
    if let limit = request.limit {
      steps.append(step("limit: \(limit)", min(limit, max(0, all - request.offset)), figures?.results))
    }
    let results = figures?.results ?? min(max(0, all - request.offset), request.limit ?? .max)
    if let advice = IndexAdvice(request, plan, view.indexes(of: request.entity)),
      IndexAdvice.isWorthwhile(reading: figures?.read ?? expectedReads(matches), for: results)
    {
      steps.append(step("advice: \(advice.text)"))
    }
    return FetchPlan(details: steps)
  }

  /// The steps of a count, which needs no order.
  func explainCount() throws -> FetchPlan {
    var steps: [FetchPlan.Step]
    if plan.isExact {
      steps = [accessStep()]
      if pending.count > 0 { steps.append(step("merge: \(pending.count) pending changes")) }
      let how = plan.exactCount == nil ? "by their keys" : "from the tree"
      return FetchPlan(details: steps + [step("count: \(how)")])
    }
    steps = try explain().details.filter { !$0.text.hasPrefix("sort:") }
    let place = steps.firstIndex { $0.text.hasPrefix("advice:") } ?? steps.endIndex
    steps.insert(step("count: row by row"), at: place)
    return FetchPlan(details: steps)
  }

  private func accessStep() -> FetchPlan.Step {
    let covered = plan.isCovering && plan.scannedSlots == nil ? ", without rows" : ""
    var first = step(
      plan.access.explain(request.entity) + covered, plan.count, figures?.read, figures?.reading)
    first.isExact = plan.exactCount != nil
    return first
  }

  private func orderStep(_ count: Int) -> FetchPlan.Step? {
    switch plan.order {
    case .any, .keys: return nil
    case .index:
      let place = plan.access.isRequested ? "by the store" : "from the index"
      return step("order: \(request.sortText), \(place)")
    case .indexRuns(let keys, _):
      return step(
        "order: \(request.sortText), the first \(keys == 1 ? "key" : "\(keys) keys") from the index")
    case .sorted(keeping: nil):
      return step("sort: \(request.sortText)", nil, figures?.matching, figures?.duration(of: \.sorting))
    case .sorted(keeping: let kept?):
      return step(
        "sort: \(request.sortText), keeping the first \(kept)", min(count, kept), nil,
        figures?.duration(of: \.sorting))
    }
  }

  private var offsetText: String {
    plan.canSkipByRank(pending.count)
      ? "offset: \(request.offset), by rank in the tree" : "offset: \(request.offset)"
  }

  private func step(
    _ text: String, _ expected: Int? = nil, _ rows: Int? = nil, _ duration: Duration? = nil
  ) -> FetchPlan.Step {
    FetchPlan.Step(text: text, expectedRows: expected, rows: rows, duration: duration)
  }

  /// How many rows the access reads until the window is full.
  func expectedReads(_ matches: Int) -> Int {
    if case .sorted = plan.order { return plan.count }
    guard let window = request.window else { return plan.count }
    return min(plan.count, Int(Double(window) * max(1, Double(plan.count) / Double(max(1, matches)))))
  }

  /// An estimate of how many rows of a scan match, by some of them at equal distances; nil for other accesses.
  private func sampledMatches() throws -> Int? {
    guard case .scan = plan.access, let filter = plan.filter, plan.count > 0 else { return nil }
    let root = request.entity.rootEntity
    let size = min(plan.count, 100)
    let ranks = (0..<size).map { number in
      // The middles of equal parts, each moved a little, so that values that repeat at a distance do not mislead.
      let part = plan.count / size
      return min(number * plan.count / size + (part > 1 ? (number * 7919) % part : 0), plan.count - 1)
    }
    var found = 0
    for key in try view.rowKeys(of: root, atRanks: ranks) {
      guard let row = try view.row(root, key) else { continue }
      defer { view.releaseRows() }
      if request.accepts(row.entityNumber), try filter.matches(row, key: key, in: source) { found += 1 }
    }
    return Int((Double(found) * Double(plan.count) / Double(size)).rounded())
  }
}

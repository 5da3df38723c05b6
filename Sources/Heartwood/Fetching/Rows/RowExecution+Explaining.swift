/// The plan of a fetch of rows.
extension RowExecution {
  /// The steps of the objects' fetch, or what spares it, and those of the rows.
  ///
  /// - Parameter results: How many rows there were; nil if the plan was not executed.
  func explain(results: Int? = nil) throws -> FetchPlan {
    var plan = FetchPlan(details: [])
    var advice: [FetchPlan.Step] = []
    if let shortcut = try RowShortcut(program, execution) {
      plan.details.append(shortcut.step)
      if execution.pending.count > 0 {
        plan.details.append(FetchPlan.Step(text: "merge: \(execution.pending.count) pending changes"))
      }
      plan.details[0].duration = execution.figures?.reading
    } else {
      plan = try execution.explain()
      advice = plan.details.filter { $0.text.hasPrefix("advice:") }
      plan.details.removeAll { $0.text.hasPrefix("advice:") }
    }
    for join in program.joins {
      plan.details.append(FetchPlan.Step(text: "join: each of \(join.relationship.displayName)"))
    }
    plan.details += tableSteps
    if let last = plan.details.indices.last { plan.details[last].rows = results ?? plan.details[last].rows }
    plan.details += advice
    return plan
  }

  private var tableSteps: [FetchPlan.Step] {
    var texts: [String] = []
    if let windows = program.stage?.program.windows {
      texts.append("window: \(windows.count == 1 ? "one value" : "\(windows.count) values") of each object")
    }
    if program.isGrouped {
      let keys = (program.table?.columns ?? []).prefix(program.keyCount).map(\.name).joined(separator: ", ")
      texts.append(keys.isEmpty ? "group: all rows are one" : "group: by \(keys)")
    }
    if program.having != nil { texts.append("having: the groups that satisfy it") }
    if !program.windows.isEmpty {
      texts.append(
        "window: \(program.windows.count == 1 ? "one value" : "\(program.windows.count) values") of each row")
    }
    if !program.order.isEmpty {
      texts.append(
        "sort: by \(program.order.count == 1 ? "one value" : "\(program.order.count) values") of the rows")
    }
    if program.isDistinct { texts.append("distinct: equal rows once") }
    if !isDirect, offset > 0 { texts.append("offset: \(offset)") }
    if !isDirect, let limit { texts.append("limit: \(limit)") }
    return texts.map { FetchPlan.Step(text: $0) }
  }
}

extension RowShortcut {
  fileprivate var step: FetchPlan.Step {
    switch self {
    case .ends(let ends): FetchPlan.Step(text: ends.text, expectedRows: ends.ends.count, isExact: true)
    case .runs(let runs): FetchPlan.Step(text: runs.text, expectedRows: runs.expected)
    }
  }
}

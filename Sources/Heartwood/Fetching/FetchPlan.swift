/// A description of how a fetch is executed: which rows are read, which conditions are checked on each, how they are
/// sorted.
///
/// `ManagedObjectContext.plan(for:)` returns it. The plan of a request may change with the contents of the store: the
/// planner chooses by counting in the store's tree.
public struct FetchPlan: Sendable, CustomStringConvertible {
  /// The steps in order, each a kind, a colon and a description: `index: Person.name == "Ada"`.
  public let steps: [String]

  /// The steps, one on each line.
  public var description: String { steps.joined(separator: "\n") }
}

/// The rows that a fetch reads.
enum RowAccess {
  /// None: the condition is never true.
  case nothing
  /// Rows by key, ascending.
  case identifiers([UInt64])
  /// Runs of an index, one after the other.
  case index(StoreIndex, [IndexRange], reversed: Bool)
  /// The destinations of a to-many relationship of some rows.
  case destinations(RelationshipDescription, of: [UInt64], because: String)
  /// All rows of the entity's root, by key.
  case scan
}

/// The order in which an access and its sorting deliver rows.
enum PlanOrder {
  /// The order of the access; the request has no order.
  case any
  /// Ascending keys.
  case keys
  /// The order of the request, directly from an index.
  case index
  /// The first `keys` of the order directly from an index; rows that are equal in them are collected and compared. With a
  /// number, only that many of the first rows of a run are kept.
  case indexRuns(keys: Int, keeping: Int?)
  /// The order of the request, by collecting rows and comparing them; with a number, only that many of the first rows
  /// are kept.
  case sorted(keeping: Int?)
}

/// The planner's decision.
struct ChosenPlan {
  var access: RowAccess
  var order: PlanOrder
  /// The predicate to check on each row; nil if the access returns matching rows only.
  var filter: CompiledPredicate?
  /// Whether the access serves all conditions. `filter` is then set only because the count is not exact, for example
  /// because index keys of long values are truncated.
  var isFilterServed = false
  /// Whether the access may also return rows of other entities.
  var checksEntity: Bool
  /// How many rows the access returns; nil if the tree cannot count them.
  var exactCount: Int?

  /// Whether every key that the access returns belongs to a result.
  var isExact: Bool { filter == nil && !checksEntity }
}

extension ChosenPlan {
  func explain(_ request: ResolvedRequest, pendingCount: Int) -> FetchPlan {
    var steps = [access.explain(request.entity)]
    if checksEntity { steps.append("entity: \(request.entityText)") }
    if let filter, !isFilterServed { steps.append("filter: \(filter.text)") }
    if pendingCount > 0 { steps.append("merge: \(pendingCount) pending changes") }
    switch order {
    case .any, .keys: break
    case .index: steps.append("order: \(request.sortText), from the index")
    case .indexRuns(let keys, _):
      steps.append(
        "order: \(request.sortText), the first \(keys == 1 ? "key" : "\(keys) keys") from the index")
    case .sorted(keeping: nil): steps.append("sort: \(request.sortText)")
    case .sorted(keeping: let count?): steps.append("sort: \(request.sortText), keeping the first \(count)")
    }
    if request.offset > 0 { steps.append(explainOffset(request, pendingCount)) }
    if let limit = request.limit { steps.append("limit: \(limit)") }
    return FetchPlan(steps: steps)
  }

  /// The steps of a count, which needs no order.
  func explainCount(_ request: ResolvedRequest, pendingCount: Int) -> FetchPlan {
    guard isExact, exactCount != nil else {
      let steps = explain(request, pendingCount: pendingCount).steps.filter { !$0.hasPrefix("sort:") }
      return FetchPlan(steps: steps + ["count: row by row"])
    }
    let merge = pendingCount > 0 ? ["merge: \(pendingCount) pending changes"] : []
    return FetchPlan(steps: [access.explain(request.entity)] + merge + ["count: from the tree"])
  }

  private func explainOffset(_ request: ResolvedRequest, _ pendingCount: Int) -> String {
    canSkipByRank(request, pendingCount)
      ? "offset: \(request.offset), by rank in the tree" : "offset: \(request.offset)"
  }

  /// Whether the first row of the window can be found by its rank in the tree.
  func canSkipByRank(_ request: ResolvedRequest, _ pendingCount: Int) -> Bool {
    guard case .scan = access, case .keys = order else { return false }
    return isExact && pendingCount == 0
  }
}

extension RowAccess {
  func explain(_ entity: EntityDescription) -> String {
    switch self {
    case .nothing: "nothing: the condition is never true"
    case .identifiers(let keys): "identifiers: \(keys.count) of \(entity.displayName)"
    case .index(let index, let ranges, let reversed): Self.explain(index, ranges, reversed)
    case .destinations(let relationship, let keys, let reason):
      "related: \(relationship.displayName) of \(keys.count) \(keys.count == 1 ? "object" : "objects"), \(reason)"
    case .scan: "scan: \(entity.rootEntity.displayName)"
    }
  }

  private static func explain(_ index: StoreIndex, _ ranges: [IndexRange], _ reversed: Bool) -> String {
    let names = index.slots.map { index.entity.property(at: $0).name }
    let entity = index.entity.displayName
    if ranges.count > 1 {
      return "index: \(entity).\(names.joined(separator: ", ")) IN \(ranges.count) values"
    }
    let text = ranges.first?.describe(names) ?? ""
    let isPoint = ranges.first.map { $0.equal.count == names.count } ?? false
    if index.isUnique && isPoint { return "unique look-up: \(entity).\(text)" }
    let direction = reversed ? ", backwards" : ""
    return "index: \(entity).\(text.isEmpty ? names.joined(separator: ", ") : text)\(direction)"
  }
}

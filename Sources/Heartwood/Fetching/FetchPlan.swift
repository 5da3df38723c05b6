/// How a fetch finds its objects, in words: which rows are read, what is checked on each, how they are
/// put in order.
///
/// Ask for it with `ManagedObjectContext.plan(for:)`. The same request may get another plan once the
/// store has other contents: plans are chosen by counting in the store's tree.
public struct FetchPlan: Sendable, CustomStringConvertible {
  /// The steps in their order, each a kind, a colon and what it does: `index: Person.name == "Ada"`.
  public let steps: [String]

  /// The steps, one a line.
  public var description: String { steps.joined(separator: "\n") }
}

/// Which rows a fetch looks at.
enum RowAccess {
  /// None: the condition can't be true.
  case nothing
  /// Rows by key, ascending.
  case identifiers([UInt64])
  /// Runs of an index, one after the other.
  case index(StoreIndex, [IndexRange], reversed: Bool)
  /// The destinations of a to-many relationship from each of some rows.
  case destinations(RelationshipDescription, of: [UInt64], because: String)
  /// All rows under the entity's root, by key.
  case scan
}

/// In what order an access and its sorting deliver rows.
enum PlanOrder {
  /// As the access gives them; nobody has asked for an order.
  case any
  /// Ascending keys.
  case keys
  /// The order that the request asks for, straight from an index.
  case index
  /// The order that the request asks for, by comparing rows that were all gathered first; with a number
  /// only so many of the first are kept.
  case sorted(keeping: Int?)
}

/// What the planner has decided.
struct ChosenPlan {
  var access: RowAccess
  var order: PlanOrder
  /// What each row is checked against; nil where the access is sure to give matching rows only.
  var filter: CompiledPredicate?
  /// Whether the access serves the whole filter, which is only there because keys of long values are cut.
  var isFilterServed = false
  /// Whether the access also gives rows of other entities.
  var checksEntity: Bool
  /// How many rows the access gives, where the tree can count them.
  var exactCount: Int?

  /// Whether every key that the access gives belongs to a result.
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
    case .sorted(keeping: nil): steps.append("sort: \(request.sortText)")
    case .sorted(keeping: let count?): steps.append("sort: \(request.sortText), keeping the first \(count)")
    }
    if request.offset > 0 { steps.append(explainOffset(request, pendingCount)) }
    if let limit = request.limit { steps.append("limit: \(limit)") }
    return FetchPlan(steps: steps)
  }

  /// The steps of counting, which needs no order.
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

  /// Whether the first row of the window can be found without walking to it.
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

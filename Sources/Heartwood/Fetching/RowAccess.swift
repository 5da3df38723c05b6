import Foundation

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
  /// The rows of any of these, each once, by key. The keys are collected first.
  indirect case union([RowAccess])
  /// The rows of all of these, by key. The keys are collected first.
  indirect case intersection([RowAccess])
  /// All rows of the entity's root, by key.
  case scan
  /// The results that a store finds itself, in the order of the request.
  case requested(any RequestedFetch)
}

/// A fetch that a store executes itself.
protocol RequestedFetch {
  /// Calls `body` with the rows after the first `count`, until it returns false.
  func forEachRow(_ root: EntityDescription, skipping count: Int, _ body: (FoundRow) throws -> Bool) throws
  /// The identifiers of the objects, in order.
  func identifiers() throws -> [ManagedObjectID]
}

/// One that finds all results, in the order of the request.
protocol RequestedObjects: RequestedFetch {
  /// Calls `body` with each object of a context, until it returns false. Objects whose values the store has not returned are faults.
  func forEachObject(
    of context: ManagedObjectContext, _ request: ResolvedRequest, _ body: (ManagedObject) throws -> Bool
  ) throws
}

/// A view of a store that may execute fetches itself.
protocol RequestingView: StoreView {
  /// The plan of a request, after which as many of the objects as are `hidden` may be left out; nil if the store does not execute it.
  func plan(
    _ request: ResolvedRequest, hidden: Int, isCount: Bool, _ source: any RowSource,
    _ changedRoots: Set<UInt16>
  ) throws -> ChosenPlan?
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

extension RowAccess {
  /// Whether the store finds and orders the results itself.
  var isRequested: Bool {
    if case .requested = self { return true }
    return false
  }

  /// The index that is walked; nil for other accesses.
  var index: StoreIndex? {
    guard case .index(let index, _, _) = self else { return nil }
    return index
  }

  func explain(_ entity: EntityDescription) -> String {
    switch self {
    case .nothing: "nothing: the condition is never true"
    case .identifiers(let keys): "identifiers: \(keys.count) of \(entity.displayName)"
    case .index(let index, let ranges, let reversed): Self.explain(index, ranges, reversed)
    case .destinations(let relationship, let keys, let reason):
      "related: \(relationship.displayName) of \(keys.count) \(keys.count == 1 ? "object" : "objects"), \(reason)"
    // The words that begin alike.
    case .union(let parts) where parts.count == 1: parts[0].explain(entity)
    case .union(let parts): "union: \(parts.map { "(\($0.explain(entity)))" }.joined(separator: " OR "))"
    case .intersection(let parts):
      "intersection: \(parts.map { "(\($0.explain(entity)))" }.joined(separator: " AND "))"
    case .scan: "scan: \(entity.rootEntity.displayName)"
    case .requested: "request: \(entity.displayName), executed by the store"
    }
  }

  private static func explain(_ index: StoreIndex, _ ranges: [IndexRange], _ reversed: Bool) -> String {
    let names = index.propertyNames
    let entity = index.entity.displayName + (index.condition.map { "[\($0.text)]" } ?? "")
    if index.kind == .words, let range = ranges.first {
      let word = range.prefix.map { "\($0)*" } ?? range.equal.first?.text ?? "…"
      return "words: \(entity).\(names[0]) MATCHESWORDS \"\(word)\""
    }
    if index.kind == .ranges {
      return
        "ranges: \(entity).\(ranges.first?.describe(names) ?? "never") in \(ranges.count) parts of the index"
    }
    if let element = ranges.skippedElement {
      let rest = ranges[0].describe(names).components(separatedBy: " AND ")
      let others = rest.enumerated().filter { $0.offset != element }.map(\.element).joined(separator: " AND ")
      return "skip scan: \(entity).\(others) for each of \(ranges.count) values of \(names[element])"
    }
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

extension [IndexRange] {
  /// The element in which the ranges differ, if conditions on further elements follow it; nil otherwise.
  fileprivate var skippedElement: Int? {
    guard count > 1, let first, let last,
      let element = zip(first.equal, last.equal).enumerated().first(where: {
        Value.compare($0.element.0, $0.element.1) != 0
      })?.offset
    else { return nil }
    return element < first.equal.count - 1 || first.leavesOutNull ? element : nil
  }
}

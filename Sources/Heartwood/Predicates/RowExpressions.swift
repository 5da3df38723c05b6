/// A value computed from all rows of a group: in the columns, the order and the HAVING condition of a fetch of rows.
struct GroupAggregate: Sendable {
  var function: Aggregate.Function
  /// The value of one row; nil to count the rows.
  var element: ConditionExpression?
  /// Selects the rows for which it holds; nil for all.
  var filter: Condition?
  /// Whether each value counts once.
  var isDistinct = false
  /// For the median: the part of the values below the result, if it is another percentile.
  var fraction = 0.5
}

/// A value of a row that is computed from other rows of the result, too.
struct WindowValue: Sendable {
  enum Function: Sendable, Hashable {
    case rowNumber, rank, denseRank
    /// The number of the part among so many of about equal size.
    case tile(Int)
    /// Over the rows of the partition up to the row and its equals in the order; over all without an order.
    case aggregate(Aggregate.Function)
    /// The value of the row so many rows before, or after if negative.
    case lag(Int)
    case first, last
  }

  var function: Function
  /// The value of one row; nil for functions without.
  var element: ConditionExpression?
  /// Rows are in one partition if they have the same values of these.
  var partition: [ConditionExpression]
  var order: [RowSortKey]
}

/// A value to sort rows by.
struct RowSortKey: Sendable {
  var expression: ConditionExpression
  var isAscending: Bool
  var options: ComparisonOptions = []
}

extension GroupAggregate {
  var size: TreeSize { TreeSize(above: [element?.size, filter?.size].compactMap { $0 }) }
}

extension WindowValue {
  var size: TreeSize {
    TreeSize(above: ((element.map { [$0] } ?? []) + partition + order.map(\.expression)).map(\.size))
  }
}

extension ConditionExpression {
  /// The expression with parts replaced.
  ///
  /// - Parameter replacement: What replaces a part; nil to look at the parts of the part.
  func replacing(
    _ replacement: (ConditionExpression) throws(HeartwoodError) -> ConditionExpression?
  ) throws(HeartwoodError) -> ConditionExpression {
    if let replaced = try replacement(self) { return replaced }
    switch kind {
    case .value, .object, .path, .refused, .aggregate, .collection, .variable, .anyKey, .group, .window,
      .computed:
      return self
    case .arithmetic(let operation, let left, let right):
      return ConditionExpression(
        .arithmetic(operation, try left.replacing(replacement), try right.replacing(replacement)))
    case .list(let parts): return ConditionExpression(.list(try Self.replacing(parts, replacement)))
    case .function(let function, let arguments):
      return ConditionExpression(.function(function, try Self.replacing(arguments, replacement)))
    case .conditional(let condition, let first, let second):
      return ConditionExpression(
        .conditional(
          try condition.replacing(replacement), try first.replacing(replacement),
          try second.replacing(replacement)))
    }
  }

  private static func replacing(
    _ parts: [ConditionExpression],
    _ replacement: (ConditionExpression) throws(HeartwoodError) -> ConditionExpression?
  ) throws(HeartwoodError) -> [ConditionExpression] {
    var replaced: [ConditionExpression] = []
    for part in parts { replaced.append(try part.replacing(replacement)) }
    return replaced
  }

  /// Whether a part satisfies a condition. Parts of the destinations of relationships are not looked at.
  func contains(_ isWanted: (ConditionExpression) -> Bool) -> Bool {
    var isFound = false
    _ = try? replacing { (part) throws(HeartwoodError) in
      if isWanted(part) { isFound = true }
      return isFound ? part : nil
    }
    return isFound
  }

  /// Whether it is about the rows of a group.
  var isAboutGroup: Bool {
    contains { part in
      switch part.kind {
      case .group: return true
      case .window(let window):
        return ((window.element.map { [$0] } ?? []) + window.partition + window.order.map(\.expression))
          .contains(where: \.isAboutGroup)
      default: return false
      }
    }
  }

  /// Whether it is about other rows of the result.
  var isAboutWindow: Bool {
    contains { part in
      if case .window = part.kind { return true }
      return false
    }
  }
}

extension Condition {
  /// The condition with parts of its expressions replaced, as `ConditionExpression.replacing`.
  ///
  /// - Throws: Also if the condition is about destinations of relationships, whose parts are not replaced.
  func replacing(
    _ replacement: (ConditionExpression) throws(HeartwoodError) -> ConditionExpression?
  ) throws(HeartwoodError) -> Condition {
    switch node {
    case .constant, .refused: return self
    case .and(let parts): return .all(try Self.replacing(parts, replacement))
    case .or(let parts): return .any(try Self.replacing(parts, replacement))
    case .not(let part): return .not(try part.replacing(replacement))
    case .comparison(var comparison):
      guard comparison.quantifier == nil else { throw Self.aboutDestinations(self) }
      comparison.left = try comparison.left.replacing(replacement)
      comparison.right = try comparison.right.replacing(replacement)
      return Condition(.comparison(comparison))
    case .truth(let value): return Condition(.truth(try value.replacing(replacement)))
    case .quantified: throw Self.aboutDestinations(self)
    }
  }

  private static func replacing(
    _ parts: [Condition],
    _ replacement: (ConditionExpression) throws(HeartwoodError) -> ConditionExpression?
  ) throws(HeartwoodError) -> [Condition] {
    var replaced: [Condition] = []
    for part in parts { replaced.append(try part.replacing(replacement)) }
    return replaced
  }

  private static func aboutDestinations(_ condition: Condition) -> HeartwoodError {
    .predicate(
      "\(condition) is about the destinations of a relationship: a condition on groups of rows cannot be")
  }
}

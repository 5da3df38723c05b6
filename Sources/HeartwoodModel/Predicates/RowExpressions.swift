/// A value computed from all rows of a group: in the columns, the order and the HAVING condition of a fetch of rows.
package struct GroupAggregate: Sendable {
  package var function: Aggregate.Function
  /// The value of one row; nil to count the rows.
  package var element: ConditionExpression?
  /// Selects the rows for which it holds; nil for all.
  package var filter: Condition?
  /// Whether each value counts once.
  package var isDistinct = false
  /// For the median: the part of the values below the result, if it is another percentile.
  package var fraction = 0.5

  package init(
    function: Aggregate.Function, element: ConditionExpression? = nil, filter: Condition? = nil,
    isDistinct: Bool = false, fraction: Double = 0.5
  ) {
    self.function = function
    self.element = element
    self.filter = filter
    self.isDistinct = isDistinct
    self.fraction = fraction
  }
}

/// A value of a row that is computed from other rows of the result, too.
package struct WindowValue: Sendable {
  package enum Function: Sendable, Hashable {
    case rowNumber, rank, denseRank
    /// The number of the part among so many of about equal size.
    case tile(Int)
    /// Over the rows of the partition up to the row and its equals in the order; over all without an order.
    case aggregate(Aggregate.Function)
    /// The value of the row so many rows before, or after if negative.
    case lag(Int)
    case first, last
  }

  package var function: Function
  /// The value of one row; nil for functions without.
  package var element: ConditionExpression?
  /// Rows are in one partition if they have the same values of these.
  package var partition: [ConditionExpression]
  package var order: [RowSortKey]
  /// Which rows of the partition; nil for those up to the row and its equals in the order.
  package var frame: RowFrame?

  package init(
    function: Function, element: ConditionExpression? = nil, partition: [ConditionExpression],
    order: [RowSortKey], frame: RowFrame? = nil
  ) {
    self.function = function
    self.element = element
    self.partition = partition
    self.order = order
    self.frame = frame
  }

  /// An aggregate over rows of the result instead of a group; nil if it is of some values only.
  package init?(_ aggregate: GroupAggregate) {
    guard aggregate.filter == nil, !aggregate.isDistinct, aggregate.fraction == 0.5 else { return nil }
    self.init(
      function: .aggregate(aggregate.function), element: aggregate.element, partition: [], order: [])
  }
}

/// The rows of a partition that a window is over, relative to the row that gets its value.
public struct RowFrame: Sendable, Hashable {
  /// The first and the last row, as distances from the row; nil for the ends of the partition.
  let first: Int?
  let last: Int?

  /// The rows in a range of distances from the row, which is at 0: `.rows(-2...0)` is the row and the two before it.
  public static func rows(_ range: ClosedRange<Int>) -> RowFrame {
    RowFrame(first: range.lowerBound, last: range.upperBound)
  }

  /// The rows from the first of the partition to a distance from the row: `.rows(...0)` ends with the row, without its equals.
  public static func rows(_ range: PartialRangeThrough<Int>) -> RowFrame {
    RowFrame(first: nil, last: range.upperBound)
  }

  /// The rows from a distance from the row to the last of the partition.
  public static func rows(_ range: PartialRangeFrom<Int>) -> RowFrame {
    RowFrame(first: range.lowerBound, last: nil)
  }

  /// So many rows before the row, the row, and so many after it.
  public static func rows(preceding: Int, following: Int = 0) -> RowFrame {
    RowFrame(first: -max(preceding, 0), last: max(following, 0))
  }

  /// All rows of the partition.
  public static let partition = RowFrame(first: nil, last: nil)

  /// The positions of the rows, for the row at a position of so many.
  package func positions(at position: Int, of count: Int) -> Range<Int> {
    func place(_ distance: Int, after: Int) -> Int {
      let (place, overflow) = position.addingReportingOverflow(distance)
      guard !overflow else { return distance < 0 ? 0 : count }
      return min(max(place + after, 0), count)
    }
    let start = first.map { place($0, after: 0) } ?? 0
    let end = last.map { $0 == .max ? count : place($0, after: 1) } ?? count
    return start..<max(start, end)
  }
}

extension RowFrame: CustomStringConvertible {
  /// As SQL has it.
  public var description: String {
    "ROWS BETWEEN \(Self.text(first, "UNBOUNDED PRECEDING")) AND \(Self.text(last, "UNBOUNDED FOLLOWING"))"
  }

  private static func text(_ distance: Int?, _ unbounded: String) -> String {
    guard let distance else { return unbounded }
    return distance == 0 ? "CURRENT ROW" : "\(distance.magnitude) \(distance < 0 ? "PRECEDING" : "FOLLOWING")"
  }
}

/// A value to sort rows by.
package struct RowSortKey: Sendable {
  package var expression: ConditionExpression
  package var isAscending: Bool
  package var options: ComparisonOptions = []

  package init(expression: ConditionExpression, isAscending: Bool, options: ComparisonOptions = []) {
    self.expression = expression
    self.isAscending = isAscending
    self.options = options
  }
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
  /// Says that it cannot be taken over a window.
  package var refusalOfWindows: String {
    "\(self) cannot be taken over a window: only an aggregate without a filter, of all values, can"
  }

  /// The expression with parts replaced.
  ///
  /// - Parameter replacement: The expression that replaces a part; nil to look at the parts of the part.
  package func replacing(
    _ replacement: (ConditionExpression) throws(HeartwoodError) -> ConditionExpression?
  ) throws(HeartwoodError) -> ConditionExpression {
    if let replaced = try replacement(self) { return replaced }
    return try mappingParts(
      { (part) throws(HeartwoodError) in try part.replacing(replacement) },
      { (part) throws(HeartwoodError) in try part.replacing(replacement) })
  }

  /// Whether a part satisfies a condition. Parts of the destinations of relationships are not looked at.
  package func contains(_ isWanted: (ConditionExpression) -> Bool) -> Bool {
    if isWanted(self) { return true }
    var isFound = false
    _ = mappingParts(
      {
        isFound = isFound || $0.contains(isWanted); return $0
      },
      {
        isFound = isFound || $0.contains(isWanted); return $0
      })
    return isFound
  }

  /// Whether it is about the rows of a group.
  package var isAboutGroup: Bool {
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
  package var isAboutWindow: Bool {
    contains { part in
      if case .window = part.kind { return true }
      return false
    }
  }
}

extension Condition {
  /// Whether it is about the rows of a group.
  package var isAboutGroup: Bool { contains(\.isAboutGroup) }

  /// Whether it is about other rows of the result.
  package var isAboutWindow: Bool { contains(\.isAboutWindow) }

  /// Whether a part of its expressions satisfies a condition, as `ConditionExpression.contains`.
  package func contains(_ isWanted: (ConditionExpression) -> Bool) -> Bool {
    var isFound = false
    _ = mappingParts(
      {
        isFound = isFound || $0.contains(isWanted); return $0
      },
      {
        isFound = isFound || $0.contains(isWanted); return $0
      })
    return isFound
  }

  /// The condition with parts of its expressions replaced, as `ConditionExpression.replacing`.
  ///
  /// - Throws: Also if the condition is about destinations of relationships, whose parts are not replaced.
  package func replacing(
    _ replacement: (ConditionExpression) throws(HeartwoodError) -> ConditionExpression?
  ) throws(HeartwoodError) -> Condition {
    guard !isAboutDestinations else {
      throw .predicate(
        "\(self) is about the destinations of a relationship: a condition on groups of rows cannot be")
    }
    return try mappingParts(
      { (part) throws(HeartwoodError) in try part.replacing(replacement) },
      { (part) throws(HeartwoodError) in try part.replacing(replacement) })
  }

  private var isAboutDestinations: Bool {
    switch node {
    case .quantified: true
    case .comparison(let comparison): comparison.quantifier != nil
    case .constant, .refused, .and, .or, .not, .truth: false
    }
  }
}

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
  /// Which rows of the partition; nil for those up to the row and its equals in the order.
  var frame: RowFrame?
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
  func positions(at position: Int, of count: Int) -> Range<Int> {
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
    return try mappingParts(
      { (part) throws(HeartwoodError) in try part.replacing(replacement) },
      { (part) throws(HeartwoodError) in try part.replacing(replacement) })
  }

  /// Whether a part satisfies a condition. Parts of the destinations of relationships are not looked at.
  func contains(_ isWanted: (ConditionExpression) -> Bool) -> Bool {
    var isFound = isWanted(self)
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
  /// Whether it is about the rows of a group.
  var isAboutGroup: Bool { contains(\.isAboutGroup) }

  /// Whether it is about other rows of the result.
  var isAboutWindow: Bool { contains(\.isAboutWindow) }

  /// Whether a part of its expressions satisfies a condition, as `ConditionExpression.contains`.
  fileprivate func contains(_ isWanted: (ConditionExpression) -> Bool) -> Bool {
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
  func replacing(
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

import Foundation

/// A value of the rows that a fetch returns instead of objects: an attribute, an object's identifier, whether a condition holds, an
/// expression of these, or an aggregate of a group.
public protocol RowColumn<Result>: Sendable {
  /// The type of the value in a row.
  associatedtype Result
  /// The value as an expression.
  var rowExpression: RowExpression { get }
  /// The value of a row.
  ///
  /// - Throws: `.invalidPredicate` if the type has no such value.
  static func _result(_ stored: _Value) throws(HeartwoodError) -> Result
}

/// The expression of a column.
public struct RowExpression: Sendable {
  let expression: ConditionExpression
}

extension ValueQuery: RowColumn {
  /// The expression.
  public var rowExpression: RowExpression { RowExpression(expression: _expression) }

  /// The value; nil if there is none.
  @inlinable public static func _result(_ stored: _Value) throws(HeartwoodError) -> Value? {
    try Value._result(stored)
  }
}

extension ObjectQuery: RowColumn {
  /// The object.
  public var rowExpression: RowExpression { RowExpression(expression: .path(_path)) }

  /// The object's identifier; nil if there is no object.
  @inlinable public static func _result(_ stored: _Value) throws(HeartwoodError) -> ManagedObjectID? {
    guard case .object(let id) = stored else { return nil }
    return id
  }
}

extension Condition: RowColumn {
  /// The Boolean attribute that the condition is about, or whether the condition holds.
  public var rowExpression: RowExpression {
    switch node {
    case .comparison(let comparison)
    where comparison.comparator == .equal && comparison.quantifier == nil && comparison.right.isTrue:
      RowExpression(expression: comparison.left)
    case .truth(let value): RowExpression(expression: value)
    default:
      RowExpression(
        expression: .truth(of: self))
    }
  }

  /// Whether the attribute or the condition is true; nil for an attribute without a value.
  @inlinable public static func _result(_ stored: _Value) throws(HeartwoodError) -> Bool? {
    guard case .bool(let value) = stored else { return nil }
    return value
  }
}

extension ConditionExpression {
  fileprivate var isTrue: Bool {
    if case .value(.bool(true)) = kind { return true }
    return false
  }
}

/// Values of all rows of a group.
///
/// ```swift
/// try context.fetchRows(Sale.self, columns: { ($0.country.name, $0.amount.sum()) })
/// ```
///
/// Missing values are left out. A fetch with such a column groups its rows by the other columns, or by those of `groupedBy`.
extension ValueQuery {
  private func aggregate<Result>(
    _ function: Aggregate.Function, _ filter: Condition?, isDistinct: Bool = false, fraction: Double = 0.5
  ) -> ValueQuery<Result> {
    ValueQuery<Result>(
      ConditionExpression(
        .group(
          GroupAggregate(
            function: function, element: _expression, filter: filter, isDistinct: isDistinct,
            fraction: fraction))))
  }

  /// The number of rows that have a value.
  ///
  /// - Parameters:
  ///   - distinct: Whether equal values count once.
  ///   - filter: Selects the rows; nil for all.
  public func count(distinct: Bool = false, where filter: Condition? = nil) -> ValueQuery<Int> {
    aggregate(.count, filter, isDistinct: distinct)
  }

  /// The least value.
  ///
  /// - Parameter filter: Selects the rows; nil for all.
  public func min(where filter: Condition? = nil) -> ValueQuery { aggregate(.min, filter) }

  /// The greatest value.
  ///
  /// - Parameter filter: Selects the rows; nil for all.
  public func max(where filter: Condition? = nil) -> ValueQuery { aggregate(.max, filter) }

  /// The most frequent value, the least of several.
  ///
  /// - Parameter filter: Selects the rows; nil for all.
  public func mode(where filter: Condition? = nil) -> ValueQuery { aggregate(.mode, filter) }
}

/// Numbers of all rows of a group.
extension ValueQuery where Value: Numeric {
  /// The sum; 0 if there is no value.
  ///
  /// - Parameters:
  ///   - distinct: Whether equal values count once.
  ///   - filter: Selects the rows; nil for all.
  public func sum(distinct: Bool = false, where filter: Condition? = nil) -> ValueQuery {
    aggregate(.sum, filter, isDistinct: distinct)
  }

  /// The average.
  ///
  /// - Parameters:
  ///   - distinct: Whether equal values count once.
  ///   - filter: Selects the rows; nil for all.
  public func average(distinct: Bool = false, where filter: Condition? = nil) -> ValueQuery<Double> {
    aggregate(.average, filter, isDistinct: distinct)
  }

  /// The median.
  ///
  /// - Parameter filter: Selects the rows; nil for all.
  public func median(where filter: Condition? = nil) -> ValueQuery<Double> { aggregate(.median, filter) }

  /// The value below which a part of all values are, between two of them if it falls between them.
  ///
  /// - Parameters:
  ///   - fraction: The part, from 0 to 1; there is no value for NaN.
  ///   - filter: Selects the rows; nil for all.
  public func percentile(_ fraction: Double, where filter: Condition? = nil) -> ValueQuery<Double> {
    aggregate(.median, filter, fraction: fraction)
  }

  /// The standard deviation of the whole population.
  ///
  /// - Parameter filter: Selects the rows; nil for all.
  public func standardDeviation(where filter: Condition? = nil) -> ValueQuery<Double> {
    aggregate(.standardDeviation, filter)
  }
}

/// Values of rows that are not those of one attribute.
public enum RowFunction {
  /// The number of rows of a group.
  ///
  /// - Parameter filter: Selects the rows; nil for all.
  public static func count(where filter: Condition? = nil) -> ValueQuery<Int> {
    ValueQuery(ConditionExpression(.group(GroupAggregate(function: .count, element: nil, filter: filter))))
  }

  private static func window(
    _ function: WindowValue.Function, _ partition: [any RowColumn], _ order: [RowSort]
  ) -> ValueQuery<Int> {
    ValueQuery(ConditionExpression(.window(WindowValue(function, nil, partition, order))))
  }

  /// The number of a row within its partition, from 1.
  ///
  /// - Parameters:
  ///   - partition: Rows with equal values of these are one partition; all rows are one if there are none.
  ///   - order: The order of the rows in a partition.
  public static func number(partitionedBy partition: any RowColumn..., orderedBy order: RowSort...)
    -> ValueQuery<Int>
  {
    window(.rowNumber, partition, order)
  }

  /// The rank of a row within its partition, from 1; equal rows have the same, and the next rank counts them all.
  ///
  /// - Parameters:
  ///   - partition: Rows with equal values of these are one partition; all rows are one if there are none.
  ///   - order: The order of the rows in a partition.
  public static func rank(partitionedBy partition: any RowColumn..., orderedBy order: RowSort...)
    -> ValueQuery<Int>
  {
    window(.rank, partition, order)
  }

  /// The rank of a row within its partition, from 1, without gaps after equal rows.
  ///
  /// - Parameters:
  ///   - partition: Rows with equal values of these are one partition; all rows are one if there are none.
  ///   - order: The order of the rows in a partition.
  public static func denseRank(
    partitionedBy partition: any RowColumn..., orderedBy order: RowSort...
  ) -> ValueQuery<Int> {
    window(.denseRank, partition, order)
  }

  /// The number of the part that a row is in, from 1, if the rows of its partition are divided into parts of about equal size.
  ///
  /// - Parameters:
  ///   - count: The number of parts, at least 1.
  ///   - partition: Rows with equal values of these are one partition; all rows are one if there are none.
  ///   - order: The order of the rows in a partition.
  public static func tile(
    of count: Int, partitionedBy partition: any RowColumn..., orderedBy order: RowSort...
  ) -> ValueQuery<Int> {
    window(.tile(count), partition, order)
  }
}

extension WindowValue {
  fileprivate init(
    _ function: Function, _ element: ConditionExpression?, _ partition: [any RowColumn], _ order: [RowSort],
    _ frame: RowFrame? = nil
  ) {
    self.init(
      function: function, element: element, partition: partition.map(\.rowExpression.expression),
      order: order.map(\.key), frame: frame)
  }
}

/// Values of other rows of the result.
extension ValueQuery {
  private func window(
    _ function: WindowValue.Function, _ partition: [any RowColumn], _ order: [RowSort],
    _ frame: RowFrame? = nil
  ) -> ValueQuery {
    ValueQuery(ConditionExpression(.window(WindowValue(function, _expression, partition, order, frame))))
  }

  /// An aggregate over rows of the result instead of a group: over a partition, or with an order over its rows up to this one and its
  /// equals, as in a running sum, or over a frame of rows around it, as in a moving average.
  ///
  /// ```swift
  /// $0.amount.sum().over(partitionedBy: $0.country, orderedBy: .ascending($0.date))
  /// $0.amount.average().over(orderedBy: .ascending($0.date), frame: .rows(preceding: 2))
  /// ```
  ///
  /// - Parameters:
  ///   - partition: Rows with equal values of these are one partition; all rows are one if there are none.
  ///   - order: The order of the rows in a partition.
  ///   - frame: Which rows of the partition, in the order; nil for those up to this one and its equals, or without an order for all. A
  ///     frame needs an order, and the median and the mode have none.
  public func over(
    partitionedBy partition: any RowColumn..., orderedBy order: RowSort..., frame: RowFrame? = nil
  ) -> ValueQuery {
    guard case .group(let aggregate) = _expression.kind, let window = WindowValue(aggregate) else {
      return ValueQuery(ConditionExpression(.refused(.predicate(_expression.refusalOfWindows))))
    }
    return ValueQuery(
      ConditionExpression(.window(WindowValue(window.function, window.element, partition, order, frame))))
  }

  /// The value of an earlier row of the partition; nil if there is none.
  ///
  /// - Parameters:
  ///   - distance: How many rows before this one.
  ///   - partition: Rows with equal values of these are one partition; all rows are one if there are none.
  ///   - order: The order of the rows in a partition.
  public func lag(
    _ distance: Int = 1, partitionedBy partition: any RowColumn..., orderedBy order: RowSort...
  ) -> ValueQuery {
    window(.lag(Swift.max(distance, -.max)), partition, order)
  }

  /// The value of a later row of the partition; nil if there is none.
  ///
  /// - Parameters:
  ///   - distance: How many rows after this one.
  ///   - partition: Rows with equal values of these are one partition; all rows are one if there are none.
  ///   - order: The order of the rows in a partition.
  public func lead(
    _ distance: Int = 1, partitionedBy partition: any RowColumn..., orderedBy order: RowSort...
  ) -> ValueQuery {
    window(.lag(-Swift.max(distance, -.max)), partition, order)
  }

  /// The value of the first row of the partition, or of a frame of its rows; nil for a frame without rows.
  ///
  /// - Parameters:
  ///   - partition: Rows with equal values of these are one partition; all rows are one if there are none.
  ///   - order: The order of the rows in a partition.
  ///   - frame: Which rows of the partition, in the order, which it needs; nil for all.
  public func first(
    partitionedBy partition: any RowColumn..., orderedBy order: RowSort..., frame: RowFrame? = nil
  ) -> ValueQuery {
    window(.first, partition, order, frame)
  }

  /// The value of the last row of the partition, or of a frame of its rows; nil for a frame without rows.
  ///
  /// - Parameters:
  ///   - partition: Rows with equal values of these are one partition; all rows are one if there are none.
  ///   - order: The order of the rows in a partition.
  ///   - frame: Which rows of the partition, in the order, which it needs; nil for all.
  public func last(
    partitionedBy partition: any RowColumn..., orderedBy order: RowSort..., frame: RowFrame? = nil
  ) -> ValueQuery {
    window(.last, partition, order, frame)
  }
}

/// An order of rows by a value, which need not be a column.
public struct RowSort: Sendable {
  let key: RowSortKey

  /// Smallest value first, missing values before it.
  ///
  /// - Parameters:
  ///   - column: The value.
  ///   - options: Differences that comparing text ignores.
  public static func ascending(_ column: some RowColumn, _ options: ComparisonOptions = []) -> RowSort {
    RowSort(
      key: RowSortKey(expression: column.rowExpression.expression, isAscending: true, options: options))
  }

  /// Greatest value first, missing values last.
  ///
  /// - Parameters:
  ///   - column: The value.
  ///   - options: Differences that comparing text ignores.
  public static func descending(_ column: some RowColumn, _ options: ComparisonOptions = []) -> RowSort {
    RowSort(
      key: RowSortKey(expression: column.rowExpression.expression, isAscending: false, options: options))
  }
}

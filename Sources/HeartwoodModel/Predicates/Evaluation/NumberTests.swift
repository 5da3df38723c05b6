/// Whether an integer, Boolean or key is within bounds, both included.
final class IntegerTest: RowTest {
  private let column: Column
  private let lower: Int64
  private let upper: Int64
  private let isInsideWanted: Bool

  init(_ column: Column, _ bounds: ClosedRange<Int64>, isInsideWanted: Bool) {
    self.column = column
    lower = bounds.lowerBound
    upper = bounds.upperBound
    self.isInsideWanted = isInsideWanted
  }

  override func matches(_ place: Place) -> Bool {
    // A missing value is within no bounds.
    if place.row.isNull(column) { return !isInsideWanted }
    let value = place.row.int(column)
    return (lower <= value && value <= upper) == isInsideWanted
  }
}

/// Whether an integer, Boolean or key is in a set.
final class IntegerSetTest: RowTest {
  private let column: Column
  private let members: Set<Int64>
  private let includesNull: Bool

  init(_ column: Column, _ members: Set<Int64>, includesNull: Bool) {
    self.column = column
    self.members = members
    self.includesNull = includesNull
  }

  override func matches(_ place: Place) -> Bool {
    place.row.isNull(column) ? includesNull : members.contains(place.row.int(column))
  }
}

/// Compares a double, float or date with a constant.
final class DoubleTest: RowTest {
  private let column: Column
  private let comparator: ComparisonOperator
  private let constant: Double
  private let acceptsLess: Bool
  private let acceptsGreater: Bool

  init(_ column: Column, _ comparator: ComparisonOperator, _ constant: Double) {
    self.column = column
    self.comparator = comparator
    self.constant = constant
    acceptsLess = comparator.holds(-1)
    acceptsGreater = comparator.holds(1)
  }

  override func matches(_ place: Place) -> Bool {
    if place.row.isNull(column) { return comparator == .notEqual }
    let value = place.row.double(column)
    if value < constant { return acceptsLess }
    if value > constant { return acceptsGreater }
    // Equal, or NaN.
    return comparator.holds(Value.order(value, constant))
  }
}

/// Compares a decimal number with a constant.
final class DecimalTest: RowTest {
  private let column: Column
  private let comparator: ComparisonOperator
  private let constant: DecimalParts

  init(_ column: Column, _ comparator: ComparisonOperator, _ constant: DecimalParts) {
    self.column = column
    self.comparator = comparator
    self.constant = constant
  }

  override func matches(_ place: Place) -> Bool {
    guard !place.row.isNull(column), let value = DecimalParts(rowBytes: place.row.bytes(column)) else {
      return comparator == .notEqual
    }
    return comparator.holds(DecimalParts.order(value, constant))
  }
}

/// Compares a value of any kind with a constant.
final class ValueTest: RowTest {
  private let column: Column
  private let comparator: ComparisonOperator
  private let constant: Value

  init(_ column: Column, _ comparator: ComparisonOperator, _ constant: Value) {
    self.column = column
    self.comparator = comparator
    self.constant = constant
  }

  override func matches(_ place: Place) -> Bool {
    let value = place.row.value(column)
    guard !value.isNull, let order = Value.compare(value, constant) else { return comparator == .notEqual }
    return comparator.holds(order)
  }
}

/// Whether a value of any kind is in a set.
final class ValueSetTest: RowTest {
  private let column: Column
  private let members: Set<Value>

  /// - Parameter members: of the column's own kind, or null.
  init(_ column: Column, _ members: Set<Value>) {
    self.column = column
    self.members = members
  }

  override func matches(_ place: Place) -> Bool { members.contains(place.row.value(column)) }
}

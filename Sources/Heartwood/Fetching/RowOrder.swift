/// The order of two objects by one property: a small class for each kind of column, as with tests of predicates.
class RowOrder {
  /// 1 for ascending, -1 for descending.
  fileprivate final let sign: Int

  init(_ sign: Int) { self.sign = sign }

  /// Negative if the left object comes first, positive if the right one does, zero if they are equal.
  func compare(_ left: Place, _ right: Place) throws -> Int { 0 }

  static func order(_ column: Column, _ options: ComparisonOptions, _ sign: Int) -> RowOrder {
    switch column.kind {
    case .int16, .int32, .int64, .bool: IntegerOrder(column, sign)
    case .double, .float, .date: DoubleOrder(column, sign)
    case .string, .uri: options.isEmpty ? TextOrder(column, sign) : FoldedTextOrder(column, options, sign)
    default: ValueOrder(column, sign)
    }
  }
}

/// Treats all objects as equal.
final class NoOrder: RowOrder {}

/// A second order for objects that are equal in the first.
final class ThenOrder: RowOrder {
  private let first: RowOrder
  private let second: RowOrder

  init(_ first: RowOrder, _ second: RowOrder) {
    self.first = first
    self.second = second
    super.init(1)
  }

  override func compare(_ left: Place, _ right: Place) throws -> Int {
    let decision = try first.compare(left, right)
    return decision != 0 ? decision : try second.compare(left, right)
  }
}

/// Creation order.
final class KeyOrder: RowOrder {
  override func compare(_ left: Place, _ right: Place) -> Int { sign * Value.order(left.key, right.key) }
}

/// The order of a column's values; missing values come before all others.
private class ColumnOrder: RowOrder {
  fileprivate final let column: Column

  init(_ column: Column, _ sign: Int) {
    self.column = column
    super.init(sign)
  }

  /// Calls `body` if both have a value.
  @inline(__always)
  fileprivate final func ordered(_ left: RowView, _ right: RowView, _ body: () -> Int) -> Int {
    let (leftIsNull, rightIsNull) = (left.isNull(column), right.isNull(column))
    if leftIsNull || rightIsNull { return sign * ((leftIsNull ? 0 : 1) - (rightIsNull ? 0 : 1)) }
    return sign * body()
  }
}

private final class IntegerOrder: ColumnOrder {
  override func compare(_ left: Place, _ right: Place) -> Int {
    ordered(left.row, right.row) { Value.order(left.row.int(column), right.row.int(column)) }
  }
}

private final class DoubleOrder: ColumnOrder {
  override func compare(_ left: Place, _ right: Place) -> Int {
    ordered(left.row, right.row) { Value.order(left.row.double(column), right.row.double(column)) }
  }
}

private final class TextOrder: ColumnOrder {
  override func compare(_ left: Place, _ right: Place) -> Int {
    ordered(left.row, right.row) {
      let (leftBytes, rightBytes) = (left.row.bytes(column), right.row.bytes(column))
      if let order = leftBytes.orderAtFirstDifference(to: rightBytes) { return order }
      if leftBytes.isSurelyComposed, rightBytes.isSurelyComposed { return leftBytes.order(to: rightBytes) }
      return Value.order(left.row.string(column) ?? "", right.row.string(column) ?? "")
    }
  }
}

private final class FoldedTextOrder: ColumnOrder {
  private let options: ComparisonOptions

  init(_ column: Column, _ options: ComparisonOptions, _ sign: Int) {
    self.options = options
    super.init(column, sign)
  }

  override func compare(_ left: Place, _ right: Place) -> Int {
    ordered(left.row, right.row) { ComparableText.order(text(left), text(right), options) }
  }

  private func text(_ place: Place) -> String { place.row.string(column) ?? "" }
}

private final class ValueOrder: ColumnOrder {
  override func compare(_ left: Place, _ right: Place) -> Int {
    ordered(left.row, right.row) { Value.compare(left.row.value(column), right.row.value(column)) ?? 0 }
  }
}

/// The order of computed values. What compares a row more than once reads its values before: see `SortValues`.
final class ComputedOrder: RowOrder {
  private let reader: ValueReader

  init(_ reader: ValueReader, _ sign: Int) {
    self.reader = reader
    super.init(sign)
  }

  override func compare(_ left: Place, _ right: Place) throws -> Int {
    sign * (Value.compare(try reader.read(left), try reader.read(right)) ?? 0)
  }
}

/// The order by a property reached through to-one relationships; objects without a destination come before all others.
final class OrderBehindHops: RowOrder {
  private let hops: [ToOneHop]
  private let order: RowOrder
  /// Reads the value that is ordered.
  private let reader: ValueReader

  init(_ hops: [ToOneHop], _ order: RowOrder, _ reader: ValueReader, _ sign: Int) {
    self.hops = hops
    self.order = order
    self.reader = reader
    super.init(sign)
  }

  override func compare(_ left: Place, _ right: Place) throws -> Int {
    let (left, right) = (try left.following(hops), try right.following(hops))
    guard let left else { return try isMissing(right) ? 0 : -sign }
    guard let right else { return try isMissing(left) ? 0 : sign }
    return try order.compare(left, right)
  }

  /// Whether there is no object, or it has no value: both are the same in the order.
  private func isMissing(_ place: Place?) throws -> Bool {
    guard let place else { return true }
    return try reader.read(place).isNull
  }
}

import Foundation

/// A compiled expression, which reads its value for one object.
class ValueReader {
  func read(_ place: Place) throws -> Value { .null }

  /// Whether a null that was read is that of an arithmetic without a result, and not of a missing value.
  func hasNoResult(_ place: Place) throws -> Bool { false }
}

final class ConstantReader: ValueReader {
  let value: Value

  init(_ value: Value) { self.value = value }
  override func read(_ place: Place) -> Value { value }
}

final class ColumnReader: ValueReader {
  private let column: Column

  init(_ column: Column) { self.column = column }

  override func read(_ place: Place) throws -> Value {
    // Written when the attribute allowed it.
    if place.row.external(column) != nil { throw HeartwoodError.outsideRow }
    return place.row.value(column)
  }
}

extension HeartwoodError {
  fileprivate static var outsideRow: HeartwoodError {
    HeartwoodError(
      .persistentStoreOperation,
      "a condition reads data that is stored outside its row; compare it with nil only, or set and save it again"
    )
  }
}

/// Reads the destination's key as an integer: objects are compared by their keys.
final class ToOneKeyReader: ValueReader {
  private let column: Column

  init(_ column: Column) { self.column = column }

  override func read(_ place: Place) -> Value {
    place.row.isNull(column) ? .null : .int(Int64(bitPattern: place.row.key(column)))
  }
}

/// Reads the object's own key as an integer.
final class KeyReader: ValueReader {
  override func read(_ place: Place) -> Value { .int(Int64(bitPattern: place.key)) }
}

/// Reads the value at the end of a path.
final class PathReader: ValueReader {
  private let outward: Int
  private let hops: [ToOneHop]
  private let end: ValueReader

  init(_ outward: Int, _ hops: [ToOneHop], _ end: ValueReader) {
    self.outward = outward
    self.hops = hops
    self.end = end
  }

  override func read(_ place: Place) throws -> Value {
    guard let owner = try place.outwards(outward).following(hops) else { return .null }
    return try end.read(owner)
  }
}

/// Computes a value from the destinations of a to-many relationship.
final class AggregateReader: ValueReader {
  private let function: Aggregate.Function
  private let destinations: Destinations
  private let element: ValueReader?
  private let filter: RowTest?

  init(
    _ function: Aggregate.Function, _ destinations: Destinations, _ element: ValueReader?, _ filter: RowTest?
  ) {
    self.function = function
    self.destinations = destinations
    self.element = element
    self.filter = filter
  }

  override func read(_ place: Place) throws -> Value {
    if element == nil, filter == nil { return .int(Int64(try destinations.count(place))) }
    var count: Int64 = 0
    var result = Value.null
    try destinations.forEach(place) { destination in
      if let filter, try !filter.matches(destination) { return true }
      guard let element else {
        count += 1
        return true
      }
      let value = try element.read(destination)
      guard !value.isNull else { return true }
      count += 1
      result = combine(result, value)
      return true
    }
    return finish(result, count)
  }

  private func combine(_ result: Value, _ value: Value) -> Value {
    guard !result.isNull else { return value }
    switch function {
    case .count: return result
    case .sum, .average: return ArithmeticOperator.add.apply(result, value)
    case .min: return Value.compare(value, result) ?? 0 < 0 ? value : result
    case .max: return Value.compare(value, result) ?? 0 > 0 ? value : result
    }
  }

  /// The sum of no values is 0; their minimum, maximum and average are nil.
  private func finish(_ result: Value, _ count: Int64) -> Value {
    switch function {
    case .count: return .int(count)
    case .sum: return count == 0 ? .int(0) : result
    case .min, .max: return result
    case .average:
      guard count > 0 else { return .null }
      if case .int(let sum) = result { return .double(Double(sum) / Double(count)) }
      return ArithmeticOperator.divide.apply(result, .int(count))
    }
  }
}

final class ArithmeticReader: ValueReader {
  private let operation: ArithmeticOperator
  private let left: ValueReader
  private let right: ValueReader

  init(_ operation: ArithmeticOperator, _ left: ValueReader, _ right: ValueReader) {
    self.operation = operation
    self.left = left
    self.right = right
  }

  override func read(_ place: Place) throws -> Value {
    operation.apply(try left.read(place), try right.read(place))
  }

  override func hasNoResult(_ place: Place) throws -> Bool {
    let (left, right) = (try left.read(place), try right.read(place))
    if !left.isNull && !right.isNull { return true }
    return try left.isNull && self.left.hasNoResult(place) || right.isNull && self.right.hasNoResult(place)
  }
}

extension ArithmeticOperator {
  /// Integers give integers, decimals give decimals; all else is computed in doubles. Null if there is no
  /// result.
  func apply(_ left: Value, _ right: Value) -> Value {
    switch (left, right) {
    case (.int(let a), .int(let b)): apply(a, b)
    case (.decimal(let a), .decimal(let b)): apply(a, b)
    case (.decimal(let a), .int(let b)): apply(a, Decimal(b))
    case (.int(let a), .decimal(let b)): apply(Decimal(a), b)
    default: apply(left.doubleValue, right.doubleValue)
    }
  }

  private func apply(_ a: Int64, _ b: Int64) -> Value {
    let (result, overflow) =
      switch self {
      case .add: a.addingReportingOverflow(b)
      case .subtract: a.subtractingReportingOverflow(b)
      case .multiply: a.multipliedReportingOverflow(by: b)
      case .divide: a.dividedReportingOverflow(by: b)
      }
    return overflow ? .null : .int(result)
  }

  private func apply(_ a: Decimal, _ b: Decimal) -> Value {
    let result: Decimal =
      switch self {
      case .add: a + b
      case .subtract: a - b
      case .multiply: a * b
      case .divide: b.isZero ? .nan : a / b
      }
    return result.isNaN ? .null : .decimal(result)
  }

  private func apply(_ a: Double?, _ b: Double?) -> Value {
    guard let a, let b else { return .null }
    let result: Double =
      switch self {
      case .add: a + b
      case .subtract: a - b
      case .multiply: a * b
      case .divide: a / b
      }
    return self == .divide && b == 0 ? .null : .double(result)
  }
}

extension Value {
  /// The number as a double, rounded if it has more digits; nil if the value is no number.
  var doubleValue: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    case .decimal(let value): DecimalParts(value).doubleValue
    default: nil
    }
  }
}

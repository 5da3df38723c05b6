import Foundation

/// Computes the arithmetic of two values.
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
    case (.string(let a), .string(let b)): self == .add ? .string(a + b) : .null
    case (.date(let a), .date(let b)): self == .subtract ? apply(a, b) : .null
    case (.date(let a), _): self == .add || self == .subtract ? date(apply(.double(a), right)) : .null
    case (_, .date(let b)): self == .add ? date(apply(left, .double(b))) : .null
    default: apply(left.doubleValue, right.doubleValue)
    }
  }

  private func date(_ seconds: Value) -> Value {
    if case .double(let seconds) = seconds { return .date(seconds) }
    return .null
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
      case .multiply: .product(a, b)
      case .divide: .quotient(a, b)
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
    let overflows = !result.isFinite && a.isFinite && b.isFinite
    return overflows || self == .divide && b == 0 ? .null : .double(result)
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

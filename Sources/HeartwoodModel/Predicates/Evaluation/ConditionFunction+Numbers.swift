import Foundation

/// Functions of numbers. Integers and decimals stay what they are where the result is one.
extension ConditionFunction {
  func number(_ first: Value, _ second: Value?) -> Value {
    if let second {
      if second.isNull { return .null }
      return self == .round ? rounded(first, digits: second) : binary(first, second)
    }
    switch first {
    case .int(let number): return unary(number)
    case .decimal(let number): return unary(number)
    case .double(let number): return unary(number)
    default: return .null
    }
  }

  // MARK: One argument

  private func unary(_ number: Int64) -> Value {
    switch self {
    case .floor, .ceiling, .trunc, .round: .int(number)
    case .abs: number == .min ? .null : .int(Swift.abs(number))
    case .complement: .int(~number)
    case .randomBelow: number > 0 ? .int(.random(in: 0..<number)) : .null
    default: unary(Double(number))
    }
  }

  private func unary(_ number: Decimal) -> Value {
    switch self {
    case .floor: .decimal(number.rounded(.down))
    case .ceiling: .decimal(number.rounded(.up))
    case .trunc: .decimal(number.rounded(number < 0 ? .up : .down))
    case .round: .decimal(number.rounded(.plain))
    case .abs: .decimal(Swift.abs(number))
    default: unary(DecimalParts(number).doubleValue)
    }
  }

  private func unary(_ number: Double) -> Value {
    let result: Double =
      switch self {
      case .floor: number.rounded(.down)
      case .ceiling: number.rounded(.up)
      case .trunc: number.rounded(.towardZero)
      case .round: number.rounded()
      case .abs: Swift.abs(number)
      case .squareRoot: number.squareRoot()
      case .log: Foundation.log10(number)
      case .ln: Foundation.log(number)
      case .exp: Foundation.exp(number)
      default: .nan
      }
    return Self.finite(result, number.isFinite)
  }

  /// A number that is infinite or none is no result, unless it was one before.
  private static func finite(_ result: Double, _ wasFinite: Bool) -> Value {
    result.isNaN || wasFinite && !result.isFinite ? .null : .double(result)
  }

  /// Rounds to a number of digits after the point, or before it if negative.
  private func rounded(_ number: Value, digits: Value) -> Value {
    guard case .int(let digits) = digits, (-30...30).contains(digits) else { return .null }
    switch number {
    case .int(let integer) where digits < 0:
      return Decimal(integer).rounded(.plain, Int(digits)).exactInteger.map(Value.int) ?? .null
    case .int: return number
    case .decimal(let decimal): return .decimal(decimal.rounded(.plain, Int(digits)))
    case .double(let double):
      // By the digits of its description: 1.005 has three.
      guard double.isFinite, let decimal = Decimal(string: "\(double)") else { return number }
      return .double(DecimalParts(decimal.rounded(.plain, Int(digits))).doubleValue)
    default: return .null
    }
  }

  // MARK: Two arguments

  private func binary(_ first: Value, _ second: Value) -> Value {
    switch (first, second) {
    case (.int(let a), .int(let b)): integers(a, b)
    case (.decimal(let a), .int(let b)): decimals(a, Decimal(b), power: b)
    case (.int(let a), .decimal(let b)): decimals(Decimal(a), b, power: b.exactInteger)
    case (.decimal(let a), .decimal(let b)): decimals(a, b, power: b.exactInteger)
    default: doubles(first.doubleValue, second.doubleValue)
    }
  }

  private func integers(_ a: Int64, _ b: Int64) -> Value {
    switch self {
    case .modulus: b == 0 ? .null : .int(a.remainderReportingOverflow(dividingBy: b).partialValue)
    case .raise: b < 0 ? doubles(Double(a), Double(b)) : Self.power(a, b)
    case .bitwiseAnd: .int(a & b)
    case .bitwiseOr: .int(a | b)
    case .bitwiseXor: .int(a ^ b)
    case .shiftLeft: .int(a << b)
    case .shiftRight: .int(a >> b)
    default: .null
    }
  }

  private static func power(_ base: Int64, _ exponent: Int64) -> Value {
    if base == 0 || base == 1 || base == -1 {
      return .int(exponent == 0 ? 1 : base == -1 && exponent % 2 == 0 ? 1 : base)
    }
    guard exponent < 64 else { return .null }
    var result: Int64 = 1
    for _ in 0..<exponent {
      let (product, overflow) = result.multipliedReportingOverflow(by: base)
      if overflow { return .null }
      result = product
    }
    return .int(result)
  }

  private func decimals(_ a: Decimal, _ b: Decimal, power: Int64?) -> Value {
    switch self {
    case .modulus:
      guard !b.isZero else { return .null }
      let quotient = a / b
      let result = a - .product(b, quotient.rounded(quotient < 0 ? .up : .down))
      return result.isNaN ? .null : .decimal(result)
    case .raise:
      guard let power, (0...1000).contains(power) else {
        return doubles(DecimalParts(a).doubleValue, DecimalParts(b).doubleValue)
      }
      let result = Decimal.power(a, Int(power))
      return result.isNaN ? .null : .decimal(result)
    default: return .null
    }
  }

  private func doubles(_ a: Double?, _ b: Double?) -> Value {
    guard let a, let b else { return .null }
    switch self {
    case .modulus: return b == 0 ? .null : Self.finite(a.truncatingRemainder(dividingBy: b), true)
    case .raise: return Self.finite(pow(a, b), a.isFinite && b.isFinite)
    default: return .null
    }
  }
}

extension Decimal {
  fileprivate func rounded(_ mode: RoundingMode, _ digits: Int = 0) -> Decimal {
    var source = self
    var result = Decimal()
    NSDecimalRound(&result, &source, digits, mode)
    return result
  }
}

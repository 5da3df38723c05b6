import Foundation

/// Products of decimals for which Foundation's operator ends the program: those whose exponents add up to less than the least one.
extension Decimal {
  static let leastExponent = -128

  /// The product; zero if it is too small for a decimal, NaN if it is too large.
  static func product(_ a: Decimal, _ b: Decimal) -> Decimal {
    guard !a.isNaN, !b.isNaN else { return .nan }
    let lacking = leastExponent - a.exponent - b.exponent
    guard lacking > 0, !a.isZero, !b.isZero else { return a * b }
    // A product has 38 digits, so half of the digits of each can go.
    let digits = [a, b].map { "\($0.significand)".count }
    var cut = [min(lacking, digits[0] / 2), 0]
    cut[1] = min(lacking - cut[0], digits[1] / 2)
    for index in 0..<2 { cut[index] += min(lacking - cut[0] - cut[1], digits[index] - 1 - cut[index]) }
    guard cut[0] + cut[1] == lacking else { return 0 }
    return a.withoutLast(cut[0]) * b.withoutLast(cut[1])
  }

  /// The power; NaN if it is too large.
  static func power(_ base: Decimal, _ exponent: Int) -> Decimal {
    var result: Decimal = 1
    for _ in 0..<exponent where !result.isNaN && !result.isZero { result = product(result, base) }
    return result
  }

  private func withoutLast(_ count: Int) -> Decimal {
    guard count > 0 else { return self }
    var source = self
    var result = Decimal()
    NSDecimalRound(&result, &source, -exponent - count, .plain)
    return result
  }
}

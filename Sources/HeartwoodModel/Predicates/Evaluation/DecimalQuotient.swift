import Foundation

/// Quotients of decimals. Foundation's operator gives wrong digits, also the first ones, where the divisor has more of them than 16 bits.
extension Decimal {
  /// The quotient with all digits that fit; zero if it is too small for a decimal, NaN if it is too large, or the divisor is zero.
  package static func quotient(_ a: Decimal, _ b: Decimal) -> Decimal {
    let (dividend, divisor) = (DecimalParts(a), DecimalParts(b))
    guard !dividend.isNaN, !divisor.isNaN, divisor.mantissa != 0 else { return .nan }
    // The same as in Swift.
    if divisor.mantissa <= UInt16.max, abs(dividend.exponent - divisor.exponent) < 80 { return a / b }
    var result = DecimalParts(0)
    result.isNegative = dividend.isNegative != divisor.isNegative
    result.exponent = dividend.exponent - divisor.exponent
    var (digits, rest) = dividend.mantissa.quotientAndRemainder(dividingBy: divisor.mantissa)
    while rest != 0, result.exponent > leastExponent, digits <= (.max - 9) / 10 {
      let (digit, remaining) = divisor.mantissa.dividingFullWidth(rest.multipliedFullWidth(by: 10))
      (digits, rest) = (digits * 10 + digit, remaining)
      result.exponent -= 1
    }
    // More digits than these are followed by none that fits.
    if rest >= divisor.mantissa - rest, digits < .max { digits += 1 }
    result.mantissa = digits
    return result.fitting
  }
}

extension DecimalParts {
  /// The number with an exponent that a decimal can have.
  fileprivate var fitting: Decimal {
    var parts = self
    while parts.exponent < Decimal.leastExponent, parts.mantissa != 0 {
      parts.mantissa = parts.mantissa / 10 + (parts.mantissa % 10 >= 5 ? 1 : 0)
      parts.exponent += 1
    }
    while parts.exponent > 127, parts.mantissa != 0 {
      guard parts.mantissa <= .max / 10 else { return .nan }
      parts.mantissa *= 10
      parts.exponent -= 1
    }
    while parts.mantissa != 0, parts.exponent < 127, parts.mantissa.isMultiple(of: 10) {
      parts.mantissa /= 10
      parts.exponent += 1
    }
    return parts.mantissa == 0 ? 0 : parts.decimal
  }
}

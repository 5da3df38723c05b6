import Foundation

/// Decimals as text: a sign or none, digits, a point and digits or none, an exponent or none; and `NaN`, which is no number.
@usableFromInline package enum DecimalText {
  /// Parses a decimal.
  ///
  /// - Parameter allowsNaN: Whether the text may be `NaN`.
  /// - Returns: Nil if the text has another form, or a number that is not exactly a decimal: of more than 38 digits, or too large or small.
  @inlinable package static func decimal(_ text: some StringProtocol, allowsNaN: Bool = true) -> Decimal? {
    decimal(Array(text.utf8), allowsNaN: allowsNaN)
  }

  @usableFromInline static func decimal(_ text: [UInt8], allowsNaN: Bool) -> Decimal? {
    if text.elementsEqual("NaN".utf8) { return allowsNaN ? .nan : nil }
    return digits(text)?.parts?.decimal
  }

  /// Parses a number, and rounds it if it has more digits than decimals have.
  ///
  /// - Returns: Nil if the text is no number, or one that is too large or small.
  package static func nearest(_ text: String) -> Decimal? {
    decimal(text, allowsNaN: false) ?? Decimal(string: text)
  }

  /// Whether the text is a number, also one that no decimal is exactly.
  @inlinable package static func isNumber(_ text: some StringProtocol) -> Bool {
    isNumber(Array(text.utf8))
  }

  @usableFromInline static func isNumber(_ text: [UInt8]) -> Bool { digits(text) != nil }

  /// The digits of a text, before it is known whether a decimal can have them.
  private struct Digits {
    var isNegative = false
    /// Of the number without its point, from the first that is not zero to the last.
    var significant: ArraySlice<UInt8> = []
    /// The power of ten of the last of them.
    var exponent = 0

    /// In normal form; nil if the number has too many digits, or is too large or small.
    var parts: DecimalParts? {
      var parts = DecimalParts(0)
      guard !significant.isEmpty else { return parts }
      guard exponent >= DecimalParts.exponents.lowerBound else { return nil }
      // A large number may have its zeros among the digits.
      let zeros = max(0, exponent - DecimalParts.exponents.upperBound)
      guard significant.count + zeros <= DecimalParts.mostDigits else { return nil }
      var mantissa: UInt128 = 0
      for digit in significant + ArraySlice(repeating: UInt8(ascii: "0"), count: zeros) {
        let (tens, isTooLarge) = mantissa.multipliedReportingOverflow(by: 10)
        let (sum, overflows) = tens.addingReportingOverflow(UInt128(digit - UInt8(ascii: "0")))
        guard !isTooLarge, !overflows else { return nil }
        mantissa = sum
      }
      (parts.isNegative, parts.mantissa, parts.exponent) = (isNegative, mantissa, exponent - zeros)
      return parts
    }
  }

  private static func digits(_ text: [UInt8]) -> Digits? {
    var rest = text[...]
    var digits = Digits(isNegative: rest.first == UInt8(ascii: "-"))
    if let first = rest.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") { rest.removeFirst() }
    let whole = rest.prefix(while: isDigit)
    rest = rest.dropFirst(whole.count)
    var fraction = rest.prefix(0)
    if rest.first == UInt8(ascii: ".") {
      fraction = rest.dropFirst().prefix(while: isDigit)
      guard !fraction.isEmpty else { return nil }
      rest = rest.dropFirst(1 + fraction.count)
    }
    guard !whole.isEmpty, let power = exponent(rest) else { return nil }
    let all = whole + fraction
    let end = all.lastIndex { $0 != UInt8(ascii: "0") }.map { $0 + 1 } ?? all.startIndex
    digits.significant = all[..<end].drop { $0 == UInt8(ascii: "0") }
    digits.exponent = power - fraction.count + all.endIndex - end
    return digits
  }

  /// The exponent after the digits, 0 for none; one of more than six digits is as large or small as one of six. Nil for anything else.
  private static func exponent(_ text: ArraySlice<UInt8>) -> Int? {
    guard let mark = text.first else { return 0 }
    guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return nil }
    let signed = text.dropFirst()
    let isSigned = signed.first == UInt8(ascii: "-") || signed.first == UInt8(ascii: "+")
    let digits = isSigned ? signed.dropFirst() : signed
    guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return nil }
    let significant = digits.drop { $0 == UInt8(ascii: "0") }
    let value =
      significant.count > 6 ? 999_999 : significant.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return signed.first == UInt8(ascii: "-") ? -value : value
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

extension DecimalParts {
  fileprivate static let exponents = -128...127
  /// The largest number of digits, of which not all mantissas of so many fit.
  fileprivate static let mostDigits = 39
}

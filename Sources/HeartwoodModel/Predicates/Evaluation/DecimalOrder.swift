extension DecimalParts {
  /// Negative, zero or positive; NaN sorts after all numbers.
  static func order(_ left: DecimalParts, _ right: DecimalParts) -> Int {
    if left.isNaN || right.isNaN { return left.isNaN ? (right.isNaN ? 0 : 1) : -1 }
    let (leftSign, rightSign) = (left.sign, right.sign)
    guard leftSign == rightSign else { return leftSign < rightSign ? -1 : 1 }
    return leftSign * magnitudeOrder(left, right)
  }

  private var sign: Int { mantissa == 0 ? 0 : isNegative ? -1 : 1 }

  /// Compares the mantissas after scaling both numbers to the smaller exponent.
  private static func magnitudeOrder(_ left: DecimalParts, _ right: DecimalParts) -> Int {
    if left.exponent < right.exponent { return -magnitudeOrder(right, left) }
    var scaled = left.mantissa
    for _ in 0..<(left.exponent - right.exponent) {
      let (product, overflow) = scaled.multipliedReportingOverflow(by: 10)
      // Greater than any mantissa.
      if overflow { return 1 }
      scaled = product
    }
    return Value.order(scaled, right.mantissa)
  }
}

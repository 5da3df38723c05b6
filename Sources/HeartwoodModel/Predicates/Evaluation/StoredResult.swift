import Foundation

extension Value {
  /// The computed value as an attribute stores it; nil if it does not fit.
  package func stored(as attribute: AttributeDescription) -> Value? {
    switch (self, attribute.type) {
    case (.double(let number), .integer16), (.double(let number), .integer32),
      (.double(let number), .integer64):
      return Int64(exactly: number.rounded(.towardZero)).flatMap { Value.int($0).fitted(to: attribute.type) }
    case (.decimal(let number), .integer16), (.decimal(let number), .integer32),
      (.decimal(let number), .integer64):
      let whole = number < 0 ? (-number).wholePartBelow.map { -$0 } : number.wholePartBelow
      return whole.flatMap { Value.int($0).fitted(to: attribute.type) }
    case (.double(let number), .decimal):
      return number.isFinite ? DecimalText.nearest("\(number)").map(Value.decimal) : nil
    default: return fitted(to: attribute.type)
    }
  }

  /// The number as an attribute holds it; nil if it does not fit, or would become infinite. Digits that a floating-point number or a
  /// decimal does not have are rounded.
  ///
  /// - Parameter truncatesFractions: Whether an integer attribute takes a fraction without its decimals.
  package func held(by attribute: AttributeDescription, truncatesFractions: Bool = false) -> Value? {
    guard let stored = stored(as: attribute) else { return nil }
    let isHeld =
      switch (self, stored) {
      case (.double(let given), .int(let held)): truncatesFractions || Double(held) == given
      case (.decimal(let given), .int(let held)): truncatesFractions || Decimal(held) == given
      case (.double(let given), .double(let held)): !held.isInfinite || given.isInfinite
      case (_, .double(let held)): !held.isInfinite
      default: true
      }
    return isHeld ? stored : nil
  }
}

import Foundation

/// The order of values in sorting, comparisons and indexes.
extension Value {
  /// Compares two values: negative, zero or positive; nil if they have no order, such as a string and a number.
  ///
  /// Null comes before everything, NaN after every number. Integers and doubles are compared exactly, not by converting
  /// one into the other; a decimal beside a double is rounded to one.
  package static func compare(_ left: Value, _ right: Value) -> Int? {
    switch (left, right) {
    case (.null, .null): 0
    case (.null, _): -1
    case (_, .null): 1
    case (.int(let a), .int(let b)): order(a, b)
    case (.double(let a), .double(let b)), (.date(let a), .date(let b)): order(a, b)
    case (.int(let a), .double(let b)): order(a, b)
    case (.double(let a), .int(let b)): -order(b, a)
    case (.bool(let a), .bool(let b)): a == b ? 0 : b ? -1 : 1
    case (.string(let a), .string(let b)), (.url(let a), .url(let b)): order(a, b)
    case (.data(let a), .data(let b)): order(a, b)
    case (.uuid(let a), .uuid(let b)): order(a, b)
    case (.object(let a), .object(let b)): order(a.key, b.key)
    default: compareOthers(left, right)
    }
  }

  @inlinable package static func order<Number: FixedWidthInteger>(_ a: Number, _ b: Number) -> Int {
    a == b ? 0 : a < b ? -1 : 1
  }

  /// By composed scalars, as in indexes. Swift's `<` has "e\u{301}", a decomposed é, after "éa".
  @inlinable package static func order(_ a: String, _ b: String) -> Int {
    if a == b { return 0 }
    let (a, b) = (a.normalizedForComparison.utf8, b.normalizedForComparison.utf8)
    // Some that Swift takes for different have the same.
    return a.lexicographicallyPrecedes(b) ? -1 : a.elementsEqual(b) ? 0 : 1
  }

  /// A total order: NaN is last and equal to itself.
  @inlinable package static func order(_ a: Double, _ b: Double) -> Int {
    if a == b { return 0 }
    if a.isNaN { return b.isNaN ? 0 : 1 }
    return b.isNaN || a < b ? -1 : 1
  }

  /// Exact: a double outside the range of `Int64` decides by its sign, any other by its integral part, then its fraction.
  static func order(_ a: Int64, _ b: Double) -> Int {
    if b.isNaN || b >= 0x1p63 { return -1 }
    if b < -0x1p63 { return 1 }
    let whole = b.rounded(.towardZero)
    let order = order(a, Int64(whole))
    return order != 0 ? order : Self.order(0.0 as Double, b - whole)
  }

  static func order(_ a: Decimal, _ b: Decimal) -> Int {
    if a.isNaN || b.isNaN { return a.isNaN ? (b.isNaN ? 0 : 1) : -1 }
    return a == b ? 0 : a < b ? -1 : 1
  }

  static func order(_ a: Data, _ b: Data) -> Int {
    if a == b { return 0 }
    return a.lexicographicallyPrecedes(b) ? -1 : 1
  }

  static func order(_ a: UUID, _ b: UUID) -> Int {
    withUnsafeBytes(of: a.uuid) { a in
      withUnsafeBytes(of: b.uuid) { b in
        a.elementsEqual(b) ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
      }
    }
  }

  private static func compareOthers(_ left: Value, _ right: Value) -> Int? {
    switch (left, right) {
    case (.decimal(let a), .decimal(let b)): order(a, b)
    case (.decimal(let a), .int(let b)): order(a, Decimal(b))
    case (.int(let a), .decimal(let b)): order(Decimal(a), b)
    case (.decimal(let a), .double(let b)): order(a, b)
    case (.double(let a), .decimal(let b)): -order(b, a)
    case (.opaque(let a), .opaque(let b)): a == b ? 0 : nil
    default: nil
    }
  }

  /// The order of the double that is nearest to the decimal, because few fractions are exact in both types.
  private static func order(_ a: Decimal, _ b: Double) -> Int { order(DecimalParts(a).doubleValue, b) }
}

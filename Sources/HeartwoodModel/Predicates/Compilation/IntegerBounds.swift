import Foundation

/// The integers that satisfy a comparison with a constant.
///
/// Comparing an integer with any number is equivalent to testing whether it is inside or outside a range of
/// integers.
struct IntegerBounds {
  /// Nil for an empty range.
  var range: ClosedRange<Int64>?
  /// False if the comparison holds for the integers outside the range, and for nil.
  var isInsideWanted = true

  /// - Parameter constant: a number of any kind.
  init(_ comparator: ComparisonOperator, _ constant: Value) {
    let equal = Self.integer(equalTo: constant)
    switch comparator {
    case .equal: range = equal.map { $0...$0 }
    case .notEqual:
      range = equal.map { $0...$0 }
      isInsideWanted = false
    case .less: range = Self.upTo(Self.place(of: constant), excluding: equal)
    case .lessOrEqual: range = Self.upTo(Self.place(of: constant), excluding: nil)
    case .greater: range = Self.from(Self.place(of: constant), including: nil)
    case .greaterOrEqual: range = Self.from(Self.place(of: constant), including: equal)
    default: range = nil
    }
  }

  init(between low: Value, and high: Value) {
    guard let low = IntegerBounds(.greaterOrEqual, low).range,
      let high = IntegerBounds(.lessOrEqual, high).range
    else { return }
    range = low.lowerBound <= high.upperBound ? low.lowerBound...high.upperBound : nil
  }

  /// The position of a number among the 64-bit integers.
  private enum PlaceAmongIntegers {
    case below, above
    /// The greatest integer not above the number.
    case floor(Int64)
  }

  private static func integer(equalTo value: Value) -> Int64? {
    switch value {
    case .int(let number): number
    case .bool(let flag): flag ? 1 : 0
    case .double(let number): Int64(exactly: number)
    case .decimal(let number): number.exactInteger
    default: nil
    }
  }

  private static func place(of value: Value) -> PlaceAmongIntegers {
    if let number = integer(equalTo: value) { return .floor(number) }
    switch value {
    case .double(let number):
      if number.isNaN || number >= 0x1p63 { return .above }
      return number < -0x1p63 ? .below : .floor(Int64(number.rounded(.down)))
    case .decimal(let number):
      if number.isNaN { return .above }
      return number.wholePartBelow.map(PlaceAmongIntegers.floor) ?? (number < 0 ? .below : .above)
    default: return .above
    }
  }

  private static func upTo(_ place: PlaceAmongIntegers, excluding excluded: Int64?) -> ClosedRange<Int64>? {
    switch place {
    case .below: return nil
    case .above: return .min ... .max
    case .floor(let floor):
      guard excluded != nil else { return .min...floor }
      return floor == .min ? nil : .min...(floor - 1)
    }
  }

  private static func from(_ place: PlaceAmongIntegers, including included: Int64?) -> ClosedRange<Int64>? {
    switch place {
    case .below: return .min ... .max
    case .above: return nil
    case .floor(let floor):
      guard included == nil else { return floor ... .max }
      return floor == .max ? nil : (floor + 1) ... .max
    }
  }
}

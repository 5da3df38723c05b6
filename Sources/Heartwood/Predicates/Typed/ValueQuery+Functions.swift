import Foundation

/// Functions of values, computed by the store. A function of a missing value is nil, and so is one without a result: the root of a
/// negative number, or an overflow.

extension ValueQuery {
  private func applying<Result>(
    _ function: ConditionFunction, _ others: ConditionExpression...
  ) -> ValueQuery<Result> {
    ValueQuery<Result>(ConditionExpression(.function(function, [_expression] + others)))
  }

  /// The value, or another one if it is missing.
  public static func ?? (left: ValueQuery, right: Value) -> ValueQuery {
    left.applying(.coalesce, .value(constant(right)))
  }

  /// The value, or another one if it is missing.
  public static func ?? (left: ValueQuery, right: ValueQuery) -> ValueQuery {
    left.applying(.coalesce, right._expression)
  }
}

/// Texts.
extension ValueQuery where Value == String {
  /// The text in upper case.
  public func uppercased() -> ValueQuery { applying(.uppercase) }
  /// The text in lower case.
  public func lowercased() -> ValueQuery { applying(.lowercase) }
  /// The text without differences of case and accents, as the options `[cd]` compare it.
  public var canonical: ValueQuery { applying(.canonical) }
  /// The number of characters.
  public var count: ValueQuery<Int> { applying(.length) }

  /// The text followed by another one.
  public static func + (left: ValueQuery, right: ValueQuery) -> ValueQuery {
    ValueQuery(ConditionExpression(.arithmetic(.add, left._expression, right._expression)))
  }
  /// The text followed by another one.
  public static func + (left: ValueQuery, right: String) -> ValueQuery {
    ValueQuery(ConditionExpression(.arithmetic(.add, left._expression, .value(.string(right)))))
  }
  /// The text after another one.
  public static func + (left: String, right: ValueQuery) -> ValueQuery {
    ValueQuery(ConditionExpression(.arithmetic(.add, .value(.string(left)), right._expression)))
  }
}

/// Data.
extension ValueQuery where Value == Data {
  /// The number of bytes.
  public var count: ValueQuery<Int> { applying(.length) }
}

/// Numbers.
extension ValueQuery where Value: Numeric {
  /// The number without its sign.
  public var magnitude: ValueQuery { applying(.abs) }
  /// The nearest whole number; of two, the one farther from zero.
  public func rounded() -> ValueQuery { applying(.round) }
  /// The number rounded to digits after the point, or before it if negative.
  public func rounded(toDigits digits: Int) -> ValueQuery { applying(.round, .value(.int(Int64(digits)))) }
  /// The greatest whole number that is not greater.
  public var floor: ValueQuery { applying(.floor) }
  /// The least whole number that is not less.
  public var ceiling: ValueQuery { applying(.ceiling) }
  /// The number without its fraction.
  public var truncated: ValueQuery { applying(.trunc) }
  /// The square root.
  public func squareRoot() -> ValueQuery<Double> { applying(.squareRoot) }
  /// The logarithm to the base of 10.
  public var logarithm: ValueQuery<Double> { applying(.log) }
  /// The natural logarithm.
  public var naturalLogarithm: ValueQuery<Double> { applying(.ln) }
  /// The power of e.
  public var exponential: ValueQuery<Double> { applying(.exp) }
  /// A power of the number.
  public func raised(to exponent: Int) -> ValueQuery { applying(.raise, .value(.int(Int64(exponent)))) }
  /// The remainder of a division, of the sign of the number.
  public static func % (left: ValueQuery, right: Value) -> ValueQuery {
    left.applying(.modulus, .value(constant(right)))
  }
  /// The remainder of a division, of the sign of the left number.
  public static func % (left: ValueQuery, right: ValueQuery) -> ValueQuery {
    left.applying(.modulus, right._expression)
  }
  /// The number as a floating-point number.
  public var asDouble: ValueQuery<Double> { applying(.cast, .value(.string("NSNumber"))) }
}

/// Dates. Components are those of the Gregorian calendar in UTC; `component(_:in:)` has those of a time zone.
extension ValueQuery where Value == Date {
  /// A component of a date.
  public enum DateComponent: Sendable {
    /// The year.
    case year
    /// The quarter, from 1.
    case quarter
    /// The month, from 1.
    case month
    /// The week of ISO 8601: weeks begin on Monday.
    case week
    /// The day of the month.
    case day
    /// The day of the year, from 1.
    case dayOfYear
    /// The day of the week; 1 is Sunday.
    case weekday
    /// The hour.
    case hour
    /// The minute.
    case minute
    /// The second.
    case second

    fileprivate var function: ConditionFunction {
      switch self {
      case .year: .year
      case .quarter: .quarter
      case .month: .month
      case .week: .week
      case .day: .day
      case .dayOfYear: .dayOfYear
      case .weekday: .weekday
      case .hour: .hour
      case .minute: .minute
      case .second: .second
      }
    }
  }

  /// A component of the date in a time zone.
  public func component(_ component: DateComponent, in zone: TimeZone) -> ValueQuery<Int> {
    applying(component.function, .value(.string(zone.identifier)))
  }

  /// The year in UTC.
  public var year: ValueQuery<Int> { applying(.year) }
  /// The quarter in UTC, from 1.
  public var quarter: ValueQuery<Int> { applying(.quarter) }
  /// The month in UTC, from 1.
  public var month: ValueQuery<Int> { applying(.month) }
  /// The week of ISO 8601 in UTC.
  public var week: ValueQuery<Int> { applying(.week) }
  /// The day of the month in UTC.
  public var day: ValueQuery<Int> { applying(.day) }
  /// The day of the year in UTC, from 1.
  public var dayOfYear: ValueQuery<Int> { applying(.dayOfYear) }
  /// The day of the week in UTC; 1 is Sunday.
  public var weekday: ValueQuery<Int> { applying(.weekday) }
  /// The hour in UTC.
  public var hour: ValueQuery<Int> { applying(.hour) }
  /// The minute in UTC.
  public var minute: ValueQuery<Int> { applying(.minute) }
  /// The second in UTC.
  public var second: ValueQuery<Int> { applying(.second) }

  /// The time when the fetch is executed.
  public static var now: ValueQuery { ValueQuery(ConditionExpression(.function(.now, []))) }

  /// The date after some seconds.
  public static func + (left: ValueQuery, right: Double) -> ValueQuery {
    left.moved(.add, .value(.double(right)))
  }
  /// The date before some seconds.
  public static func - (left: ValueQuery, right: Double) -> ValueQuery {
    left.moved(.subtract, .value(.double(right)))
  }
  /// The seconds from the right date to the left one.
  public static func - (left: ValueQuery, right: ValueQuery) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.subtract, left._expression, right._expression)))
  }
  /// The seconds from the right date to the left one.
  public static func - (left: ValueQuery, right: Date) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.subtract, left._expression, .value(right._value))))
  }

  private func moved(_ operation: ArithmeticOperator, _ seconds: ConditionExpression) -> ValueQuery {
    ValueQuery(ConditionExpression(.arithmetic(operation, _expression, seconds)))
  }
}

/// Distances.
extension ValueQuery where Value == Double {
  /// The distance in metres of the place with this latitude and a longitude in degrees from another one.
  public func distance(
    longitude: ValueQuery<Double>, fromLatitude otherLatitude: Double, longitude otherLongitude: Double
  ) -> ValueQuery<Double> {
    ValueQuery<Double>(
      ConditionExpression(
        .function(
          .distance,
          [
            ConditionExpression(.list([_expression, longitude._expression])),
            .list([.double(otherLatitude), .double(otherLongitude)]),
          ])))
  }
}

/// Values that depend on a condition.
extension Condition {
  /// One value where the condition is true, and another one where it is false.
  ///
  /// ```swift
  /// { $0.isSold.then($0.price, else: 0) > 100 }
  /// ```
  public func then<Value>(_ value: ValueQuery<Value>, else other: ValueQuery<Value>) -> ValueQuery<Value> {
    ValueQuery(ConditionExpression(.conditional(self, value._expression, other._expression)))
  }
  /// One value where the condition is true, and another one where it is false.
  public func then<Value>(_ value: ValueQuery<Value>, else other: Value) -> ValueQuery<Value> {
    ValueQuery(ConditionExpression(.conditional(self, value._expression, .value(other._value))))
  }
  /// One value where the condition is true, and another one where it is false.
  public func then<Value>(_ value: Value, else other: ValueQuery<Value>) -> ValueQuery<Value> {
    ValueQuery(ConditionExpression(.conditional(self, .value(value._value), other._expression)))
  }
  /// One value where the condition is true, and another one where it is false.
  public func then<Value: AttributeValue>(_ value: Value, else other: Value) -> ValueQuery<Value> {
    ValueQuery(ConditionExpression(.conditional(self, .value(value._value), .value(other._value))))
  }
}

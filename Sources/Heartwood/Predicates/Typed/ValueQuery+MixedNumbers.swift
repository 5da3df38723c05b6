import Foundation

/// Numbers of different types in one comparison or expression.
///
/// An integer and a decimal are compared and computed as decimals, a floating-point number and any other as doubles; an
/// integer and a floating-point number are compared exactly. The overloads are disfavoured, so that expressions of one type are
/// checked as fast as without them.

/// Comparisons.
extension ValueQuery where Value: Numeric {
  /// Whether the numbers are equal.
  @_disfavoredOverload
  public static func == <Other: AttributeValue & Numeric>(
    left: ValueQuery, right: ValueQuery<Other>
  ) -> Condition { .comparing(left._expression, .equal, right._expression) }
  /// Whether the numbers differ.
  @_disfavoredOverload
  public static func != <Other: AttributeValue & Numeric>(
    left: ValueQuery, right: ValueQuery<Other>
  ) -> Condition { .comparing(left._expression, .notEqual, right._expression) }
  /// Whether the left number is less than the right one.
  @_disfavoredOverload
  public static func < <Other: AttributeValue & Numeric>(
    left: ValueQuery, right: ValueQuery<Other>
  ) -> Condition { .comparing(left._expression, .less, right._expression) }
  /// Whether the left number is at most the right one.
  @_disfavoredOverload
  public static func <= <Other: AttributeValue & Numeric>(
    left: ValueQuery, right: ValueQuery<Other>
  ) -> Condition { .comparing(left._expression, .lessOrEqual, right._expression) }
  /// Whether the left number is greater than the right one.
  @_disfavoredOverload
  public static func > <Other: AttributeValue & Numeric>(
    left: ValueQuery, right: ValueQuery<Other>
  ) -> Condition { .comparing(left._expression, .greater, right._expression) }
  /// Whether the left number is at least the right one.
  @_disfavoredOverload
  public static func >= <Other: AttributeValue & Numeric>(
    left: ValueQuery, right: ValueQuery<Other>
  ) -> Condition { .comparing(left._expression, .greaterOrEqual, right._expression) }
  /// Whether the numbers are equal.
  @_disfavoredOverload
  public static func == <Other: AttributeValue & Numeric>(left: ValueQuery, right: Other) -> Condition {
    .comparing(left._expression, .equal, .value(right._value))
  }
  /// Whether the numbers differ.
  @_disfavoredOverload
  public static func != <Other: AttributeValue & Numeric>(left: ValueQuery, right: Other) -> Condition {
    .comparing(left._expression, .notEqual, .value(right._value))
  }
  /// Whether the left number is less than the right one.
  @_disfavoredOverload
  public static func < <Other: AttributeValue & Numeric>(left: ValueQuery, right: Other) -> Condition {
    .comparing(left._expression, .less, .value(right._value))
  }
  /// Whether the left number is at most the right one.
  @_disfavoredOverload
  public static func <= <Other: AttributeValue & Numeric>(left: ValueQuery, right: Other) -> Condition {
    .comparing(left._expression, .lessOrEqual, .value(right._value))
  }
  /// Whether the left number is greater than the right one.
  @_disfavoredOverload
  public static func > <Other: AttributeValue & Numeric>(left: ValueQuery, right: Other) -> Condition {
    .comparing(left._expression, .greater, .value(right._value))
  }
  /// Whether the left number is at least the right one.
  @_disfavoredOverload
  public static func >= <Other: AttributeValue & Numeric>(left: ValueQuery, right: Other) -> Condition {
    .comparing(left._expression, .greaterOrEqual, .value(right._value))
  }
}

/// Arithmetic of an integer with numbers of other types.
extension ValueQuery where Value: BinaryInteger {
  /// The sum.
  @_disfavoredOverload
  public static func + (left: ValueQuery, right: ValueQuery<Decimal>) -> ValueQuery<Decimal> {
    ValueQuery<Decimal>(ConditionExpression(.arithmetic(.add, left._expression, right._expression)))
  }
  /// The difference.
  @_disfavoredOverload
  public static func - (left: ValueQuery, right: ValueQuery<Decimal>) -> ValueQuery<Decimal> {
    ValueQuery<Decimal>(ConditionExpression(.arithmetic(.subtract, left._expression, right._expression)))
  }
  /// The product.
  @_disfavoredOverload
  public static func * (left: ValueQuery, right: ValueQuery<Decimal>) -> ValueQuery<Decimal> {
    ValueQuery<Decimal>(ConditionExpression(.arithmetic(.multiply, left._expression, right._expression)))
  }
  /// The quotient.
  @_disfavoredOverload
  public static func / (left: ValueQuery, right: ValueQuery<Decimal>) -> ValueQuery<Decimal> {
    ValueQuery<Decimal>(ConditionExpression(.arithmetic(.divide, left._expression, right._expression)))
  }
  /// The sum.
  @_disfavoredOverload
  public static func + (left: ValueQuery<Decimal>, right: ValueQuery) -> ValueQuery<Decimal> {
    ValueQuery<Decimal>(ConditionExpression(.arithmetic(.add, left._expression, right._expression)))
  }
  /// The difference.
  @_disfavoredOverload
  public static func - (left: ValueQuery<Decimal>, right: ValueQuery) -> ValueQuery<Decimal> {
    ValueQuery<Decimal>(ConditionExpression(.arithmetic(.subtract, left._expression, right._expression)))
  }
  /// The product.
  @_disfavoredOverload
  public static func * (left: ValueQuery<Decimal>, right: ValueQuery) -> ValueQuery<Decimal> {
    ValueQuery<Decimal>(ConditionExpression(.arithmetic(.multiply, left._expression, right._expression)))
  }
  /// The quotient.
  @_disfavoredOverload
  public static func / (left: ValueQuery<Decimal>, right: ValueQuery) -> ValueQuery<Decimal> {
    ValueQuery<Decimal>(ConditionExpression(.arithmetic(.divide, left._expression, right._expression)))
  }
  /// The sum.
  @_disfavoredOverload
  public static func + (left: ValueQuery, right: ValueQuery<Double>) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.add, left._expression, right._expression)))
  }
  /// The difference.
  @_disfavoredOverload
  public static func - (left: ValueQuery, right: ValueQuery<Double>) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.subtract, left._expression, right._expression)))
  }
  /// The product.
  @_disfavoredOverload
  public static func * (left: ValueQuery, right: ValueQuery<Double>) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.multiply, left._expression, right._expression)))
  }
  /// The quotient.
  @_disfavoredOverload
  public static func / (left: ValueQuery, right: ValueQuery<Double>) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.divide, left._expression, right._expression)))
  }
  /// The sum.
  @_disfavoredOverload
  public static func + (left: ValueQuery<Double>, right: ValueQuery) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.add, left._expression, right._expression)))
  }
  /// The difference.
  @_disfavoredOverload
  public static func - (left: ValueQuery<Double>, right: ValueQuery) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.subtract, left._expression, right._expression)))
  }
  /// The product.
  @_disfavoredOverload
  public static func * (left: ValueQuery<Double>, right: ValueQuery) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.multiply, left._expression, right._expression)))
  }
  /// The quotient.
  @_disfavoredOverload
  public static func / (left: ValueQuery<Double>, right: ValueQuery) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.divide, left._expression, right._expression)))
  }
  /// The sum.
  @_disfavoredOverload
  public static func + (left: ValueQuery, right: Double) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.add, left._expression, .value(right._value))))
  }
  /// The difference.
  @_disfavoredOverload
  public static func - (left: ValueQuery, right: Double) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.subtract, left._expression, .value(right._value))))
  }
  /// The product.
  @_disfavoredOverload
  public static func * (left: ValueQuery, right: Double) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.multiply, left._expression, .value(right._value))))
  }
  /// The quotient.
  @_disfavoredOverload
  public static func / (left: ValueQuery, right: Double) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.divide, left._expression, .value(right._value))))
  }
  /// The sum.
  @_disfavoredOverload
  public static func + (left: ValueQuery, right: Decimal) -> ValueQuery<Decimal> {
    ValueQuery<Decimal>(ConditionExpression(.arithmetic(.add, left._expression, .value(right._value))))
  }
  /// The difference.
  @_disfavoredOverload
  public static func - (left: ValueQuery, right: Decimal) -> ValueQuery<Decimal> {
    ValueQuery<Decimal>(ConditionExpression(.arithmetic(.subtract, left._expression, .value(right._value))))
  }
  /// The product.
  @_disfavoredOverload
  public static func * (left: ValueQuery, right: Decimal) -> ValueQuery<Decimal> {
    ValueQuery<Decimal>(ConditionExpression(.arithmetic(.multiply, left._expression, .value(right._value))))
  }
  /// The quotient.
  @_disfavoredOverload
  public static func / (left: ValueQuery, right: Decimal) -> ValueQuery<Decimal> {
    ValueQuery<Decimal>(ConditionExpression(.arithmetic(.divide, left._expression, .value(right._value))))
  }
}

/// Arithmetic of a decimal with a floating-point number.
extension ValueQuery where Value == Decimal {
  /// The sum.
  @_disfavoredOverload
  public static func + (left: ValueQuery, right: ValueQuery<Double>) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.add, left._expression, right._expression)))
  }
  /// The difference.
  @_disfavoredOverload
  public static func - (left: ValueQuery, right: ValueQuery<Double>) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.subtract, left._expression, right._expression)))
  }
  /// The product.
  @_disfavoredOverload
  public static func * (left: ValueQuery, right: ValueQuery<Double>) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.multiply, left._expression, right._expression)))
  }
  /// The quotient.
  @_disfavoredOverload
  public static func / (left: ValueQuery, right: ValueQuery<Double>) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.divide, left._expression, right._expression)))
  }
  /// The sum.
  @_disfavoredOverload
  public static func + (left: ValueQuery<Double>, right: ValueQuery) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.add, left._expression, right._expression)))
  }
  /// The difference.
  @_disfavoredOverload
  public static func - (left: ValueQuery<Double>, right: ValueQuery) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.subtract, left._expression, right._expression)))
  }
  /// The product.
  @_disfavoredOverload
  public static func * (left: ValueQuery<Double>, right: ValueQuery) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.multiply, left._expression, right._expression)))
  }
  /// The quotient.
  @_disfavoredOverload
  public static func / (left: ValueQuery<Double>, right: ValueQuery) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.arithmetic(.divide, left._expression, right._expression)))
  }
}

/// A value in a typed condition: an attribute, or an expression of attributes.
///
/// A missing value equals only nil and has no order; see `Condition`.
@dynamicMemberLookup
public struct ValueQuery<Value: AttributeValue>: Sendable {
  let _expression: ConditionExpression

  init(_ expression: ConditionExpression) { _expression = expression }

  private func compared(_ comparator: ComparisonOperator, _ value: Value?) -> Condition {
    .comparing(_expression, comparator, .value(Self.constant(value)))
  }

  static func constant(_ value: Value?) -> _Value {
    value?._value ?? .null
  }
}

/// The elements of a composite attribute.
extension ValueQuery where Value: CompositeValue {
  /// An element.
  public subscript<Element: AttributeValue>(dynamicMember keyPath: KeyPath<Value, Element>) -> ValueQuery<
    Element
  > {
    ValueQuery<Element>(_expression.appending(keyPath))
  }

  /// An element that may be nil.
  public subscript<Element: AttributeValue>(dynamicMember keyPath: KeyPath<Value, Element?>) -> ValueQuery<
    Element
  > {
    ValueQuery<Element>(_expression.appending(keyPath))
  }

  /// Whether a Boolean element is true.
  public subscript(dynamicMember keyPath: KeyPath<Value, Bool>) -> Condition {
    .comparing(_expression.appending(keyPath), .equal, .value(.bool(true)))
  }
}

extension ConditionExpression {
  /// The element that a key path reads from the composite attribute at the end of this path.
  fileprivate func appending(_ keyPath: AnyKeyPath) -> ConditionExpression {
    guard case .path(let path) = kind else { return self }
    return .path(path.appending(keyPath))
  }
}

/// Comparisons with constants.
extension ValueQuery {
  /// Whether the value equals this one; nil tests whether there is none.
  public static func == (left: ValueQuery, right: Value?) -> Condition { left.compared(.equal, right) }
  /// Whether the value differs from this one, or is missing; nil tests whether there is one.
  public static func != (left: ValueQuery, right: Value?) -> Condition { left.compared(.notEqual, right) }
  /// Whether the value is less than this one.
  public static func < (left: ValueQuery, right: Value) -> Condition { left.compared(.less, right) }
  /// Whether the value is at most this one.
  public static func <= (left: ValueQuery, right: Value) -> Condition { left.compared(.lessOrEqual, right) }
  /// Whether the value is greater than this one.
  public static func > (left: ValueQuery, right: Value) -> Condition { left.compared(.greater, right) }
  /// Whether the value is at least this one.
  public static func >= (left: ValueQuery, right: Value) -> Condition {
    left.compared(.greaterOrEqual, right)
  }

  /// Whether the value equals this one; nil tests whether there is none.
  public static func == (left: Value?, right: ValueQuery) -> Condition { right.compared(.equal, left) }
  /// Whether the value differs from this one, or is missing; nil tests whether there is one.
  public static func != (left: Value?, right: ValueQuery) -> Condition { right.compared(.notEqual, left) }
  /// Whether the value is greater than this one.
  public static func < (left: Value, right: ValueQuery) -> Condition { right.compared(.greater, left) }
  /// Whether the value is at least this one.
  public static func <= (left: Value, right: ValueQuery) -> Condition {
    right.compared(.greaterOrEqual, left)
  }
  /// Whether the value is less than this one.
  public static func > (left: Value, right: ValueQuery) -> Condition { right.compared(.less, left) }
  /// Whether the value is at most this one.
  public static func >= (left: Value, right: ValueQuery) -> Condition { right.compared(.lessOrEqual, left) }

  /// Whether the value is one of these.
  public func isIn(_ values: some Sequence<Value>) -> Condition {
    .comparing(_expression, .isIn, .list(values.map(\._value)))
  }

  /// Whether the value is one of these, or missing if nil is among them.
  public func isIn(_ values: some Sequence<Value?>) -> Condition {
    .comparing(_expression, .isIn, .list(values.map { Self.constant($0) }))
  }

  /// Whether the value is between two others, both included.
  public func between(_ lower: Value, _ upper: Value) -> Condition {
    .comparing(_expression, .between, .list([Self.constant(lower), Self.constant(upper)]))
  }
}

/// Comparisons between values.
extension ValueQuery {
  private func compared(_ comparator: ComparisonOperator, _ other: ValueQuery) -> Condition {
    .comparing(_expression, comparator, other._expression)
  }

  /// Whether both values are equal, or both missing.
  public static func == (left: ValueQuery, right: ValueQuery) -> Condition { left.compared(.equal, right) }
  /// Whether the values differ.
  public static func != (left: ValueQuery, right: ValueQuery) -> Condition { left.compared(.notEqual, right) }
  /// Whether the left value is less than the right one.
  public static func < (left: ValueQuery, right: ValueQuery) -> Condition { left.compared(.less, right) }
  /// Whether the left value is at most the right one.
  public static func <= (left: ValueQuery, right: ValueQuery) -> Condition {
    left.compared(.lessOrEqual, right)
  }
  /// Whether the left value is greater than the right one.
  public static func > (left: ValueQuery, right: ValueQuery) -> Condition { left.compared(.greater, right) }
  /// Whether the left value is at least the right one.
  public static func >= (left: ValueQuery, right: ValueQuery) -> Condition {
    left.compared(.greaterOrEqual, right)
  }
}

/// Arithmetic. A missing operand, an overflow of integers or decimals, and a division by zero give nil.
extension ValueQuery where Value: Numeric {
  private func combined(_ operation: ArithmeticOperator, _ other: ConditionExpression) -> ValueQuery {
    ValueQuery(ConditionExpression(.arithmetic(operation, _expression, other)))
  }

  /// The sum.
  public static func + (left: ValueQuery, right: ValueQuery) -> ValueQuery {
    left.combined(.add, right._expression)
  }
  /// The sum.
  public static func + (left: ValueQuery, right: Value) -> ValueQuery {
    left.combined(.add, .value(constant(right)))
  }
  /// The difference.
  public static func - (left: ValueQuery, right: ValueQuery) -> ValueQuery {
    left.combined(.subtract, right._expression)
  }
  /// The difference.
  public static func - (left: ValueQuery, right: Value) -> ValueQuery {
    left.combined(.subtract, .value(constant(right)))
  }
  /// The product.
  public static func * (left: ValueQuery, right: ValueQuery) -> ValueQuery {
    left.combined(.multiply, right._expression)
  }
  /// The product.
  public static func * (left: ValueQuery, right: Value) -> ValueQuery {
    left.combined(.multiply, .value(constant(right)))
  }
  /// The quotient; truncated for integers.
  public static func / (left: ValueQuery, right: ValueQuery) -> ValueQuery {
    left.combined(.divide, right._expression)
  }
  /// The quotient; truncated for integers.
  public static func / (left: ValueQuery, right: Value) -> ValueQuery {
    left.combined(.divide, .value(constant(right)))
  }
  /// The sum.
  public static func + (left: Value, right: ValueQuery) -> ValueQuery {
    ValueQuery(.value(constant(left))).combined(.add, right._expression)
  }
  /// The difference.
  public static func - (left: Value, right: ValueQuery) -> ValueQuery {
    ValueQuery(.value(constant(left))).combined(.subtract, right._expression)
  }
  /// The product.
  public static func * (left: Value, right: ValueQuery) -> ValueQuery {
    ValueQuery(.value(constant(left))).combined(.multiply, right._expression)
  }
  /// The quotient.
  public static func / (left: Value, right: ValueQuery) -> ValueQuery {
    ValueQuery(.value(constant(left))).combined(.divide, right._expression)
  }
}

/// Strings. Comparisons use Unicode's canonical equivalence; a missing string satisfies none of them.
extension ValueQuery where Value == String {
  private func compared(_ comparator: ComparisonOperator, _ text: String, _ options: ComparisonOptions)
    -> Condition
  {
    .comparing(_expression, comparator, .value(.string(text)), options)
  }

  /// Whether the string equals another, apart from the differences that the options ignore.
  public func equals(_ text: String, _ options: ComparisonOptions = []) -> Condition {
    compared(.equal, text, options)
  }

  /// Whether the string begins with another.
  public func hasPrefix(_ text: String, _ options: ComparisonOptions = []) -> Condition {
    compared(.beginsWith, text, options)
  }

  /// Whether the string ends with another.
  public func hasSuffix(_ text: String, _ options: ComparisonOptions = []) -> Condition {
    compared(.endsWith, text, options)
  }

  /// Whether the string contains another.
  public func contains(_ text: String, _ options: ComparisonOptions = []) -> Condition {
    compared(.contains, text, options)
  }

  /// Whether the string contains another, ignoring case and accents.
  public func localizedStandardContains(_ text: String) -> Condition {
    compared(.contains, text, [.caseInsensitive, .diacriticInsensitive])
  }

  /// Whether the string matches a pattern: `?` is any character, `*` any number of them, `\*` a star.
  public func like(_ pattern: String, _ options: ComparisonOptions = []) -> Condition {
    compared(.like, pattern, options)
  }

  /// Whether the whole string matches a regular expression in ICU's syntax, as `MATCHES` does.
  ///
  /// The fetch refuses an invalid pattern when it begins. Patterns without references to groups, looking around and possessive repetitions take
  /// a time that is linear in the length of the string; others are refused after a million steps for one string.
  public func matches(_ pattern: String, _ options: ComparisonOptions = []) -> Condition {
    compared(.matches, pattern, options)
  }

  /// Whether the string has words, without regard to case and accents: all of `heart wood`, in any order. A full-text index serves it.
  ///
  /// `hea*` is the beginning of a word, `"heart of wood"` a phrase, `oak OR elm` either, and `-oak` or `NOT oak` neither; parentheses group. A
  /// word consists of letters and digits; what is not a word only separates words. A query without any word is true for no string.
  public func matchesWords(_ query: String) -> Condition { compared(.matchesWords, query, []) }

  /// How relevant the string is for words in the language of `matchesWords`: greater if it has more of them, has them more often, if they are
  /// rare, and if it is short; 0 if it has none of them.
  ///
  /// ```swift
  /// try context.fetch(
  ///   Track.self, where: { $0.lyrics.matchesWords("river skate") }, sort: [.descending { $0.lyrics.relevance(of: "river skate") }], limit: 10)
  /// ```
  ///
  /// The value is that of the formula BM25, with the number of different words as the length of a string. The words of a phrase weigh
  /// together; what is excluded by `NOT` has no weight. The weights are of all objects that the context has, unsaved ones included.
  ///
  /// - Complexity: A full-text index counts the words without reading strings; without it, each fetch reads all strings.
  public func relevance(of words: String) -> ValueQuery<Double> {
    ValueQuery<Double>(ConditionExpression(.function(.relevance, [_expression, .value(.string(words))])))
  }

  /// Whether the string is present and empty.
  public var isEmpty: Condition { compared(.equal, "", []) }
}

extension Sequence where Element: AttributeValue {
  /// Whether the value is one of these.
  public func contains(_ value: ValueQuery<Element>) -> Condition { value.isIn(self) }
}

extension ClosedRange where Bound: AttributeValue {
  /// Whether the value is in the range.
  public func contains(_ value: ValueQuery<Bound>) -> Condition { value.between(lowerBound, upperBound) }
  /// Whether the value is in the range.
  public static func ~= (range: ClosedRange, value: ValueQuery<Bound>) -> Condition { range.contains(value) }
}

extension Range where Bound: AttributeValue {
  /// Whether the value is in the range.
  public func contains(_ value: ValueQuery<Bound>) -> Condition { value >= lowerBound && value < upperBound }
  /// Whether the value is in the range.
  public static func ~= (range: Range, value: ValueQuery<Bound>) -> Condition { range.contains(value) }
}

extension PartialRangeFrom where Bound: AttributeValue {
  /// Whether the value is at least the bound.
  public func contains(_ value: ValueQuery<Bound>) -> Condition { value >= lowerBound }
  /// Whether the value is at least the bound.
  public static func ~= (range: PartialRangeFrom, value: ValueQuery<Bound>) -> Condition {
    range.contains(value)
  }
}

extension PartialRangeThrough where Bound: AttributeValue {
  /// Whether the value is at most the bound.
  public func contains(_ value: ValueQuery<Bound>) -> Condition { value <= upperBound }
  /// Whether the value is at most the bound.
  public static func ~= (range: PartialRangeThrough, value: ValueQuery<Bound>) -> Condition {
    range.contains(value)
  }
}

extension PartialRangeUpTo where Bound: AttributeValue {
  /// Whether the value is less than the bound.
  public func contains(_ value: ValueQuery<Bound>) -> Condition { value < upperBound }
  /// Whether the value is less than the bound.
  public static func ~= (range: PartialRangeUpTo, value: ValueQuery<Bound>) -> Condition {
    range.contains(value)
  }
}

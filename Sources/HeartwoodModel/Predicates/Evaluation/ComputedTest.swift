/// Compares the values of two expressions.
final class ComputedTest: RowTest {
  private let left: ValueReader
  private let comparator: ComparisonOperator
  private let right: ValueReader
  private let options: ComparisonOptions

  init(
    _ left: ValueReader, _ comparator: ComparisonOperator, _ right: ValueReader, _ options: ComparisonOptions
  ) {
    self.left = left
    self.comparator = comparator
    self.right = right
    self.options = options
  }

  override func matches(_ place: Place) throws -> Bool {
    let (left, right) = (try left.read(place), try right.read(place))
    guard comparator == .matches || comparator == .matchesWords else {
      return comparator.holds(left, right, options)
    }
    guard let text = left.text, let pattern = right.text else { return false }
    // Not kept for the next row: threads may share a compiled condition.
    return try TextPattern(comparator, pattern, options).matches(text)
  }
}

extension ComparisonOperator {
  /// The reference semantics of comparing two values, including nil. Faster tests must give the same results.
  func holds(_ left: Value, _ right: Value, _ options: ComparisonOptions) -> Bool {
    switch self {
    case .equal: Self.areEqual(left, right, options)
    case .notEqual: !Self.areEqual(left, right, options)
    case .less, .lessOrEqual, .greater, .greaterOrEqual: order(left, right, options).map(holds) ?? false
    case .beginsWith, .endsWith, .contains, .like, .matches, .matchesWords:
      holdsForTexts(left, right, options)
    case .isIn: right.elements.contains { Self.areEqual(left, $0, options) }
    case .between: isBetween(left, right.elements, options)
    }
  }

  private static func areEqual(_ left: Value, _ right: Value, _ options: ComparisonOptions) -> Bool {
    if left.isNull || right.isNull { return left.isNull && right.isNull }
    if !options.isEmpty, let left = left.text, let right = right.text {
      return ComparableText.areEqual(left, right, options)
    }
    return Value.compare(left, right) == 0
  }

  private func order(_ left: Value, _ right: Value, _ options: ComparisonOptions) -> Int? {
    if left.isNull || right.isNull { return nil }
    if !options.isEmpty, let left = left.text, let right = right.text {
      return ComparableText.order(left, right, options)
    }
    return Value.compare(left, right)
  }

  private func holdsForTexts(_ left: Value, _ right: Value, _ options: ComparisonOptions) -> Bool {
    guard let left = left.text, let right = right.text,
      let pattern = try? TextPattern(self, right, options)
    else { return false }
    return (try? pattern.matches(left)) ?? false
  }

  private func isBetween(_ value: Value, _ ends: [Value], _ options: ComparisonOptions) -> Bool {
    guard ends.count == 2, let low = order(value, ends[0], options), let high = order(value, ends[1], options)
    else { return false }
    return low >= 0 && high <= 0
  }
}

extension Value {
  /// The text of a string or a URL.
  package var text: String? {
    switch self {
    case .string(let text), .url(let text): text
    default: nil
    }
  }

  var elements: [Value] {
    if case .list(let values) = self { return values }
    return []
  }
}

import Foundation
import Heartwood

/// The expressions that `#Predicate` has on Apple's systems and Foundation lacks on others.
extension PredicateExpressions {
  /// Whether a text contains another, as people search: case and accents make no difference.
  public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
    PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    /// A condition.
    public typealias Output = Bool
    /// The text.
    public let root: Root
    /// The text that is looked for.
    public let other: Other

    /// Whether `root` contains `other`.
    public init(root: Root, other: Other) { (self.root, self.other) = (root, other) }

    /// The value for the variables of `bindings`.
    ///
    /// - Throws: The error of an operand.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try root.evaluate(bindings).localizedStandardContains(other.evaluate(bindings))
    }
  }

  /// How two texts are ordered, whatever their case is.
  public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
    PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    /// The order of two texts.
    public typealias Output = ComparisonResult
    /// The first text.
    public let root: Root
    /// The second text.
    public let other: Other

    /// The order of `root` and `other`.
    public init(root: Root, other: Other) { (self.root, self.other) = (root, other) }

    /// The order for the variables of `bindings`.
    ///
    /// - Throws: The error of an operand.
    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      try root.evaluate(bindings).caseInsensitiveCompare(other.evaluate(bindings))
    }
  }

  /// How two texts are ordered by people.
  public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>:
    PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    /// The order of two texts.
    public typealias Output = ComparisonResult
    /// The first text.
    public let root: Root
    /// The second text.
    public let other: Other

    /// The order of `root` and `other`.
    public init(root: Root, other: Other) { (self.root, self.other) = (root, other) }

    /// The order for the variables of `bindings`.
    ///
    /// - Throws: The error of an operand.
    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      try root.evaluate(bindings).localizedCompare(other.evaluate(bindings))
    }
  }

  /// Whether a text contains another, as people search.
  public static func build_localizedStandardContains<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringLocalizedStandardContains<Root, Other> {
    StringLocalizedStandardContains(root: root, other: other)
  }

  /// How two texts are ordered, whatever their case is.
  public static func build_caseInsensitiveCompare<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringCaseInsensitiveCompare<Root, Other> { StringCaseInsensitiveCompare(root: root, other: other) }

  /// How two texts are ordered by people.
  public static func build_localizedCompare<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringLocalizedCompare<Root, Other> { StringLocalizedCompare(root: root, other: other) }

  /// Whether a number is not below another one. A range of whole numbers without an upper bound is a sequence too, which has no end.
  public static func build_contains<Bound, Element>(
    _ range: Value<PartialRangeFrom<Bound>>, _ element: Element
  ) -> RangeExpressionContains<Value<PartialRangeFrom<Bound>>, Element> where Element.Output == Bound {
    RangeExpressionContains(range: range, element: element)
  }
}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable
where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedCompare: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedStandardContains: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .condition(
      .comparing(
        try translation.value(root), .contains, try translation.value(other),
        [.caseInsensitive, .diacriticInsensitive]))
  }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    try translation.order(of: root, other, .caseInsensitive)
  }
}

extension PredicateExpressions.StringLocalizedCompare: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    try translation.order(of: root, other, .localeSensitive)
  }
}

extension PredicateTranslation {
  /// The order of two texts, as the raw value of a `ComparisonResult`.
  fileprivate func order(
    of first: any PredicateExpression, _ second: any PredicateExpression, _ options: ComparisonOptions
  ) throws(HeartwoodError) -> PredicatePart {
    let (first, second) = (try value(first), try value(second))
    func result(_ value: ComparisonResult) -> ConditionExpression { .value(.int(Int64(value.rawValue))) }
    return .value(
      .conditional(
        .comparing(first, .less, second, options), result(.orderedAscending),
        .conditional(
          .comparing(second, .less, first, options), result(.orderedDescending), result(.orderedSame))))
  }
}

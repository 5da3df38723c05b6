/// A comparison of two expressions, as a part of a condition that can be looked at and built.
public struct ComparisonPredicate: FetchPredicate {
  /// Which destinations of a to-many relationship a comparison is about.
  public enum Modifier: Int, Sendable {
    /// No relationship: the values themselves are compared.
    case direct = 0
    /// All destinations.
    case all = 1
    /// Any destination.
    case any = 2
  }

  /// The operators of comparisons. The raw values are Foundation's.
  public enum Operator: Int, Sendable, CaseIterable {
    /// `<`
    case lessThan = 0
    /// `<=`
    case lessThanOrEqualTo = 1
    /// `>`
    case greaterThan = 2
    /// `>=`
    case greaterThanOrEqualTo = 3
    /// `==`
    case equalTo = 4
    /// `!=`
    case notEqualTo = 5
    /// `MATCHES`
    case matches = 6
    /// `LIKE`
    case like = 7
    /// `BEGINSWITH`
    case beginsWith = 8
    /// `ENDSWITH`
    case endsWith = 9
    /// `IN`
    case `in` = 10
    /// `CONTAINS`
    case contains = 99
    /// `BETWEEN`
    case between = 100
    /// `MATCHESWORDS`, which Foundation does not have
    case matchesWords = 1000
  }

  /// The left operand.
  public var leftExpression: ConditionExpression
  /// The right operand.
  public var rightExpression: ConditionExpression
  /// Which destinations it is about.
  public var comparisonPredicateModifier: Modifier
  /// The operator.
  public var predicateOperatorType: Operator
  /// The differences of texts that are ignored.
  public var options: ComparisonOptions

  /// A comparison of two expressions.
  ///
  /// - Parameters:
  ///   - leftExpression: The left operand.
  ///   - rightExpression: The right operand.
  ///   - modifier: Which destinations of the relationship in the left operand it is about.
  ///   - type: The operator.
  ///   - options: The differences of texts that are ignored.
  public init(
    leftExpression: ConditionExpression, rightExpression: ConditionExpression, modifier: Modifier = .direct,
    type: Operator, options: ComparisonOptions = []
  ) {
    self.leftExpression = leftExpression
    self.rightExpression = rightExpression
    comparisonPredicateModifier = modifier
    predicateOperatorType = type
    self.options = options
  }

  /// The comparison as a condition.
  public var condition: Condition {
    let quantifier: Quantifier? =
      switch comparisonPredicateModifier {
      case .direct: nil
      case .all: .all
      case .any: .any
      }
    return Condition(
      .comparison(
        Comparison(
          left: leftExpression, comparator: predicateOperatorType.comparator, right: rightExpression,
          options: options, quantifier: quantifier)))
  }

  /// The comparison as a condition.
  public func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition { condition }
}

extension ComparisonPredicate: CustomStringConvertible {
  /// The comparison in the language of `FormatPredicate`.
  public var description: String { condition.description }
}

extension ComparisonPredicate.Operator {
  var comparator: ComparisonOperator {
    switch self {
    case .lessThan: .less
    case .lessThanOrEqualTo: .lessOrEqual
    case .greaterThan: .greater
    case .greaterThanOrEqualTo: .greaterOrEqual
    case .equalTo: .equal
    case .notEqualTo: .notEqual
    case .matches: .matches
    case .matchesWords: .matchesWords
    case .like: .like
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    case .in: .isIn
    case .contains: .contains
    case .between: .between
    }
  }

  package init(_ comparator: ComparisonOperator) {
    self = Self.allCases.first { $0.comparator == comparator } ?? .equalTo
  }
}

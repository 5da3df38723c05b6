import Foundation
import Heartwood
import HeartwoodBytes

/// A comparison of two expressions.
open class NSComparisonPredicate: ParsedPredicate {
  /// Differences of texts that are ignored. The raw values are Foundation's.
  public struct Options: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt
    /// The options with these bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The kind of this name.
    public static let caseInsensitive = Options(rawValue: 1)
    /// The kind of this name.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// The kind of this name.
    public static let normalized = Options(rawValue: 4)
  }

  /// Which destinations of a to-many relationship the comparison is about.
  public enum Modifier: UInt, Sendable {
    case direct = 0
    case all = 1
    case any = 2
  }

  /// The operator of a comparison. The raw values are Foundation's.
  public enum Operator: UInt, Sendable {
    case lessThan = 0
    case lessThanOrEqualTo = 1
    case greaterThan = 2
    case greaterThanOrEqualTo = 3
    case equalTo = 4
    case notEqualTo = 5
    case matches = 6
    case like = 7
    case beginsWith = 8
    case endsWith = 9
    case `in` = 10
    case customSelector = 11
    case contains = 99
    case between = 100
  }

  let comparison: ComparisonPredicate
  private let left: NSExpression
  private let right: NSExpression
  /// The condition that a store evaluates: a condition on destinations is more than the comparison of their number that
  /// it is read as.
  private let condition: Condition

  init(_ comparison: ComparisonPredicate, _ given: GivenConstants, _ condition: Condition) {
    self.comparison = comparison
    self.condition = condition
    left = NSExpression(comparison.leftExpression, constant: given.value(of: comparison.leftExpression))
    right = NSExpression(comparison.rightExpression, constant: given.value(of: comparison.rightExpression))
    super.init()
  }

  override func treeCondition() throws(HeartwoodError) -> Condition { condition }

  /// A comparison of two expressions.
  public init(
    leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier, type: Operator,
    options: Options = []
  ) {
    guard let kind = ComparisonPredicate.Operator(rawValue: Int(type.rawValue)) else {
      programError("NSComparisonPredicate: a custom selector cannot be compared by")
    }
    comparison = ComparisonPredicate(
      leftExpression: lhs.expression, rightExpression: rhs.expression,
      modifier: ComparisonPredicate.Modifier(rawValue: Int(modifier.rawValue)) ?? .direct, type: kind,
      options: ComparisonOptions(rawValue: UInt8(truncatingIfNeeded: options.rawValue)))
    condition = comparison.condition
    (left, right) = (lhs, rhs)
    super.init()
  }

  /// The left operand.
  open var leftExpression: NSExpression { left }
  /// The right operand.
  open var rightExpression: NSExpression { right }
  /// The operator.
  open var predicateOperatorType: Operator {
    Operator(rawValue: UInt(comparison.predicateOperatorType.rawValue)) ?? .equalTo
  }
  /// Which destinations it is about.
  open var comparisonPredicateModifier: Modifier {
    Modifier(rawValue: UInt(comparison.comparisonPredicateModifier.rawValue)) ?? .direct
  }
  /// The differences of texts that are ignored.
  open var options: Options { Options(rawValue: UInt(comparison.options.rawValue)) }
}

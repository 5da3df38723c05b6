import Foundation
import Heartwood

/// Predicates and expressions that a predicate evaluates, which Foundation lacks on this system.
extension PredicateExpressions {
  /// Whether another predicate holds.
  public struct PredicateEvaluate<Condition: PredicateExpression, each Input: PredicateExpression>:
    PredicateExpression
  where Condition.Output == Predicate<repeat (each Input).Output> {
    /// A condition.
    public typealias Output = Bool
    /// The other predicate.
    public let predicate: Condition
    /// The values that it is about.
    public let input: (repeat each Input)

    /// Whether a predicate holds for `input`.
    public init(predicate: Condition, input: repeat each Input) {
      self.predicate = predicate
      self.input = (repeat each input)
    }

    /// The value for the variables of `bindings`.
    ///
    /// - Throws: The error of an operand.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try predicate.evaluate(bindings).evaluate(repeat (each input).evaluate(bindings))
    }
  }

  /// A predicate that another one evaluates.
  public struct PredicateConstant<each Input>: StandardPredicateExpression {
    /// A predicate.
    public typealias Output = Predicate<repeat each Input>
    /// The predicate.
    public let predicate: Predicate<repeat each Input>

    init(_ predicate: Predicate<repeat each Input>) { self.predicate = predicate }

    /// The predicate.
    public func evaluate(_ bindings: PredicateBindings) throws -> Predicate<repeat each Input> { predicate }

    /// Throws: Foundation encodes no predicates on this system.
    public init(from decoder: any Decoder) throws { throw PredicateCoding.refusal }
    /// Throws: Foundation encodes no predicates on this system.
    public func encode(to encoder: any Encoder) throws { throw PredicateCoding.refusal }
  }

  /// An expression that a predicate evaluates.
  public struct ExpressionConstant<each Input, Result>: StandardPredicateExpression {
    /// An expression.
    public typealias Output = Expression<repeat each Input, Result>
    /// The expression.
    public let expression: Expression<repeat each Input, Result>

    init(_ expression: Expression<repeat each Input, Result>) { self.expression = expression }

    /// The expression.
    public func evaluate(_ bindings: PredicateBindings) throws -> Expression<repeat each Input, Result> {
      expression
    }

    /// Throws: Foundation encodes no expressions on this system.
    public init(from decoder: any Decoder) throws { throw PredicateCoding.refusal }
    /// Throws: Foundation encodes no expressions on this system.
    public func encode(to encoder: any Encoder) throws { throw PredicateCoding.refusal }
  }

  /// A constant predicate.
  public static func build_Arg<each Input>(
    _ predicate: Predicate<repeat each Input>
  ) -> PredicateConstant<repeat each Input> { PredicateConstant(predicate) }

  /// A constant expression.
  public static func build_Arg<each Input, Result>(
    _ expression: Expression<repeat each Input, Result>
  ) -> ExpressionConstant<repeat each Input, Result> { ExpressionConstant(expression) }

  /// Whether another predicate holds.
  public static func build_evaluate<Condition, each Input>(
    _ predicate: Condition, _ input: repeat each Input
  ) -> PredicateEvaluate<Condition, repeat each Input> {
    PredicateEvaluate(predicate: predicate, input: repeat each input)
  }
}

extension PredicateExpressions.PredicateEvaluate: Sendable
where Condition: Sendable, repeat each Input: Sendable {}
extension PredicateExpressions.PredicateEvaluate: Codable
where Condition: Codable, repeat each Input: Codable {
  /// Decodes the predicate, and what it is about.
  ///
  /// - Throws: The error of the decoder.
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    predicate = try container.decode(Condition.self)
    input = (repeat try container.decode((each Input).self))
  }

  /// Encodes the predicate, and what it is about.
  ///
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(predicate)
    repeat try container.encode(each input)
  }
}
extension PredicateExpressions.PredicateEvaluate: StandardPredicateExpression
where Condition: StandardPredicateExpression, repeat each Input: StandardPredicateExpression {}

extension PredicateExpressions.PredicateEvaluate: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    guard let inner = try? predicate.evaluate(PredicateBindings()) else {
      throw HeartwoodError(.coreData, "a predicate that another one evaluates must be a constant")
    }
    var innerTranslation = translation
    repeat try innerTranslation.bind(each inner.variable, to: each input, of: translation)
    return .condition(try innerTranslation.condition(inner.expression))
  }
}

private enum PredicateCoding {
  static var refusal: CocoaError { CocoaError(.featureUnsupported) }
}

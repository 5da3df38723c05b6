import Foundation

/// A part of one of Foundation's predicates that has a translation.
///
/// Declared where the conformances are: only casts find these, and a linker takes the file out of an archive for the protocol that they name.
package protocol TranslatableExpression {
  func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart
}

extension PredicateExpressions.Variable: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    try translation.part(of: key)
  }
}

extension PredicateExpressions.Value: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    try translation.constant(value)
  }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .value(.value(.null))
  }
}

/// Properties.
extension PredicateExpressions.KeyPath: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    let owner = try translation.value(root)
    if let counted = Root.Output.self as? any CountedCollection.Type {
      if counted.countPath == keyPath { return .value(size(of: owner)) }
      if counted.isEmptyPath == keyPath {
        return .condition(.comparing(size(of: owner), .equal, .value(.int(0))))
      }
    }
    guard case .path(var path) = owner.kind else {
      throw .predicate("a key path of a #Predicate reads \(Output.self) of something that is no property")
    }
    if let names = try translation.vocabulary?.names(of: keyPath, from: Root.Output.self) {
      path.steps += names.map { .name($0) }
      return .value(.path(path))
    }
    // No attribute has this type.
    if Output.self == ManagedObjectID.self, Root.Output.self is ManagedObject.Type {
      path.steps.append(.name("objectID"))
      return .value(.path(path))
    }
    return .value(.path(path.appending(keyPath)))
  }

  private func size(of owner: ConditionExpression) -> ConditionExpression {
    if Root.Output.self == String.self || Root.Output.self == Data.self {
      return ConditionExpression(.function(.length, [owner]))
    }
    switch owner.kind {
    case .path(let path):
      return ConditionExpression(.aggregate(Aggregate(function: .count, path: path, scope: Scope())))
    case .collection(let values) where values.element == nil:
      return ConditionExpression(
        .aggregate(
          Aggregate(function: .count, path: values.path, scope: values.scope, filter: values.filter)))
    default: return ConditionExpression(.function(.count, [owner]))
    }
  }
}

/// Comparisons.
extension PredicateExpressions.Equal: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    try translation.equality(lhs, rhs, isNegated: false)
  }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    try translation.equality(lhs, rhs, isNegated: true)
  }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    try translation.vocabulary?.checkOrder(of: LHS.Output.self)
    let comparator: ComparisonOperator =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: throw .predicate("the operator \(op) of a #Predicate has no translation")
      }
    return .condition(.comparing(try translation.value(lhs), comparator, try translation.value(rhs)))
  }
}

/// Connectives.
extension PredicateExpressions.Conjunction: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    let left = try translation.condition(lhs)
    // The rest is not looked at where a constant decides: `text == nil || $0.text == text!`.
    if case .constant(false) = left.node { return .condition(left) }
    return .condition(left && (try translation.condition(rhs)))
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    let left = try translation.condition(lhs)
    if case .constant(true) = left.node { return .condition(left) }
    return .condition(left || (try translation.condition(rhs)))
  }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .condition(!(try translation.condition(wrapped)))
  }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    let test = try translation.condition(test)
    if case .constant(let isMet) = test.node {
      return try isMet ? translation.part(trueBranch) : translation.part(falseBranch)
    }
    let (first, second) = (try translation.part(trueBranch), try translation.part(falseBranch))
    if case .condition(let first) = first, case .condition(let second) = second {
      return .condition(test && first || !test && second)
    }
    return .value(
      ConditionExpression(
        .conditional(test, try translation.value(trueBranch), try translation.value(falseBranch))))
  }
}

/// Classes.
extension PredicateExpressions.TypeCheck: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .condition(try translation.isObject(input, of: Desired.self))
  }
}

extension PredicateExpressions.ConditionalCast: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    try translation.cast(input, to: Desired.self)
  }
}

extension PredicateExpressions.ForceCast: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    try translation.cast(input, to: Desired.self)
  }
}

/// Optionals: a property of a missing object is missing, and a condition on one is neither true nor false.
extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    let wrapped = try translation.part(wrapped)
    switch wrapped {
    // There is nothing to translate the rest with.
    case .value(let value) where value.isNull: return wrapped
    case .range, .dictionary: return try translation.binding(variable, to: wrapped).part(transform)
    default: break
    }
    let value = try translation.value(of: wrapped)
    let part = try translation.binding(variable, to: .value(value)).part(transform)
    return translation.part(
      part, of: RHS.Output.self, where: translation.exists(value, of: Wrapped.self), after: value)
  }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression, UnwrappedConstant {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    guard let constant = inner as? PredicateExpressions.Value<Wrapped?> else {
      return try translation.part(inner)
    }
    guard let value = constant.value else {
      throw .predicate("a \(Wrapped.self) that is nil is unwrapped: ask for nil before")
    }
    return try translation.constant(value)
  }

  fileprivate var unwrapped: Any? { (inner as? PredicateExpressions.Value<Wrapped?>)?.value }
}

private protocol UnwrappedConstant {
  var unwrapped: Any? { get }
}

extension PredicateExpression {
  /// The value of a constant, also of one that is unwrapped; nil for another expression.
  package var constantValue: Output? {
    (self as? PredicateExpressions.Value<Output>)?.value ?? (self as? any UnwrappedConstant)?.unwrapped
      as? Output
  }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    if case .optional(let condition, let exists) = try translation.part(lhs) {
      let other = try translation.condition(rhs)
      return .condition(exists && condition || !exists && other)
    }
    let parts = [try translation.value(lhs), try translation.value(rhs)]
    // An empty list in place of the destinations, where there is no owner of any.
    if translation.vocabulary?.isToMany(RHS.Output.self) == true,
      case .value(.list(let list)) = parts[1].kind,
      list.isEmpty
    {
      return .value(parts[0])
    }
    return .value(ConditionExpression(.function(.coalesce, parts)))
  }
}

/// Expressions in predicates.
extension PredicateExpressions.ExpressionEvaluate: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    guard let inner = try? expression.evaluate(PredicateBindings()) else {
      throw .predicate("an expression that a predicate evaluates must be a constant")
    }
    var innerTranslation = translation
    repeat try innerTranslation.bind(each inner.variable, to: each input, of: translation)
    return try innerTranslation.part(inner.expression)
  }
}

/// Arithmetic.
extension PredicateExpressions.Arithmetic: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    let operation: ArithmeticOperator =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw .predicate("the operator \(op) of a #Predicate has no translation")
      }
    return .value(
      ConditionExpression(.arithmetic(operation, try translation.value(lhs), try translation.value(rhs))))
  }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .value(ConditionExpression(.arithmetic(.divide, try translation.value(lhs), try translation.value(rhs))))
  }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    let quotient = ConditionExpression(
      .arithmetic(.divide, try translation.value(lhs), try translation.value(rhs)))
    // These are decimals in the store, whose quotients are fractions.
    let isDecimal = LHS.Output.self == UInt64.self || LHS.Output.self == UInt.self
    return .value(isDecimal ? ConditionExpression(.function(.trunc, [quotient])) : quotient)
  }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .value(
      ConditionExpression(.function(.modulus, [try translation.value(lhs), try translation.value(rhs)])))
  }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .value(ConditionExpression(.arithmetic(.subtract, .value(.int(0)), try translation.value(wrapped))))
  }
}

/// Ranges.
extension PredicateExpressions.ClosedRange: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .range(try translation.value(lower), try translation.value(upper), isClosed: true)
  }
}

extension PredicateExpressions.Range: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .range(try translation.value(lower), try translation.value(upper), isClosed: false)
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    let range = try translation.part(range)
    guard case .range = range else {
      throw .predicate("a range of a #Predicate has no translation; compare with its bounds")
    }
    return .condition(try translation.isContained(element, in: range))
  }
}

/// Sequences and relationships.
extension PredicateExpressions.SequenceContains: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    // A range of whole numbers is a sequence too, and one without an upper bound has no end.
    let part = try translation.part(sequence)
    if case .range = part { return .condition(try translation.isContained(element, in: part)) }
    let constants = sequence.constantValue.map { Array($0) } ?? []
    for constant in constants {
      try translation.vocabulary?.checkEquality(of: RHS.Output.self, with: constant)
    }
    return .condition(.comparing(try translation.value(element), .isIn, try translation.value(of: part)))
  }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .condition(try translation.any(sequence, variable, test, isNegated: false))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .condition(!(try translation.any(sequence, variable, test, isNegated: true)))
  }
}

extension PredicateExpressions.Filter: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    let (path, scope, former) = try translation.destinations(sequence)
    let inner = try translation.binding(variable, to: .value(.path(PropertyPath(scope)))).condition(filter)
    return .value(
      ConditionExpression(
        .collection(DestinationValues(path: path, scope: scope, filter: former.map { $0 && inner } ?? inner)))
    )
  }
}

/// Texts.
extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .condition(.comparing(try translation.value(base), .contains, try translation.value(other)))
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .condition(.comparing(try translation.value(base), .beginsWith, try translation.value(prefix)))
  }
}

extension PredicateExpressions.StringContainsRegex: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    guard case .value(.string(let pattern)) = try translation.value(regex).kind else {
      throw .predicate("a regular expression of a #Predicate must be a constant")
    }
    return .condition(
      .comparing(try translation.value(subject), .matches, .value(.string("(?s:.*)(?:\(pattern))(?s:.*)"))))
  }
}

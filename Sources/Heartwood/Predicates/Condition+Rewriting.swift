/// Trees with parts replaced.
extension Condition {
  /// The condition with each expression replaced by what `rewrite` makes of it, the parts of an expression before the whole.
  func rewritten(_ rewrite: (ConditionExpression) -> ConditionExpression) -> Condition {
    switch node {
    case .constant, .refused: return self
    case .not(let part): return .not(part.rewritten(rewrite))
    case .and(let parts): return .all(parts.map { $0.rewritten(rewrite) })
    case .or(let parts): return .any(parts.map { $0.rewritten(rewrite) })
    case .truth(let value): return Condition(.truth(value.rewritten(rewrite)))
    case .quantified(let quantifier, let path, let scope, let part):
      return .quantified(quantifier, path, scope, part.rewritten(rewrite))
    case .comparison(var comparison):
      comparison.left = comparison.left.rewritten(rewrite)
      comparison.right = comparison.right.rewritten(rewrite)
      return Condition(.comparison(comparison))
    }
  }
}

extension ConditionExpression {
  func rewritten(_ rewrite: (ConditionExpression) -> ConditionExpression) -> ConditionExpression {
    switch kind {
    case .arithmetic(let operation, let left, let right):
      return rewrite(
        ConditionExpression(.arithmetic(operation, left.rewritten(rewrite), right.rewritten(rewrite))))
    case .list(let parts): return rewrite(ConditionExpression(list: parts.map { $0.rewritten(rewrite) }))
    case .function(let function, let arguments):
      return rewrite(ConditionExpression(.function(function, arguments.map { $0.rewritten(rewrite) })))
    case .conditional(let condition, let first, let second):
      return rewrite(
        ConditionExpression(
          .conditional(condition.rewritten(rewrite), first.rewritten(rewrite), second.rewritten(rewrite))))
    case .aggregate(var aggregate):
      aggregate.element = aggregate.element?.rewritten(rewrite)
      aggregate.filter = aggregate.filter?.rewritten(rewrite)
      return rewrite(ConditionExpression(.aggregate(aggregate)))
    case .collection(var values):
      values.element = values.element?.rewritten(rewrite)
      values.filter = values.filter?.rewritten(rewrite)
      return rewrite(ConditionExpression(.collection(values)))
    default: return rewrite(self)
    }
  }
}

/// Values that are given later: `$NAME` in a format string.
extension Condition {
  /// The condition with values in place of variables. Variables without a value stay, and are refused when a fetch is executed.
  ///
  /// - Parameter variables: The values by the names of their variables, without the sign.
  public func withSubstitutionVariables(_ variables: [String: (any PredicateArgument)?]) -> Condition {
    rewritten { $0.substituting(variables) }
  }
}

extension ConditionExpression {
  fileprivate func substituting(_ variables: [String: (any PredicateArgument)?]) -> ConditionExpression {
    guard case .variable(let name, _) = kind, let value = variables[name] else { return self }
    return value?.predicateConstant.expression ?? .value(.null)
  }

  /// The expression with values in place of variables.
  public func withSubstitutionVariables(_ variables: [String: (any PredicateArgument)?])
    -> ConditionExpression
  {
    rewritten { $0.substituting(variables) }
  }
}

extension FormatPredicate {
  /// A predicate of a condition that is made already.
  public init(_ condition: Condition) { self.condition = condition }

  /// The predicate with values in place of its variables, as in `FormatPredicate("age > $AGE")`. Variables without a value stay, and
  /// are refused when a fetch is executed.
  ///
  /// - Parameter variables: The values by the names of their variables, without the sign.
  public func withSubstitutionVariables(_ variables: [String: (any PredicateArgument)?]) -> FormatPredicate {
    FormatPredicate(condition.withSubstitutionVariables(variables))
  }
}

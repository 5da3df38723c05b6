/// Trees with parts replaced.
extension Condition {
  /// The condition with its direct parts replaced.
  func mappingParts<Failure: Error>(
    _ expression: (ConditionExpression) throws(Failure) -> ConditionExpression,
    _ condition: (Condition) throws(Failure) -> Condition
  ) throws(Failure) -> Condition {
    switch node {
    case .constant, .refused: return self
    case .not(let part): return .not(try condition(part))
    case .and(let parts): return .all(try parts.map(condition))
    case .or(let parts): return .any(try parts.map(condition))
    case .truth(let value): return Condition(.truth(try expression(value)))
    case .quantified(let quantifier, let path, let scope, let part):
      return .quantified(quantifier, path, scope, try condition(part))
    case .comparison(var comparison):
      comparison.left = try expression(comparison.left)
      comparison.right = try expression(comparison.right)
      return Condition(.comparison(comparison))
    }
  }

  /// The condition with each expression replaced by what `rewrite` makes of it, the parts of an expression before the whole.
  package func rewritten(_ rewrite: (ConditionExpression) -> ConditionExpression) -> Condition {
    mappingParts({ $0.rewritten(rewrite) }, { $0.rewritten(rewrite) })
  }
}

extension ConditionExpression {
  /// The expression with its direct parts replaced. What is about the destinations of a relationship, a group of rows or a window stays
  /// as it is.
  func mappingParts<Failure: Error>(
    _ expression: (ConditionExpression) throws(Failure) -> ConditionExpression,
    _ condition: (Condition) throws(Failure) -> Condition
  ) throws(Failure) -> ConditionExpression {
    switch kind {
    case .value, .object, .path, .refused, .aggregate, .collection, .variable, .anyKey, .group, .window,
      .computed, .fetched:
      return self
    case .arithmetic(let operation, let left, let right):
      return ConditionExpression(.arithmetic(operation, try expression(left), try expression(right)))
    case .list(let parts): return ConditionExpression(list: try parts.map(expression))
    case .function(let function, let arguments):
      return ConditionExpression(.function(function, try arguments.map(expression)))
    case .conditional(let test, let first, let second):
      return ConditionExpression(
        .conditional(try condition(test), try expression(first), try expression(second)))
    }
  }

  /// Also rewrites what is computed for the destinations of a relationship, a group of rows or a window.
  package func rewritten(_ rewrite: (ConditionExpression) -> ConditionExpression) -> ConditionExpression {
    switch kind {
    case .aggregate(var aggregate):
      aggregate.element = aggregate.element?.rewritten(rewrite)
      aggregate.filter = aggregate.filter?.rewritten(rewrite)
      return rewrite(ConditionExpression(.aggregate(aggregate)))
    case .collection(var values):
      values.element = values.element?.rewritten(rewrite)
      values.filter = values.filter?.rewritten(rewrite)
      return rewrite(ConditionExpression(.collection(values)))
    case .group(var aggregate):
      aggregate.element = aggregate.element?.rewritten(rewrite)
      aggregate.filter = aggregate.filter?.rewritten(rewrite)
      return rewrite(ConditionExpression(.group(aggregate)))
    case .window(var window):
      window.element = window.element?.rewritten(rewrite)
      window.partition = window.partition.map { $0.rewritten(rewrite) }
      for place in window.order.indices {
        window.order[place].expression = window.order[place].expression.rewritten(rewrite)
      }
      return rewrite(ConditionExpression(.window(window)))
    default: return rewrite(mappingParts({ $0.rewritten(rewrite) }, { $0.rewritten(rewrite) }))
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

/// A value of a variable that has properties: `$NAME.property`.
package protocol VariableSource {
  /// The value of a property; nil if there is no such property, or a condition cannot have it.
  func predicateConstant(at path: [String]) -> ConditionExpression?
}

extension Condition {
  /// The names after the signs of variables, by their parts.
  package var variablePaths: [[String]] {
    var paths: [[String]] = []
    _ = rewritten { expression in
      if let path = expression.ownPath, let variable = path.variable {
        paths.append(
          [variable]
            + path.steps.dropFirst().compactMap { if case .name(let name) = $0 { name } else { nil } })
      }
      return expression
    }
    return paths
  }

  /// The condition with values in place of variables.
  ///
  /// - Parameter value: Takes the parts of a variable's name; nil leaves the variable.
  package func withVariables(_ value: ([String]) -> Value?) -> Condition {
    withoutActuallyEscaping(value) { value in
      rewritten { expression in
        guard case .variable(let name, _) = expression.kind else { return expression }
        return value(name.split(separator: ".").map(String.init)).map { .value($0) } ?? expression
      }
    }
  }
}

extension ConditionExpression {
  fileprivate func substituting(_ variables: [String: (any PredicateArgument)?]) -> ConditionExpression {
    guard case .variable(let name, _) = kind else { return self }
    if let value = variables[name] { return value?.predicateConstant.expression ?? .value(.null) }
    let path = name.split(separator: ".").map(String.init)
    guard path.count > 1, let value = variables[path[0]] else { return self }
    guard let object = value as? any VariableSource else { return value == nil ? .value(.null) : self }
    return object.predicateConstant(at: Array(path.dropFirst())) ?? self
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

/// Paths that begin with a variable, such as `$x.tags`. Its name stays their first step until a subquery around them says which destination
/// the variable is.
extension PropertyPath {
  /// The path of an expression; nil if it is none.
  init?(of expression: ConditionExpression) {
    switch expression.kind {
    case .path(let path): self = path
    case .variable(let name, let column): self.init(names: "$" + name, column: column)
    default: return nil
    }
  }

  /// The variable that the path begins with, without its sign; nil for other paths.
  var variable: String? {
    guard scope === Scope.fetched, case .name(let name)? = steps.first, name.hasPrefix("$") else {
      return nil
    }
    return String(name.dropFirst())
  }

  fileprivate func binding(_ name: String, to scope: Scope) -> PropertyPath {
    variable == name ? PropertyPath(scope, Array(steps.dropFirst()), column: column) : self
  }
}

extension ConditionExpression {
  /// The path of the expression, or of the relationship whose destinations it is about.
  var ownPath: PropertyPath? {
    switch kind {
    case .aggregate(let aggregate): aggregate.path
    case .collection(let values): values.path
    default: PropertyPath(of: self)
    }
  }

  fileprivate func binding(_ name: String, to scope: Scope) -> ConditionExpression {
    guard let path = ownPath, path.variable == name else { return self }
    let bound = path.binding(name, to: scope)
    switch kind {
    case .aggregate(var aggregate):
      aggregate.path = bound
      return ConditionExpression(.aggregate(aggregate))
    case .collection(var values):
      values.path = bound
      return ConditionExpression(.collection(values))
    default: return .path(bound)
    }
  }

  /// The destinations of a to-many relationship for which a condition holds, as `SUBQUERY` in a text.
  ///
  /// - Parameters:
  ///   - collection: The path of the relationship. It may begin with the variable of a subquery around this one.
  ///   - variable: The destination's name in the condition, without the sign.
  ///   - predicate: The condition, with paths such as `$x.name`.
  /// - Throws: `.invalidPredicate` if the collection is no path.
  public init(
    forSubquery collection: ConditionExpression, usingIteratorVariable variable: String, predicate: Condition
  ) throws(HeartwoodError) {
    guard let path = PropertyPath(of: collection) else {
      throw .predicate("SUBQUERY needs a to-many relationship first, not \(collection)")
    }
    let scope = Scope()
    let filter = predicate.rewritten { $0.binding(variable, to: scope) }
    self.init(.collection(DestinationValues(path: path, scope: scope, filter: filter)))
  }
}

/// Conditions that are joined, as a part of a condition that can be looked at and built.
public struct CompoundPredicate: FetchPredicate {
  /// How parts are joined. The raw values are Foundation's.
  public enum LogicalType: Int, Sendable {
    /// The one part must be false.
    case not = 0
    /// All parts must be true.
    case and = 1
    /// Any part must be true.
    case or = 2
  }

  /// How the parts are joined.
  public var compoundPredicateType: LogicalType
  /// The parts.
  public var subpredicates: [Condition]

  /// Joins conditions.
  ///
  /// - Parameters:
  ///   - type: How the parts are joined.
  ///   - subpredicates: The parts; of `not` the first one counts.
  public init(type: LogicalType, subpredicates: [Condition]) {
    compoundPredicateType = type
    self.subpredicates = subpredicates
  }

  /// True if all parts are.
  public init(andPredicateWithSubpredicates subpredicates: [Condition]) {
    self.init(type: .and, subpredicates: subpredicates)
  }

  /// True if any part is.
  public init(orPredicateWithSubpredicates subpredicates: [Condition]) {
    self.init(type: .or, subpredicates: subpredicates)
  }

  /// True if the part is false.
  public init(notPredicateWithSubpredicate predicate: Condition) {
    self.init(type: .not, subpredicates: [predicate])
  }

  /// The whole as a condition; without parts true for `and` and false for the others.
  public var condition: Condition {
    switch compoundPredicateType {
    case .not: subpredicates.first.map { .not($0) } ?? .always(false)
    case .and: subpredicates.isEmpty ? .always(true) : .all(subpredicates)
    case .or: subpredicates.isEmpty ? .always(false) : .any(subpredicates)
    }
  }

  /// The whole as a condition.
  public func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition { condition }
}

extension CompoundPredicate: CustomStringConvertible {
  /// The condition in the language of `FormatPredicate`.
  public var description: String { condition.description }
}

/// Conditions as trees.
extension Condition {
  /// The form of a condition.
  public enum Form: Sendable {
    /// True or false for every object.
    case constant(Bool)
    /// A comparison. Conditions on destinations are those of the number of destinations, and a Boolean by itself is compared with true.
    case comparison(ComparisonPredicate)
    /// Joined conditions.
    case compound(CompoundPredicate)
  }

  /// Why the condition cannot be used, if its text or a part of it could not be read; nil for others. A fetch with it throws this.
  package var refusal: HeartwoodError? {
    if case .refused(let error) = node { return error }
    return nil
  }

  /// The form of the condition, to walk its tree.
  public var form: Form {
    switch node {
    case .constant(let value): return .constant(value)
    case .refused: return .constant(false)
    case .not(let part): return .compound(CompoundPredicate(type: .not, subpredicates: [part]))
    case .and(let parts): return .compound(CompoundPredicate(type: .and, subpredicates: parts))
    case .or(let parts): return .compound(CompoundPredicate(type: .or, subpredicates: parts))
    case .truth(let value):
      return .comparison(
        ComparisonPredicate(leftExpression: value, rightExpression: .value(.bool(true)), type: .equalTo))
    case .comparison(let comparison): return form(of: comparison)
    case .quantified(let quantifier, let path, let scope, let part):
      let filter = quantifier == .all ? Condition.not(part) : part
      let count = Aggregate(function: .count, path: path, scope: scope, element: nil, filter: filter)
      return .comparison(
        ComparisonPredicate(
          leftExpression: ConditionExpression(.aggregate(count)), rightExpression: .value(.int(0)),
          type: quantifier == .any ? .notEqualTo : .equalTo))
    }
  }

  private func form(of comparison: Comparison) -> Form {
    if comparison.quantifier == Quantifier.none {
      var any = comparison
      any.quantifier = .any
      return .compound(CompoundPredicate(type: .not, subpredicates: [Condition(.comparison(any))]))
    }
    let modifier: ComparisonPredicate.Modifier =
      comparison.quantifier == nil ? .direct : comparison.quantifier == .all ? .all : .any
    return .comparison(
      ComparisonPredicate(
        leftExpression: comparison.left, rightExpression: comparison.right, modifier: modifier,
        type: ComparisonPredicate.Operator(comparison.comparator), options: comparison.options))
  }

  /// The condition with each comparison replaced by what `rewrite` makes of it.
  public func rewritingComparisons(_ rewrite: (ComparisonPredicate) -> Condition) -> Condition {
    switch form {
    case .constant: return self
    case .comparison(let comparison): return rewrite(comparison)
    case .compound(var compound):
      compound.subpredicates = compound.subpredicates.map { $0.rewritingComparisons(rewrite) }
      return compound.condition
    }
  }
}

extension Condition {
  /// Whether it means the same at any time, so that it may be compiled once for many evaluations: not with `now()`, the result of another fetch, or
  /// an unsaved object, whose identifier a save changes.
  package var isLasting: Bool {
    switch node {
    case .constant, .refused: true
    case .and(let parts), .or(let parts): parts.allSatisfy(\.isLasting)
    case .not(let part), .quantified(_, _, _, let part): part.isLasting
    case .comparison(let comparison): comparison.left.isLasting && comparison.right.isLasting
    case .truth(let expression): expression.isLasting
    }
  }
}

extension ConditionExpression {
  fileprivate var isLasting: Bool {
    switch kind {
    case .value, .path, .anyKey: true
    case .list(let parts): parts.allSatisfy(\.isLasting)
    case .arithmetic(_, let left, let right): left.isLasting && right.isLasting
    case .function(let function, let arguments):
      ![.now, .random, .randomBelow].contains(function) && arguments.allSatisfy(\.isLasting)
    case .conditional(let condition, let first, let second):
      condition.isLasting && first.isLasting && second.isLasting
    case .aggregate(let aggregate):
      aggregate.element?.isLasting != false && aggregate.filter?.isLasting != false
    default: false
    }
  }
}

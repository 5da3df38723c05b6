import Foundation

/// Finds the token after which a condition on transactions begins, so that what came before is not read.
enum HistoryStart {
  /// The token of `$0.token > token` or `token < $0.token`, alone or joined with other conditions by `&&`; nil without one.
  static func token(in predicate: Predicate<DefaultHistoryTransaction>) -> DefaultHistoryToken? {
    (predicate.expression as? any StartingExpression)?.start
  }
}

private protocol StartingExpression {
  var start: DefaultHistoryToken? { get }
}

extension PredicateExpressions.Conjunction: StartingExpression {
  fileprivate var start: DefaultHistoryToken? {
    (lhs as? any StartingExpression)?.start ?? (rhs as? any StartingExpression)?.start
  }
}

extension PredicateExpressions.Comparison: StartingExpression {
  fileprivate var start: DefaultHistoryToken? {
    let (path, token): (Any, Any)
    switch op {
    case .greaterThan: (path, token) = (lhs, rhs)
    case .lessThan: (path, token) = (rhs, lhs)
    default: return nil
    }
    guard (path as? any TokenPath)?.isToken == true else { return nil }
    return (token as? PredicateExpressions.Value<DefaultHistoryToken>)?.value
  }
}

private protocol TokenPath {
  var isToken: Bool { get }
}

extension PredicateExpressions.KeyPath: TokenPath {
  fileprivate var isToken: Bool { keyPath == \DefaultHistoryTransaction.token }
}

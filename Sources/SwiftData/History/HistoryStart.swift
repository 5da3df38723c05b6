import Foundation

/// Finds the token after which a condition on transactions begins, so that what came before is not read.
enum HistoryStart {
  /// The token of `$0.token > token`, alone or joined with other conditions by `&&`, however it is written: `token < $0.token`,
  /// `!($0.token <= token)`, `!(!($0.token > token) || …)`; nil without one.
  static func token(in predicate: Predicate<DefaultHistoryTransaction>) -> DefaultHistoryToken? {
    HistoryStart.token(in: predicate.expression, where: true)
  }

  /// The token after which all transactions are for which an expression has a value; nil if there is none.
  fileprivate static func token(in expression: Any, where value: Bool) -> DefaultHistoryToken? {
    (expression as? any StartingExpression)?.start(where: value)
  }
}

private protocol StartingExpression {
  /// The token after which all transactions are for which the expression has a value; nil if there is none.
  func start(where value: Bool) -> DefaultHistoryToken?
}

extension PredicateExpressions.Conjunction: StartingExpression {
  fileprivate func start(where value: Bool) -> DefaultHistoryToken? {
    guard value else { return nil }
    return HistoryStart.token(in: lhs, where: true) ?? HistoryStart.token(in: rhs, where: true)
  }
}

extension PredicateExpressions.Disjunction: StartingExpression {
  fileprivate func start(where value: Bool) -> DefaultHistoryToken? {
    guard !value else { return nil }
    return HistoryStart.token(in: lhs, where: false) ?? HistoryStart.token(in: rhs, where: false)
  }
}

extension PredicateExpressions.Negation: StartingExpression {
  fileprivate func start(where value: Bool) -> DefaultHistoryToken? {
    HistoryStart.token(in: wrapped, where: !value)
  }
}

extension PredicateExpressions.Comparison: StartingExpression {
  fileprivate func start(where value: Bool) -> DefaultHistoryToken? {
    let (path, token): (Any, Any)
    switch (op, value) {
    case (.greaterThan, true), (.lessThanOrEqual, false): (path, token) = (lhs, rhs)
    case (.lessThan, true), (.greaterThanOrEqual, false): (path, token) = (rhs, lhs)
    default: return nil
    }
    guard (path as? any TokenPath)?.isToken == true else { return nil }
    return (token as? PredicateExpressions.Value<DefaultHistoryToken>)?.value
  }
}

extension PredicateExpressions.Equal: StartingExpression {
  fileprivate func start(where value: Bool) -> DefaultHistoryToken? {
    Self.start(lhs, rhs, value) ?? Self.start(rhs, lhs, value)
  }

  private static func start(_ condition: Any, _ truth: Any, _ value: Bool) -> DefaultHistoryToken? {
    guard let truth = truth as? PredicateExpressions.Value<Bool> else { return nil }
    return HistoryStart.token(in: condition, where: truth.value == value)
  }
}

private protocol TokenPath {
  var isToken: Bool { get }
}

extension PredicateExpressions.KeyPath: TokenPath {
  fileprivate var isToken: Bool { keyPath == \DefaultHistoryTransaction.token }
}

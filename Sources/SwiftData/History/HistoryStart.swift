import Foundation
import Heartwood

/// Where the transactions begin that a condition is about, so that what came before is not read.
package struct HistoryStart {
  /// They are after this position. In stores that it does not name, they may be anywhere.
  package let position: PersistentHistoryToken
  /// Whether the condition is about all that came after a token, so that it is an error if some of that is deleted.
  package let needsAll: Bool

  /// The latest position before all transactions that satisfy a condition; nil if there is none.
  ///
  /// Comparisons of the token with a constant bound them. Of conditions that are joined by `&&` the later position counts, of those joined by
  /// `||` the earlier one.
  package init?(of predicate: Predicate<DefaultHistoryTransaction>) {
    guard let found = HistoryStart.of(predicate.expression, where: true) else { return nil }
    self = found
  }

  private init(_ position: PersistentHistoryToken, needsAll: Bool) {
    self.position = position
    self.needsAll = needsAll
  }

  /// Where all transactions begin for which an expression has a value.
  fileprivate static func of(_ expression: Any, where value: Bool) -> HistoryStart? {
    (expression as? any StartingExpression)?.start(where: value)
  }

  /// After a token.
  fileprivate static func after(_ token: DefaultHistoryToken) -> HistoryStart {
    HistoryStart(token.positions, needsAll: true)
  }

  /// At the transaction of a token, or one of its transactions, which may be deleted.
  fileprivate static func at(_ token: DefaultHistoryToken) -> HistoryStart {
    HistoryStart(token.positions.beforeLast, needsAll: false)
  }

  /// Where both of two conditions hold.
  fileprivate static func later(_ left: HistoryStart?, _ right: HistoryStart?) -> HistoryStart? {
    guard let left, let right,
      let position = PersistentHistoryToken(joining: [left.position, right.position])
    else { return left ?? right }
    return HistoryStart(position, needsAll: left.needsAll || right.needsAll)
  }

  /// Where at least one of two conditions holds.
  fileprivate static func earlier(_ left: HistoryStart?, _ right: HistoryStart?) -> HistoryStart? {
    guard let left, let right, let position = left.position.earliest(right.position) else { return nil }
    return HistoryStart(position, needsAll: left.needsAll && right.needsAll)
  }
}

private protocol StartingExpression {
  /// Where all transactions begin for which the expression has a value; nil if they may be anywhere.
  func start(where value: Bool) -> HistoryStart?
}

extension PredicateExpressions.Conjunction: StartingExpression {
  fileprivate func start(where value: Bool) -> HistoryStart? {
    let (left, right) = (HistoryStart.of(lhs, where: value), HistoryStart.of(rhs, where: value))
    return value ? .later(left, right) : .earlier(left, right)
  }
}

extension PredicateExpressions.Disjunction: StartingExpression {
  fileprivate func start(where value: Bool) -> HistoryStart? {
    let (left, right) = (HistoryStart.of(lhs, where: value), HistoryStart.of(rhs, where: value))
    return value ? .earlier(left, right) : .later(left, right)
  }
}

extension PredicateExpressions.Negation: StartingExpression {
  fileprivate func start(where value: Bool) -> HistoryStart? { HistoryStart.of(wrapped, where: !value) }
}

extension PredicateExpressions.Comparison: StartingExpression {
  fileprivate func start(where value: Bool) -> HistoryStart? {
    switch (op, value) {
    case (.greaterThan, true), (.lessThanOrEqual, false): ComparedToken.of(lhs, rhs).map { .after($0) }
    case (.greaterThanOrEqual, true), (.lessThan, false): ComparedToken.of(lhs, rhs).map { .at($0) }
    case (.lessThan, true), (.greaterThanOrEqual, false): ComparedToken.of(rhs, lhs).map { .after($0) }
    case (.lessThanOrEqual, true), (.greaterThan, false): ComparedToken.of(rhs, lhs).map { .at($0) }
    @unknown default: nil
    }
  }
}

extension PredicateExpressions.Equal: StartingExpression {
  fileprivate func start(where value: Bool) -> HistoryStart? { Equality.start(lhs, rhs, value) }
}

extension PredicateExpressions.NotEqual: StartingExpression {
  fileprivate func start(where value: Bool) -> HistoryStart? { Equality.start(lhs, rhs, !value) }
}

/// Two expressions that are compared for equality: the token and a constant one, or a condition and a constant truth.
private enum Equality {
  static func start(_ left: Any, _ right: Any, _ areEqual: Bool) -> HistoryStart? {
    if areEqual, let token = ComparedToken.of(left, right) ?? ComparedToken.of(right, left) {
      return .at(token)
    }
    return start(condition: left, right, areEqual) ?? start(condition: right, left, areEqual)
  }

  private static func start(condition: Any, _ truth: Any, _ areEqual: Bool) -> HistoryStart? {
    guard let truth = truth as? PredicateExpressions.Value<Bool> else { return nil }
    return HistoryStart.of(condition, where: truth.value == areEqual)
  }
}

private enum ComparedToken {
  /// The constant that the token of a transaction is compared with; nil for other expressions.
  static func of(_ path: Any, _ constant: Any) -> DefaultHistoryToken? {
    guard (path as? any TokenPath)?.isToken == true else { return nil }
    typealias Unwrapped = PredicateExpressions.ForcedUnwrap<
      PredicateExpressions.Value<DefaultHistoryToken?>, DefaultHistoryToken
    >
    return (constant as? PredicateExpressions.Value<DefaultHistoryToken>)?.value
      ?? (constant as? Unwrapped)?.constantValue
  }
}

private protocol TokenPath {
  var isToken: Bool { get }
}

extension PredicateExpressions.KeyPath: TokenPath {
  fileprivate var isToken: Bool { keyPath == \DefaultHistoryTransaction.token }
}

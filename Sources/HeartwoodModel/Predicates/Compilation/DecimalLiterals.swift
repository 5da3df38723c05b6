import Foundation

/// Fractions that are computed with beside decimal numbers: 0.1 means 0.1 there, and not the nearest floating-point number.
extension PathResolver {
  /// Whether an expression has decimal numbers: it reads an attribute of them, or has such a constant.
  package func hasDecimals(_ expression: ConditionExpression) -> Bool {
    switch expression.kind {
    case .value(.decimal): return true
    case .value(.list(let values)): return values.contains { if case .decimal = $0 { true } else { false } }
    case .path(let path):
      guard case .attribute(let attribute, _)? = (try? resolvedAlone(path))?.end else { return false }
      return attribute.type == .decimal
    case .arithmetic(_, let left, let right): return hasDecimals(left) || hasDecimals(right)
    case .list(let parts), .function(_, let parts): return parts.contains(where: hasDecimals)
    case .conditional(_, let first, let second): return hasDecimals(first) || hasDecimals(second)
    case .aggregate(let aggregate): return hasDecimals(aggregate.element, aggregate.path, aggregate.scope)
    case .collection(let values): return hasDecimals(values.element, values.path, values.scope)
    case .group(let aggregate): return aggregate.element.map(hasDecimals) ?? false
    default: return false
    }
  }

  private func hasDecimals(_ element: ConditionExpression?, _ path: PropertyPath, _ scope: Scope) -> Bool {
    guard let element, case .toMany(_, let entity, _)? = (try? resolvedAlone(path))?.end else { return false }
    var inner = self
    inner.scopes.append((scope, entity))
    return inner.hasDecimals(element)
  }

  /// The comparison with decimals in place of fractions, if one of its sides computes and one has decimals.
  package func withDecimals(_ comparison: Comparison) -> Comparison {
    guard comparison.left.isComputed || comparison.right.isComputed,
      hasDecimals(comparison.left) || hasDecimals(comparison.right)
    else { return comparison }
    var changed = comparison
    changed.left = comparison.left.withDecimals
    changed.right = comparison.right.withDecimals
    return changed
  }
}

extension ConditionExpression {
  /// Whether it is the result of an operation on numbers.
  fileprivate var isComputed: Bool {
    switch kind {
    case .arithmetic, .function, .conditional, .aggregate: true
    case .list(let parts): parts.contains(where: \.isComputed)
    default: false
    }
  }

  /// The expression with the digits of its fractions as decimals: 1.1 means 1.1.
  package var withDecimals: ConditionExpression {
    switch kind {
    case .value(let value): .value(value.withDecimals)
    case .arithmetic(let operation, let left, let right):
      ConditionExpression(.arithmetic(operation, left.withDecimals, right.withDecimals))
    case .list(let parts): ConditionExpression(.list(parts.map(\.withDecimals)))
    case .function(let function, let arguments) where function.keepsDecimals:
      ConditionExpression(.function(function, arguments.map(\.withDecimals)))
    case .conditional(let condition, let first, let second):
      ConditionExpression(.conditional(condition, first.withDecimals, second.withDecimals))
    default: self
    }
  }
}

extension Value {
  fileprivate var withDecimals: Value {
    switch self {
    case .double(let number) where number.isFinite:
      DecimalText.nearest("\(number)").map(Value.decimal) ?? self
    case .list(let values): .list(values.map(\.withDecimals))
    default: self
    }
  }
}

extension ConditionFunction {
  /// Whether decimals among the arguments give a decimal.
  fileprivate var keepsDecimals: Bool {
    switch self {
    case .modulus, .raise, .floor, .ceiling, .abs, .trunc, .round, .sum, .min, .max, .average, .median, .mode,
      .coalesce:
      true
    default: false
    }
  }
}

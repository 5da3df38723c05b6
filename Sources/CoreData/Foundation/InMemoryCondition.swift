import Foundation
import Heartwood

/// Evaluates a condition in memory by key-value coding, with many objects. Managed objects are asked as a fetch asks them, where that is possible.
///
/// Unchecked: one thread at a time has it.
final class InMemoryCondition: @unchecked Sendable {
  private let condition: Condition
  private let evaluation: InMemoryEvaluation
  private let test: ObjectTest

  init(_ condition: Condition, _ variables: [String: Any] = [:]) {
    self.condition =
      variables.isEmpty
      ? condition
      : condition.withSubstitutionVariables(
        variables.mapValues { Optional(GivenArgument($0) as any PredicateArgument) })
    evaluation = InMemoryOrder.evaluation(variables)
    test = ObjectTest(self.condition)
  }

  func isMet(by object: Any?) -> Bool {
    if let managed = object as? ManagedObject, managed.managedObjectContext != nil,
      let answer = try? test.holds(managed)
    {
      return answer
    }
    return InMemoryOrder.orRaise("evaluateWithObject:") { try evaluation.isMet(condition, by: object) }
  }
}

/// Evaluates expressions in memory by key-value coding.
struct InMemoryExpression {
  private let variables: [String: Any]

  init(_ variables: [String: Any]) { self.variables = variables }

  /// The value of an expression for an object.
  func value(of expression: ConditionExpression, for object: Any?) -> Any? {
    InMemoryOrder.orRaise("expressionValueWithObject:context:") {
      try InMemoryOrder.evaluation(variables).value(of: expression, for: object)
    }.map(FoundationValue.of)
  }
}

/// Comparing values of any types.
enum InMemoryOrder {
  /// Evaluates by key-value coding.
  static func evaluation(_ variables: [String: Any] = [:]) -> InMemoryEvaluation {
    InMemoryEvaluation(
      variables: variables, property: { KeyValues.value(of: $0, named: $1) },
      members: { KeyValues.members(of: $0) },
      identifier: {
        KeyValues.isPlain($0) ? nil : ($0 as? ManagedObject)?.objectID ?? $0 as? NSManagedObjectID
      })
  }

  /// The order of two values; equal if they have none.
  static func compare(_ left: Any, _ right: Any) -> ComparisonResult {
    if let left = integer(left), let right = integer(right) {
      return left < right ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
    }
    let order = evaluation().order(left, right)
    if let order { return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame }
    if let a = left as? any Comparable { return Self.order(a, right) }
    return .orderedSame
  }

  /// A number of Foundation that is a signed integer, as most keys of sort descriptors are.
  private static func integer(_ value: Any) -> Int64? {
    guard type(of: value) == NSNumber.self, let number = value as? NSNumber else { return nil }
    // "q", "i" and "s".
    return [0x71, 0x69, 0x73].contains(number.objCType.pointee) ? number.int64Value : nil
  }

  private static func order<Value: Comparable>(_ left: Value, _ right: Any) -> ComparisonResult {
    guard let right = right as? Value else { return .orderedSame }
    return left < right ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
  }

  /// Runs a body, and raises as Foundation does for a part of a predicate that cannot be computed.
  static func orRaise<Result>(_ method: String, _ body: () throws -> Result) -> Result {
    do {
      return try body()
    } catch {
      raise(method, "\(error)")
    }
  }
}

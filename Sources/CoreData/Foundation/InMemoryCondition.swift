import Foundation
import Heartwood

/// Evaluates conditions in memory by key-value coding. Managed objects are asked as a fetch asks them, where that is possible.
struct InMemoryCondition {
  private let variables: [String: Any]

  init(_ variables: [String: Any]) { self.variables = variables }

  func isMet(_ condition: Condition, by object: Any?) -> Bool {
    let bound =
      variables.isEmpty
      ? condition
      : condition.withSubstitutionVariables(
        variables.mapValues { Optional(GivenArgument($0) as any PredicateArgument) })
    if let managed = object as? ManagedObject, managed.managedObjectContext != nil,
      let answer = try? bound.evaluate(with: managed)
    {
      return answer
    }
    return holds(bound, object)
  }

  private func holds(_ condition: Condition, _ object: Any?) -> Bool {
    switch condition.form {
    case .constant(let value): value
    case .compound(let compound):
      switch compound.compoundPredicateType {
      case .and: compound.subpredicates.allSatisfy { holds($0, object) }
      case .or: compound.subpredicates.contains { holds($0, object) }
      case .not: !(compound.subpredicates.first.map { holds($0, object) } ?? false)
      }
    case .comparison(let comparison): holds(comparison, object)
    }
  }

  private func holds(_ comparison: ComparisonPredicate, _ object: Any?) -> Bool {
    let left = value(of: comparison.leftExpression, for: object)
    let right = value(of: comparison.rightExpression, for: object)
    func compare(_ left: Any?) -> Bool {
      InMemoryOrder.holds(left, comparison.predicateOperatorType, right, comparison.options)
    }
    switch comparison.comparisonPredicateModifier {
    case .direct: return compare(left)
    case .any: return (left.flatMap(KeyValues.elements) ?? []).contains { compare($0) }
    case .all: return (left.flatMap(KeyValues.elements) ?? []).allSatisfy { compare($0) }
    }
  }

  /// The value of an expression for an object.
  func value(of expression: ConditionExpression, for object: Any?) -> Any? {
    switch expression.expressionType {
    case .constantValue:
      return expression.constantValue.map { ($0 as? NSManagedObjectID) ?? FoundationValue.of($0) }
    case .evaluatedObject: return object
    case .variable: return expression.variable.flatMap { variables[$0] }
    case .keyPath: return expression.keyPath.flatMap { KeyValues.value(of: object, atPath: $0) }
    case .aggregate: return (expression.collection ?? []).map { value(of: $0, for: object) ?? NSNull() }
    case .conditional:
      let chosen = expression.predicate.map { holds($0, object) } == true ? expression.true : expression.false
      return chosen.flatMap { value(of: $0, for: object) }
    case .subquery: return members(of: expression, object)
    case .unionSet, .intersectSet, .minusSet: return sets(expression, object)
    case .function: return call(expression, object)
    case .anyKey: return nil
    }
  }

  private func members(of expression: ConditionExpression, _ object: Any?) -> [Any] {
    let all =
      expression.collection?.first.flatMap { value(of: $0, for: object) }.flatMap(KeyValues.elements) ?? []
    guard let predicate = expression.predicate else { return all }
    return all.filter { holds(predicate, $0) }
  }

  private func sets(_ expression: ConditionExpression, _ object: Any?) -> Any? {
    let parts = (expression.arguments ?? []).map { argument in
      Set(
        (value(of: argument, for: object).flatMap(KeyValues.elements) ?? []).compactMap { $0 as? AnyHashable }
      )
    }
    guard parts.count == 2 else { return nil }
    let joined =
      expression.expressionType == .unionSet
      ? parts[0].union(parts[1])
      : expression.expressionType == .minusSet
        ? parts[0].subtracting(parts[1]) : parts[0].intersection(parts[1])
    return NSSet(array: joined.map(\.base))
  }

  private func call(_ expression: ConditionExpression, _ object: Any?) -> Any? {
    let name = expression.function ?? ""
    let values = (expression.arguments ?? []).map { value(of: $0, for: object) }
    if name.hasPrefix("@") {
      guard let elements = values.first.flatMap({ $0 }).flatMap(KeyValues.elements) else { return nil }
      return KeyValues.value(of: elements, atPath: name)
    }
    let numbers = values.map { $0.flatMap(KeyValues.number) }
    func binary(_ body: (Double, Double) -> Double) -> Any? {
      guard numbers.count == 2, let a = numbers[0], let b = numbers[1] else { return nil }
      return NSNumber(value: body(a, b))
    }
    func unary(_ body: (Double) -> Double) -> Any? {
      numbers.first.flatMap { $0 }.map { NSNumber(value: body($0)) }
    }
    func list() -> [Double] {
      let elements = values.first.flatMap { $0 }.flatMap(KeyValues.elements) ?? []
      return elements.compactMap(KeyValues.number)
    }
    switch name {
    case "add:to:": return binary(+)
    case "from:subtract:": return binary(-)
    case "multiply:by:": return binary(*)
    case "divide:by:": return binary(/)
    case "modulus:by:": return binary { $0.truncatingRemainder(dividingBy: $1) }
    case "raise:toPower:": return binary(pow)
    case "abs:": return unary(abs)
    case "sqrt:": return unary { $0.squareRoot() }
    case "ceiling:": return unary { $0.rounded(.up) }
    case "floor:": return unary { $0.rounded(.down) }
    case "trunc:": return unary { $0.rounded(.towardZero) }
    case "ln:": return unary(log)
    case "log:": return unary(log10)
    case "exp:": return unary(exp)
    case "uppercase:": return (values.first as? String)?.uppercased()
    case "lowercase:": return (values.first as? String)?.lowercased()
    case "length:": return (values.first as? String).map { NSNumber(value: $0.utf16.count) }
    case "now": return Date()
    case "count:": return NSNumber(value: values.first.flatMap { $0 }.flatMap(KeyValues.elements)?.count ?? 0)
    case "sum:": return NSNumber(value: list().reduce(0, +))
    case "average:": return NSNumber(value: list().isEmpty ? 0 : list().reduce(0, +) / Double(list().count))
    case "min:": return list().min().map { NSNumber(value: $0) }
    case "max:": return list().max().map { NSNumber(value: $0) }
    default: fatalError("the function \(name) cannot be computed for an object that is not in a context")
    }
  }
}

/// Comparing values of any types.
enum InMemoryOrder {
  static func holds(
    _ left: Any?, _ type: ComparisonPredicate.Operator, _ right: Any?, _ options: ComparisonOptions
  ) -> Bool {
    let (a, b) = (present(left), present(right))
    switch type {
    case .equalTo: return areEqual(a, b, options)
    case .notEqualTo: return !areEqual(a, b, options)
    case .in:
      return elements(b).map { $0.contains { areEqual(a, present($0), options) } } ?? contains(b, a, options)
    case .contains:
      return elements(a).map { $0.contains { areEqual(present($0), b, options) } } ?? contains(a, b, options)
    case .between:
      guard let a, let bounds = b.flatMap(KeyValues.elements), bounds.count == 2 else { return false }
      return compare(a, bounds[0]) != .orderedAscending && compare(a, bounds[1]) != .orderedDescending
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      guard let a, let b else { return false }
      let order = compare(a, b, options)
      switch type {
      case .lessThan: return order == .orderedAscending
      case .lessThanOrEqualTo: return order != .orderedDescending
      case .greaterThan: return order == .orderedDescending
      default: return order != .orderedAscending
      }
    case .beginsWith, .endsWith, .like, .matches, .matchesWords:
      guard let text = a.map({ "\($0)" }), let pattern = b as? String else { return false }
      return matches(text, type, pattern, options)
    }
  }

  /// The order of two values; equal if they have none.
  static func compare(_ left: Any, _ right: Any, _ options: ComparisonOptions = []) -> ComparisonResult {
    if let a = KeyValues.number(left), let b = KeyValues.number(right) {
      return a < b ? .orderedAscending : a > b ? .orderedDescending : .orderedSame
    }
    if let a = left as? String, let b = right as? String { return a.compare(b, options: text(options)) }
    if let a = left as? Date, let b = right as? Date { return a.compare(b) }
    if let a = left as? UUID, let b = right as? UUID { return a.uuidString.compare(b.uuidString) }
    if let a = left as? any Comparable { return order(a, right) }
    return .orderedSame
  }

  private static func order<Value: Comparable>(_ left: Value, _ right: Any) -> ComparisonResult {
    guard let right = right as? Value else { return .orderedSame }
    return left < right ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
  }

  private static func present(_ any: Any?) -> Any? { any is NSNull ? nil : any }
  private static func elements(_ any: Any?) -> [Any]? { any.flatMap(KeyValues.elements) }

  private static func areEqual(_ a: Any?, _ b: Any?, _ options: ComparisonOptions) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    if let a = a as? String, let b = b as? String {
      return a.compare(b, options: text(options)) == .orderedSame
    }
    if let a = KeyValues.number(a), let b = KeyValues.number(b) { return a == b }
    if let object = a as? ManagedObject {
      return object.objectID == (b as? NSManagedObjectID ?? (b as? ManagedObject)?.objectID)
    }
    if let a = a as? any Hashable, let b = b as? any Hashable { return AnyHashable(a) == AnyHashable(b) }
    return (a as AnyObject) === (b as AnyObject)
  }

  private static func contains(_ whole: Any?, _ part: Any?, _ options: ComparisonOptions) -> Bool {
    guard let whole = whole as? String, let part = part as? String else { return false }
    return part.isEmpty || whole.range(of: part, options: text(options)) != nil
  }

  private static func matches(
    _ value: String, _ type: ComparisonPredicate.Operator, _ pattern: String, _ options: ComparisonOptions
  ) -> Bool {
    let text = text(options)
    switch type {
    case .beginsWith:
      return pattern.isEmpty || value.range(of: pattern, options: text.union(.anchored)) != nil
    case .endsWith:
      return pattern.isEmpty || value.range(of: pattern, options: text.union([.anchored, .backwards])) != nil
    case .like: return whole(value, "^" + expression(ofWildcards: pattern) + "$", text)
    default: return whole(value, "^(?:" + pattern + ")$", text)
    }
  }

  private static func whole(_ value: String, _ pattern: String, _ options: String.CompareOptions) -> Bool {
    let folded =
      options.contains(.diacriticInsensitive)
      ? value.folding(options: .diacriticInsensitive, locale: nil) : value
    var search: String.CompareOptions = [.regularExpression]
    if options.contains(.caseInsensitive) { search.insert(.caseInsensitive) }
    return folded.range(of: pattern, options: search) != nil
  }

  private static func expression(ofWildcards pattern: String) -> String {
    pattern.map { character in
      switch character {
      case "*": ".*"
      case "?": "."
      default: NSRegularExpression.escapedPattern(for: String(character))
      }
    }.joined()
  }

  private static func text(_ options: ComparisonOptions) -> String.CompareOptions {
    var text: String.CompareOptions = []
    if options.contains(.caseInsensitive) { text.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { text.insert(.diacriticInsensitive) }
    return text
  }
}

import Foundation
import HeartwoodFaults
import Testing

@testable import Heartwood
@testable import HeartwoodModel

@Suite struct RandomPredicateTests {
  @Test func `random conditions on rows agree with a plain evaluation of values`() throws {
    let seed: UInt64 = 20_260_901
    print("random predicates with seed \(seed)")
    var random = RandomConditions(seed: seed)
    let world = try random.world(cities: 40, countries: 6)
    for _ in 0..<500 {
      let isCity = Bool.random(using: &random.source)
      let entity = isCity ? world.city : world.country
      let condition = random.condition(isCity ? .city : .country, depth: 3)
      let expected = world.keys(entity).filter { key in
        PlainEvaluation(world: world).holds(condition, world.objects[entity.displayName]?[key])
      }
      try #require(try world.keys(entity, condition) == expected, "\(condition)")
    }
  }

  @Test func `random conditions are read back from their text unchanged`() throws {
    let seed: UInt64 = 77
    print("random predicates with seed \(seed)")
    var random = RandomConditions(seed: seed)
    let world = try random.world(cities: 20, countries: 5)
    for _ in 0..<250 {
      let condition = random.condition(.country, depth: 4)
      let text = condition.description
      let again = try FormatPredicate(text)
      try #require(again.description == text)
      try #require(try world.keys(world.country, again) == world.keys(world.country, condition), "\(text)")
    }
  }

  @Test func `random text is read or refused, and never causes a trap`() {
    var source = SplitMix64(seed: 5)
    let parts = [
      "name", "population", "==", "<", "(", ")", "AND", "OR", "NOT", "ANY", "IN", "{", "}", ",", "5", "-",
      "'x'", "%@",
      ".", "@count", "SUBQUERY", "$x", "CAST", "[c]", "BETWEEN", "\"", "\\", "LIKE", "nil", "\u{1F600}",
      "e\u{301}",
    ]
    for _ in 0..<2000 {
      let words = (0..<Int.random(in: 1...12, using: &source)).map { _ in
        parts.randomElement(using: &source) ?? ""
      }
      _ = try? FormatPredicate(words.joined(separator: Bool.random(using: &source) ? " " : ""), 1)
    }
  }
}

/// A plain second implementation of conditions, over dictionaries of values.
struct PlainEvaluation {
  let world: PredicateWorld

  func holds(
    _ condition: Condition, _ object: PredicateObject?, _ scopes: [ObjectIdentifier: PredicateObject] = [:]
  )
    -> Bool
  {
    guard let object else { return false }
    var scopes = scopes
    if scopes.isEmpty { scopes[ObjectIdentifier(Scope.fetched)] = object }
    switch condition.node {
    case .constant(let value): return value
    case .refused: return false
    case .not(let part): return !holds(part, object, scopes)
    case .and(let parts): return parts.allSatisfy { holds($0, object, scopes) }
    case .or(let parts): return parts.contains { holds($0, object, scopes) }
    case .comparison(let comparison): return holds(comparison, scopes)
    case .truth(let value): return self.value(value, scopes) == .bool(true)
    case .quantified(let quantifier, let path, let scope, let part):
      let results = destinations(path, scopes).map { destination in
        holds(part, destination, scopes.merging([ObjectIdentifier(scope): destination]) { $1 })
      }
      switch quantifier {
      case .any: return results.contains(true)
      case .all: return !results.contains(false)
      case .none: return !results.contains(true)
      }
    }
  }

  private func holds(_ comparison: Comparison, _ scopes: [ObjectIdentifier: PredicateObject]) -> Bool {
    holds(
      value(comparison.left, scopes), comparison.comparator, value(comparison.right, scopes),
      comparison.options)
  }

  func holds(
    _ left: Value, _ comparator: ComparisonOperator, _ right: Value, _ options: ComparisonOptions
  ) -> Bool {
    switch comparator {
    case .equal: return equal(left, right, options)
    case .notEqual: return !equal(left, right, options)
    case .less: return order(left, right, options).map { $0 < 0 } ?? false
    case .lessOrEqual: return order(left, right, options).map { $0 <= 0 } ?? false
    case .greater: return order(left, right, options).map { $0 > 0 } ?? false
    case .greaterOrEqual: return order(left, right, options).map { $0 >= 0 } ?? false
    case .isIn: return right.elements.contains { equal(left, $0, options) }
    case .between:
      guard let low = order(left, right.elements[0], options),
        let high = order(left, right.elements[1], options)
      else { return false }
      return low >= 0 && high <= 0
    case .beginsWith, .endsWith, .contains:
      let (text, part) = (scalars(left, options), scalars(right, options))
      // The empty text is in no text.
      guard areTexts(left, right), !part.isEmpty else { return false }
      if comparator == .contains { return text.indices.contains { text[$0...].starts(with: part) } }
      return comparator == .beginsWith
        ? text.starts(with: part) : text.reversed().starts(with: part.reversed())
    case .like:
      return areTexts(left, right) && like(scalars(left, options)[...], scalars(right, options)[...])
    case .matches, .matchesWords: return false
    }
  }

  private func like(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "*" {
      return like(text, pattern.dropFirst()) || !text.isEmpty && like(text.dropFirst(), pattern)
    }
    guard let scalar = text.first else { return false }
    return (first == "?" || first == scalar) && like(text.dropFirst(), pattern.dropFirst())
  }

  private func areTexts(_ left: Value, _ right: Value) -> Bool { left.text != nil && right.text != nil }

  private func scalars(_ value: Value, _ options: ComparisonOptions) -> [Unicode.Scalar] {
    Array(fold(value.text ?? "", options).unicodeScalars)
  }

  private func fold(_ text: String, _ options: ComparisonOptions) -> String {
    var folding: String.CompareOptions = []
    if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
    return text.folding(options: folding, locale: nil).precomposedStringWithCanonicalMapping
  }

  private func equal(_ left: Value, _ right: Value, _ options: ComparisonOptions) -> Bool {
    left.isNull || right.isNull ? left.isNull && right.isNull : order(left, right, options) == 0
  }

  private func order(_ left: Value, _ right: Value, _ options: ComparisonOptions) -> Int? {
    if left.isNull || right.isNull { return nil }
    if let a = left.text, let b = right.text {
      let (a, b) = (fold(a, options), fold(b, options))
      return a == b ? 0 : a < b ? -1 : 1
    }
    if case .bool(let a) = left, case .int(let b) = right { return Value.compare(.int(a ? 1 : 0), .int(b)) }
    return Value.compare(left, right)
  }

  private func value(_ expression: ConditionExpression, _ scopes: [ObjectIdentifier: PredicateObject])
    -> Value
  {
    switch expression.kind {
    case .value(let value): return value
    case .object, .refused, .variable, .anyKey, .group, .window, .computed, .fetched: return .null
    case .conditional(let condition, let first, let second):
      return value(holds(condition, scopes[ObjectIdentifier(Scope.fetched)], scopes) ? first : second, scopes)
    case .function(let function, let arguments):
      return self.function(function, arguments.map { value($0, scopes) })
    case .collection(let values):
      let members = destinations(values.path, scopes).compactMap { destination -> Value? in
        let inner = scopes.merging([ObjectIdentifier(values.scope): destination]) { $1 }
        if let filter = values.filter, !holds(filter, destination, inner) { return nil }
        let member =
          values.element.map { value($0, inner) }
          ?? .object(world.identifier(destination.entity, destination.key))
        return member.isNull ? nil : member
      }
      return .list(values.isDistinct ? Array(Set(members)) : members)
    case .list(let parts): return .list(parts.map { value($0, scopes) })
    case .path(let path): return value(path, scopes)
    case .arithmetic(let operation, let left, let right):
      return arithmetic(operation, value(left, scopes), value(right, scopes))
    case .aggregate(let aggregate):
      let kept = destinations(aggregate.path, scopes).map { destination in
        (destination, scopes.merging([ObjectIdentifier(aggregate.scope): destination]) { $1 })
      }.filter { destination, scopes in aggregate.filter.map { holds($0, destination, scopes) } ?? true }
      guard let element = aggregate.element else { return .int(Int64(kept.count)) }
      let numbers = kept.compactMap { _, scopes -> Int64? in
        guard case .int(let number) = value(element, scopes) else { return nil }
        return number
      }
      switch aggregate.function {
      case .count: return .int(Int64(kept.count))
      case .sum: return .int(numbers.reduce(0, +))
      case .min: return numbers.min().map(Value.int) ?? .null
      case .max: return numbers.max().map(Value.int) ?? .null
      case .average:
        return numbers.isEmpty ? .null : .double(Double(numbers.reduce(0, +)) / Double(numbers.count))
      case .median:
        let (sorted, half) = (numbers.sorted(), numbers.count / 2)
        guard !sorted.isEmpty else { return .null }
        return .double(Double(sorted[half] + sorted[(numbers.count - 1) / 2]) / 2)
      case .mode:
        let counts = numbers.map { number in (numbers.filter { $0 == number }.count, -number) }
        return counts.max { $0 < $1 }.map { .int(-$0.1) } ?? .null
      case .standardDeviation:
        guard !numbers.isEmpty else { return .null }
        let mean = Double(numbers.reduce(0, +)) / Double(numbers.count)
        let squares = numbers.map { (Double($0) - mean) * (Double($0) - mean) }
        // Rounded, as the order of additions differs.
        return .double((squares.reduce(0, +) / Double(numbers.count)).squareRoot())
      }
    }
  }

  /// The functions of which random conditions are made.
  private func function(_ function: ConditionFunction, _ arguments: [Value]) -> Value {
    switch (function, arguments.first ?? .null) {
    case (.coalesce, let first): return first.isNull ? arguments[1] : first
    case (.union, _): return .list(arguments.flatMap(\.elements))
    case (.intersect, _): return .list(arguments[0].elements.filter { arguments[1].elements.contains($0) })
    case (.minus, _): return .list(arguments[0].elements.filter { !arguments[1].elements.contains($0) })
    case (.count, let list): return .int(Int64(list.elements.filter { !$0.isNull }.count))
    case (.uppercase, .string(let text)): return .string(text.uppercased())
    case (.length, .string(let text)): return .int(Int64(text.count))
    case (.abs, .int(let number)): return .int(Int64(number.magnitude))
    case (.modulus, .int(let number)):
      guard case .int(let divisor) = arguments[1], divisor != 0 else { return .null }
      return .int(number % divisor)
    case (.year, .date(let seconds)):
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = .gmt
      return .int(Int64(calendar.component(.year, from: Date(timeIntervalSinceReferenceDate: seconds))))
    default: return .null
    }
  }

  private func arithmetic(_ operation: ArithmeticOperator, _ left: Value, _ right: Value) -> Value {
    guard case .int(let a) = left, case .int(let b) = right else { return .null }
    switch operation {
    case .add: return .int(a + b)
    case .subtract: return .int(a - b)
    case .multiply: return .int(a * b)
    case .divide: return b == 0 ? .null : .int(a / b)
    }
  }

  private func value(_ path: PropertyPath, _ scopes: [ObjectIdentifier: PredicateObject]) -> Value {
    guard var object = scopes[ObjectIdentifier(path.scope)] else { return .null }
    var value = Value.object(world.identifier(object.entity, object.key))
    for step in path.steps {
      if case .object(let identifier) = value {
        guard let next = world.objects[identifier.entity.rootEntity.displayName]?[identifier.key] else {
          return .null
        }
        object = next
      }
      if case .kind(let kind) = step {
        if object.entity.displayName == kind.text { continue }
        return .null
      }
      guard case .name(let name) = step else { return .null }
      value = object.values[name] ?? .null
      if value.isNull { return .null }
    }
    return value
  }

  private func destinations(
    _ path: PropertyPath, _ scopes: [ObjectIdentifier: PredicateObject]
  ) -> [PredicateObject] {
    guard case .name(let name)? = path.steps.last else { return [] }
    let owner = PropertyPath(path.scope, path.steps.dropLast())
    guard case .object(let identifier) = value(owner, scopes),
      let object = world.objects[identifier.entity.rootEntity.displayName]?[identifier.key],
      let relationship = object.entity.relationshipsByName[name]
    else { return [] }
    let root = relationship.destinationEntity.rootEntity.displayName
    return (object.many[name] ?? []).compactMap { world.objects[root]?[$0] }
  }
}

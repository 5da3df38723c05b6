import Foundation

/// Evaluates conditions and expressions on values of the program: dictionaries, objects, and collections of them.
///
/// Values are compared and computed as in a fetch. How they are looked at is the caller's.
package struct InMemoryEvaluation {
  /// The value of a property of a value that is no collection; nil if there is none.
  private let property: (Any, String) -> Any?
  /// The members of a collection; nil for other values, dictionaries among them.
  private let members: (Any) -> [Any]?
  /// The identifier that an object is compared by; nil for other values.
  private let identifier: (Any) -> ManagedObjectID?
  private let variables: [String: Any]
  private let lists = ConstantLists()

  package init(
    variables: [String: Any] = [:], property: @escaping (Any, String) -> Any?,
    members: @escaping (Any) -> [Any]?, identifier: @escaping (Any) -> ManagedObjectID?
  ) {
    self.variables = variables
    self.property = property
    self.members = members
    self.identifier = identifier
  }

  /// The objects that paths begin at.
  private struct Place {
    var objects: [ObjectIdentifier: Any] = [:]

    func with(_ object: Any?, _ scope: Scope) -> Place {
      var place = self
      place.objects[ObjectIdentifier(scope)] = object
      return place
    }
  }

  /// - Throws: `.invalidPredicate` if a part of the condition could not be made.
  package func isMet(_ condition: Condition, by object: Any?) throws -> Bool {
    try holds(condition, Place().with(object, .fetched))
  }

  /// The value of an expression: of the types of the values that were given, of Swift's for what is computed, or an array.
  package func value(of expression: ConditionExpression, for object: Any?) throws -> Any? {
    try value(expression, Place().with(object, .fetched))
  }

  /// The value at the end of a path of names, which may have operators such as `@sum`.
  package func value(of object: Any?, at names: [String]) throws -> Any? {
    var value = object
    for (place, name) in names.enumerated() {
      guard name.hasPrefix("@") else {
        value = property(name, of: value)
        continue
      }
      guard CollectionOperator.exists(name) else {
        throw HeartwoodError.predicate("there is no operator \(name): use one of \(CollectionOperator.names)")
      }
      guard let found = value.flatMap(members) else { return nil }
      let rest = Array(names[(place + 1)...])
      let ends = rest.isEmpty ? found : try found.map { try self.value(of: $0, at: rest) ?? NSNull() }
      return result(of: name, over: ends)
    }
    return value
  }

  /// The result of an operator on a collection of values.
  package func result(of name: String, over values: [Any]) -> Any? {
    any(CollectionOperator.value(name, of: values.map(stored)), among: values.flatMap { members($0) ?? [$0] })
  }

  /// The value of a function, or of arithmetic.
  package func result(of function: NamedFunction, _ arguments: [Any?]) -> Any? {
    let values = arguments.map(stored)
    switch function {
    case .function(let function):
      return any(function.apply(values), among: arguments.flatMap { $0.flatMap(members) ?? [] })
    case .arithmetic(let operation):
      return values.count == 2 ? any(operation.apply(values[0], values[1])) : nil
    case .argument: return arguments.first ?? nil
    }
  }

  /// The order of two values: negative, zero or positive; nil if they have none.
  package func order(_ left: Any?, _ right: Any?) -> Int? { Value.compare(stored(left), stored(right)) }

  // MARK: Conditions

  private func holds(_ condition: Condition, _ place: Place) throws -> Bool {
    switch condition.node {
    case .constant(let value): return value
    case .refused(let error): throw error
    case .and(let parts): return try parts.allSatisfy { try holds($0, place) }
    case .or(let parts): return try parts.contains { try holds($0, place) }
    case .not(let part): return try !holds(part, place)
    case .comparison(let comparison): return try holds(comparison, place)
    case .truth(let expression):
      return Self.holds(stored(try value(expression, place)), .equal, .bool(true), [])
    case .quantified(let quantifier, let path, let scope, let part):
      let found = try value(.path(path), place)
      return try quantifier.holds(found.map { members($0) ?? [$0] } ?? []) {
        try holds(part, place.with($0, scope))
      }
    }
  }

  private func holds(_ comparison: Comparison, _ place: Place) throws -> Bool {
    let left = try value(comparison.left, place)
    if comparison.comparator == .isIn, comparison.quantifier == nil,
      case .value(.list(let list)) = comparison.right.kind
    {
      return lists.contains(stored(left), in: list, comparison.options)
    }
    let given = try value(comparison.right, place)
    // Of a dictionary, the values are what is in it.
    let dictionary = comparison.comparator == .isIn ? given as? [AnyHashable: Any] : nil
    let right = stored(dictionary.map { Array($0.values) } ?? given)
    func compare(_ left: Any?) -> Bool {
      Self.holds(stored(left), comparison.comparator, right, comparison.options)
    }
    guard let quantifier = comparison.quantifier else { return compare(left) }
    return quantifier.holds(left.map { members($0) ?? [$0] } ?? []) { compare($0) }
  }

  /// As a fetch compares values, and lists by what they contain, truth as a number, and numbers by their text.
  static func holds(
    _ left: Value, _ comparator: ComparisonOperator, _ right: Value, _ options: ComparisonOptions
  ) -> Bool {
    if case .bool(let flag) = left, right.doubleValue != nil {
      return holds(.int(flag ? 1 : 0), comparator, right, options)
    }
    if case .bool(let flag) = right, left.doubleValue != nil {
      return holds(left, comparator, .int(flag ? 1 : 0), options)
    }
    switch (comparator, left, right) {
    case (.contains, .list(let values), _): return values.contains { holds($0, .equal, right, options) }
    case (.isIn, _, .list(let values)): return values.contains { holds(left, .equal, $0, options) }
    case (.isIn, _, _): return holds(right, .contains, left, options)
    case (.equal, .list(let a), .list(let b)): return a.count == b.count && Set(a) == Set(b)
    case (.notEqual, .list, .list): return !holds(left, .equal, right, options)
    case _ where comparator.isText && left.text == nil:
      guard let text = CastType.text.cast(left), text.text != nil else { return false }
      return comparator.holds(text, right, options)
    default: return comparator.holds(left, right, options)
    }
  }

  // MARK: Expressions

  private func value(_ expression: ConditionExpression, _ place: Place) throws -> Any? {
    switch expression.kind {
    case .value(let value): return any(value)
    case .object(let object): return object.objectID
    case .path(let path): return try value(path, place)
    case .variable(let name, _):
      let names = name.split(separator: ".").map(String.init)
      return try value(of: names.first.flatMap { variables[$0] }, at: Array(names.dropFirst()))
    case .list(let parts): return try parts.map { try value($0, place) ?? NSNull() }
    case .conditional(let condition, let first, let second):
      return try value(holds(condition, place) ? first : second, place)
    case .arithmetic(let operation, let left, let right):
      return any(operation.apply(stored(try value(left, place)), stored(try value(right, place))))
    case .function(let function, let arguments):
      return result(of: .function(function), try arguments.map { try value($0, place) })
    case .collection(let values):
      let ends = try ends(values.path, values.scope, values.element, values.filter, place)
      return values.isDistinct ? any(.list(ends.map(stored).withoutRepetitions), among: ends) : ends
    case .aggregate(let aggregate):
      let ends = try ends(aggregate.path, aggregate.scope, aggregate.element, aggregate.filter, place)
      return any(CollectionOperator.value("@\(aggregate.function.rawValue)", of: ends.map(stored)))
    case .refused(let error): throw error
    case .fetched(let value):
      throw HeartwoodError(
        .coreData, "\(value.text) has its value in a fetch, not for an object without a context")
    case .group(let aggregate):
      // About the members of the object itself, in place of the rows of a group.
      let whole = PropertyPath(.fetched)
      guard try value(whole, place).flatMap(members) != nil else { return nil }
      let ends = try ends(whole, .fetched, aggregate.element, aggregate.filter, place)
      return any(CollectionOperator.value("@\(aggregate.function.rawValue)", of: ends.map(stored)))
    case .anyKey, .window, .computed: return nil
    }
  }

  /// The values of the members that a path leads to.
  private func ends(
    _ path: PropertyPath, _ scope: Scope, _ element: ConditionExpression?, _ filter: Condition?,
    _ place: Place
  ) throws -> [Any] {
    let found = try value(path, place)
    var ends: [Any] = []
    for member in found.map({ members($0) ?? [$0] }) ?? [] {
      let inner = place.with(member, scope)
      if let filter, try !holds(filter, inner) { continue }
      guard let element else {
        ends.append(member)
        continue
      }
      guard let end = try value(element, inner), !(end is NSNull) else { continue }
      ends += members(end) ?? [end]
    }
    return ends
  }

  private func value(_ path: PropertyPath, _ place: Place) throws -> Any? {
    var value = place.objects[ObjectIdentifier(path.scope)]
    for step in path.steps {
      switch step {
      case .name(let name): value = property(name, of: value)
      case .keyPath(let keyPath):
        for name in KeyPathNames.text(of: keyPath).split(separator: ".") {
          value = property(String(name), of: value)
        }
      case .item(let item):
        let found = value.flatMap(members) ?? []
        switch item {
        case .first: value = found.first
        case .last: value = found.last
        case .index(let index): value = found.indices.contains(index) ? found[index] : nil
        }
      case .kind: break
      }
    }
    return value
  }

  /// A property of a value, or those of all members of a collection, without missing ones.
  private func property(_ name: String, of value: Any?) -> Any? {
    guard let value, !(value is NSNull) else { return nil }
    guard let found = members(value) else {
      return name.lowercased() == "self" ? value : property(value, name)
    }
    return found.flatMap { member -> [Any] in
      guard let end = property(name, of: member), !(end is NSNull) else { return [] }
      return members(end) ?? [end]
    }
  }

  // MARK: Values

  /// The stored form of a value, by which it is compared.
  private func stored(_ any: Any?) -> Value {
    guard let any, !(any is NSNull) else { return .null }
    if let identifier = identifier(any) { return .object(identifier) }
    if let found = members(any) { return .list(found.map(stored)) }
    let usual = Value(any: any, for: .undefined) ?? .null
    guard case .opaque = usual else { return usual }
    if let value = any as? any AttributeValue { return value._value }
    switch any {
    case let number as NSDecimalNumber: return .decimal(number.decimalValue)
    case let number as NSNumber: return Value(number)
    case let number as any BinaryInteger:
      return Int64(exactly: number).map(Value.int) ?? .double(Double(number))
    case let text as NSString: return .string(text.substring(from: 0))
    case let date as NSDate: return .date(date.timeIntervalSinceReferenceDate)
    default: return usual
    }
  }

  /// A value for the program.
  ///
  /// - Parameter given: The objects that the value may have come from, so that objects stay the same.
  private func any(_ value: Value, among given: [Any] = []) -> Any? {
    switch value {
    case .list(let values):
      let known = Dictionary(given.map { (stored($0), $0) }, uniquingKeysWith: { first, _ in first })
      return values.map { known[$0] ?? any($0) ?? NSNull() }
    case .object(let identifier): return given.first { stored($0) == value } ?? identifier
    default: return value.anyValue(.undefined)
    }
  }
}

extension Quantifier {
  fileprivate func holds(_ members: [Any], _ test: (Any) throws -> Bool) rethrows -> Bool {
    switch self {
    case .any: try members.contains(where: test)
    case .all: try members.allSatisfy(test)
    case .none: try !members.contains(where: test)
    }
  }
}

extension Value {
  fileprivate init(_ number: NSNumber) {
    switch number.objCType.pointee {
    case 0x63 where number == 0 || number == 1: self = .bool(number.boolValue)  // "c"
    case 0x64, 0x66: self = .double(number.doubleValue)  // "d" and "f"
    default: self = .int(number.int64Value)
    }
  }
}

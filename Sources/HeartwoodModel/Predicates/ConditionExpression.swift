/// A value in a condition: a constant, a property of the object, or an expression of these.
///
/// Core Data's name is `NSExpression`. Expressions are values that any thread may use.
public struct ConditionExpression: Sendable {
  package let kind: Kind
  let size: TreeSize

  package indirect enum Kind: Sendable {
    case value(Value)
    /// An unsaved object. The identifier is read when the condition is compiled, because a save may change it until then.
    case object(ObjectReference)
    /// A property or, if the path has no steps, the object itself.
    case path(PropertyPath)
    case aggregate(Aggregate)
    case arithmetic(ArithmeticOperator, ConditionExpression, ConditionExpression)
    case list([ConditionExpression])
    case function(ConditionFunction, [ConditionExpression])
    /// The first expression if the condition holds, otherwise the second.
    case conditional(Condition, ConditionExpression, ConditionExpression)
    /// The values of the destinations of a to-many relationship, as a list.
    case collection(DestinationValues)
    /// A value that is given before the condition is compiled: `$NAME`.
    case variable(String, column: Int?)
    /// All attributes of the object: a comparison holds if it does for any of them.
    case anyKey
    /// A value of a group of rows.
    case group(GroupAggregate)
    /// A value of a row that depends on other rows of the result.
    case window(WindowValue)
    /// A value of a computed row, by its place.
    case computed(Int)
    /// The value of another fetch.
    case fetched(any FetchedValue)
    /// An error found while building the expression, which cannot throw it. Compiling the condition throws
    /// it.
    case refused(HeartwoodError)
  }

  package init(_ kind: Kind) {
    let size = kind.size
    self.size = size
    self.kind = size.isAllowed ? kind : .refused(size.refusal)
  }

  /// A list, of constants if all parts are.
  package init(list parts: [ConditionExpression]) {
    let values = parts.compactMap { part -> Value? in
      guard case .value(let value) = part.kind else { return nil }
      return value
    }
    self = values.count == parts.count ? .list(values) : ConditionExpression(.list(parts))
  }

  package static func value(_ value: _Value) -> ConditionExpression { ConditionExpression(.value(value)) }
  package static func path(_ path: PropertyPath) -> ConditionExpression { ConditionExpression(.path(path)) }
  package static func list(_ values: [Value]) -> ConditionExpression { .value(.list(values)) }

  /// Whether a condition holds.
  package static func truth(of condition: Condition) -> ConditionExpression {
    ConditionExpression(.conditional(condition, .value(.bool(true)), .value(.bool(false))))
  }
}

/// A value computed from the destinations of a to-many relationship.
package struct Aggregate: Sendable {
  package enum Function: String {
    case count, sum, min, max
    case average = "avg"
    case median, mode
    case standardDeviation = "stddev"
  }

  package var function: Function
  package var path: PropertyPath
  /// The destination, for the paths in `element` and `filter`.
  package var scope: Scope
  /// The value of one destination; nil for `count`.
  package var element: ConditionExpression?
  /// Selects the destinations for which it holds; nil for all.
  package var filter: Condition?

  package init(
    function: Function, path: PropertyPath, scope: Scope, element: ConditionExpression? = nil,
    filter: Condition? = nil
  ) {
    self.function = function
    self.path = path
    self.scope = scope
    self.element = element
    self.filter = filter
  }
}

/// Values of the destinations of a to-many relationship.
package struct DestinationValues: Sendable {
  package var path: PropertyPath
  /// The destination, for the paths in `element` and `filter`.
  package var scope: Scope
  /// The value of one destination; nil for the destination itself.
  package var element: ConditionExpression?
  /// Selects the destinations for which it holds; nil for all.
  package var filter: Condition?
  /// Whether each value is in the list once.
  package var isDistinct = false

  package init(
    path: PropertyPath, scope: Scope, element: ConditionExpression? = nil, filter: Condition? = nil,
    isDistinct: Bool = false
  ) {
    self.path = path
    self.scope = scope
    self.element = element
    self.filter = filter
    self.isDistinct = isDistinct
  }
}

/// Arithmetic on numbers. A sum also joins two texts, and seconds are added to dates, and are the difference of two. A missing
/// operand, an overflow, and a division by zero give nil.
package enum ArithmeticOperator: String {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
}

extension ConditionExpression.Kind {
  var size: TreeSize {
    switch self {
    // A list of values counts as one part: it is searched by hash, not walked.
    case .value, .object, .path, .refused, .variable, .anyKey, .computed: .leaf
    case .fetched: TreeSize(depth: 1, count: 1, needsFetch: true)
    case .group(let aggregate): aggregate.size
    case .window(let window): window.size
    case .aggregate(let aggregate):
      TreeSize(above: [aggregate.element?.size, aggregate.filter?.size].compactMap { $0 })
    case .arithmetic(_, let left, let right): TreeSize(above: [left.size, right.size])
    case .list(let parts), .function(_, let parts): TreeSize(above: parts.map(\.size))
    case .conditional(let condition, let first, let second):
      TreeSize(above: [condition.size, first.size, second.size])
    case .collection(let collection):
      TreeSize(above: [collection.element?.size, collection.filter?.size].compactMap { $0 })
    }
  }
}

/// A path from an object over its properties: `country.name`.
package struct PropertyPath: Sendable {
  package var scope: Scope
  package var steps: [PathStep]
  /// The position of the path in the predicate's text.
  package var column: Int?

  package init(_ scope: Scope, _ steps: [PathStep] = [], column: Int? = nil) {
    self.scope = scope
    self.steps = steps
    self.column = column
  }

  /// A dotted path of names from the fetched object.
  package init(names: String, column: Int? = nil) {
    let names = names.split(separator: ".", omittingEmptySubsequences: false)
    self.init(.fetched, names.map { .name(String($0)) }, column: column)
  }

  package func appending(_ keyPath: AnyKeyPath) -> PropertyPath {
    // Joining arrays costs more than making one.
    let step = PathStep.keyPath(keyPath)
    return PropertyPath(scope, steps.isEmpty ? [step] : steps + [step], column: column)
  }
}

/// One step of a path. A key path is turned into names when the condition is compiled.
///
/// Unchecked: key paths to properties capture nothing. One that captures something is no property, and refused.
package enum PathStep: @unchecked Sendable {
  case name(String)
  case keyPath(AnyKeyPath)
  /// One destination of the ordered to-many relationship before it.
  case item(PathItem)
  /// The object before it, if it is of this entity or a subentity of it; otherwise none.
  case kind(PathKind)
}

/// An entity as conditions name it.
package enum PathKind: Sendable {
  case name(String)
  case type(any ObjectClass.Type)

  package var text: String {
    switch self {
    case .name(let name): name
    case .type(let type): "\(type)"
    }
  }
}

/// The place of a destination in an ordered relationship.
package enum PathItem: Hashable, Sendable {
  case first, last
  /// Counted from 0.
  case index(Int)

  /// The place as the format language has it.
  package var text: String {
    switch self {
    case .first: "FIRST"
    case .last: "LAST"
    case .index(let index): "\(index)"
    }
  }
}

extension String {
  /// Whether this is a name, or names with dots between them, as the path of a property is; an expression has other characters.
  package var isDottedName: Bool { allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." } }
}

extension ConditionExpression {
  /// The first expression if the condition holds, otherwise the second.
  package static func conditional(
    _ condition: Condition, _ first: ConditionExpression, _ second: ConditionExpression
  ) -> ConditionExpression { ConditionExpression(.conditional(condition, first, second)) }
}

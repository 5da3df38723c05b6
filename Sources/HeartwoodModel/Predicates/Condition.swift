/// A condition on the objects of a fetch: a tree of comparisons.
///
/// Typed queries build conditions with Swift's operators (`{ $0.population > 1_000_000 && $0.code != "FR"
/// }`), and `FormatPredicate` parses them from text. Names and types are checked when a fetch compiles the
/// condition for its entity.
///
/// A missing value (nil) equals only nil, is unequal to everything else, and has no order: `<`, `>`,
/// `BETWEEN` and all string comparisons are false for it. Negation is plain: `!(x < 3)` is true where `x` is
/// nil.
///
/// Conditions are values that any thread may use. An object in one stands for its identifier, and an unsaved object for the
/// identifier that it has when the fetch is executed.
public struct Condition: Sendable {
  package let node: ConditionNode
  let size: TreeSize

  package init(_ node: ConditionNode) { self.init(node, node.size) }

  private init(_ node: ConditionNode, _ size: TreeSize) {
    self.size = size.isAllowed ? size : .leaf
    self.node = size.isAllowed ? node : .refused(size.refusal)
  }
}

/// A node of a condition's tree.
package indirect enum ConditionNode: Sendable {
  case constant(Bool)
  case and([Condition])
  case or([Condition])
  case not(Condition)
  case comparison(Comparison)
  /// A Boolean that is a condition by itself.
  case truth(ConditionExpression)
  /// Whether the condition holds for any, all or none of the destinations of a to-many relationship.
  case quantified(Quantifier, PropertyPath, Scope, Condition)
  /// An error found while building the tree, which cannot throw it. Compiling the condition throws it.
  case refused(HeartwoodError)
}

/// The number of destinations of a to-many relationship for which a condition must hold.
package enum Quantifier: String {
  case any = "ANY"
  case all = "ALL"
  case none = "NONE"
}

/// Two expressions and the operator that compares them.
package struct Comparison: Sendable {
  package var left: ConditionExpression
  package var comparator: ComparisonOperator
  package var right: ConditionExpression
  package var options: ComparisonOptions = []
  /// Set if the left path has one to-many step; the comparison then applies to each destination.
  package var quantifier: Quantifier?
}

extension Condition {
  package static func comparing(
    _ left: ConditionExpression, _ comparator: ComparisonOperator, _ right: ConditionExpression,
    _ options: ComparisonOptions = []
  ) -> Condition {
    Condition(.comparison(Comparison(left: left, comparator: comparator, right: right, options: options)))
  }

  package static func quantified(
    _ quantifier: Quantifier, _ path: PropertyPath, _ scope: Scope, _ condition: Condition
  ) -> Condition {
    Condition(.quantified(quantifier, path, scope, condition))
  }

  package static func always(_ value: Bool) -> Condition { Condition(.constant(value)) }

  /// Nested conjunctions become one node, so that long chains stay flat.
  package static func all(_ parts: [Condition]) -> Condition {
    joined(parts.flatMap(\.conjuncts), ConditionNode.and)
  }

  package static func any(_ parts: [Condition]) -> Condition {
    joined(parts.flatMap(\.disjuncts), ConditionNode.or)
  }

  static func not(_ part: Condition) -> Condition {
    if case .refused = part.node { return part }
    return Condition(.not(part))
  }

  /// If a part is refused, the whole is refused with its error and grows no further.
  private static func joined(_ parts: [Condition], _ join: ([Condition]) -> ConditionNode) -> Condition {
    let refused = parts.first { part in
      if case .refused = part.node { return true }
      return false
    }
    return refused ?? (parts.count == 1 ? parts[0] : Condition(join(parts)))
  }

  private var conjuncts: [Condition] {
    if case .and(let parts) = node { return parts }
    return [self]
  }

  private var disjuncts: [Condition] {
    if case .or(let parts) = node { return parts }
    return [self]
  }

  /// True if both are true.
  public static func && (left: Condition, right: Condition) -> Condition { all([left, right]) }
  /// True if either is true.
  public static func || (left: Condition, right: Condition) -> Condition { any([left, right]) }
  /// True for every object: `{ _ in .true }`.
  public static var `true`: Condition { .always(true) }
  /// True for no object.
  public static var `false`: Condition { .always(false) }
  /// True if the condition is false.
  public static prefix func ! (condition: Condition) -> Condition { not(condition) }
}

extension ConditionNode {
  var size: TreeSize {
    switch self {
    case .constant, .refused: .leaf
    case .and(let parts), .or(let parts): TreeSize(above: parts.map(\.size))
    case .not(let part), .quantified(_, _, _, let part): TreeSize(above: [part.size])
    case .comparison(let comparison): TreeSize(above: comparison.left.size, comparison.right.size)
    case .truth(let value): TreeSize(above: [value.size])
    }
  }
}

/// The size of a tree. Its limits keep every recursion over a tree within a thread's stack.
package struct TreeSize: Sendable {
  package static let greatestDepth = 200
  static let greatestCount = 10_000
  static let leaf = TreeSize(depth: 1, count: 1)

  var depth: Int
  var count: Int
  /// Whether a part is the value of another fetch.
  var needsFetch = false

  init(depth: Int, count: Int, needsFetch: Bool = false) {
    self.depth = depth
    self.count = count
    self.needsFetch = needsFetch
  }

  init(above left: TreeSize, _ right: TreeSize) {
    depth = 1 + max(left.depth, right.depth)
    count = 1 + left.count + right.count
    needsFetch = left.needsFetch || right.needsFetch
  }

  init(above parts: [TreeSize]) {
    depth = 1 + (parts.map(\.depth).max() ?? 0)
    count = 1 + parts.reduce(0) { $0 + $1.count }
    needsFetch = parts.contains(where: \.needsFetch)
  }

  var isAllowed: Bool { depth <= Self.greatestDepth && count <= Self.greatestCount }

  var refusal: HeartwoodError {
    depth > Self.greatestDepth
      ? .predicate("it is nested deeper than \(Self.greatestDepth) levels; reduce the nesting")
      : .predicate("it has more than \(Self.greatestCount) parts; split the fetch, or use IN with a list")
  }
}

/// The object that a path starts from: the fetched one, or one destination of a to-many relationship.
///
/// Scopes are compared by identity, so that a nested condition can refer to objects of enclosing scopes.
package final class Scope: Sendable {
  /// The fetched object.
  package static let fetched = Scope()

  package init() {}
}

extension HeartwoodError {
  /// An invalid predicate or sort.
  ///
  /// - Parameter column: the position of the error in the text, counted from 1 in Unicode scalars; nil if
  ///   there is no text.
  package static func predicate(_ message: String, column: Int? = nil, property: String? = nil)
    -> HeartwoodError
  {
    let place = column.map { " at column \($0)" } ?? ""
    return HeartwoodError(.invalidPredicate, "the predicate is wrong\(place): \(message)", property: property)
  }

  static func unboundVariable(_ name: String, column: Int?) -> HeartwoodError {
    .predicate(
      "$\(name) has no value: give it one with withSubstitutionVariables, or name it in a SUBQUERY around it",
      column: column)
  }
}

import SwiftTokens

/// Writes an expression as the tree that Foundation evaluates and a store translates.
///
/// Conditions that are joined by `&&`, `||` and `!` become statements of their own, each of which has one type: as one expression, the
/// compiler would need time that grows exponentially with their number.
struct PredicateWriter {
  static let methods: Set<String> = [
    "contains", "allSatisfy", "filter", "starts", "hasPrefix", "localizedStandardContains",
    "localizedCompare",
    "caseInsensitiveCompare", "flatMap", "map", "evaluate", "min", "max",
  ]
  static var methodList: String { methods.sorted().joined(separator: ", ") }

  private static let namespace = "Foundation.PredicateExpressions"
  private var statements: [String] = []
  private var count = 0
  /// The names of the variables of the closure, in the code that is written.
  private var names: [String: String] = [:]
  /// The constant conditions under which the part that is written counts, such as that before `||`, as source.
  private var guards: [String] = []

  /// The statements of a closure that returns an expression, as lines.
  static func body(of syntax: PredicateSyntax, variables: [String]) -> String {
    var writer = PredicateWriter()
    for (index, variable) in variables.enumerated() { writer.names[variable] = inputName(index) }
    return writer.block(syntax)
  }

  static func inputName(_ index: Int) -> String { "_input\(index)" }

  private mutating func block(_ syntax: PredicateSyntax) -> String {
    let outer = statements
    statements = []
    defer { statements = outer }
    let result = write(syntax)
    return (statements + ["return \(result)"]).joined(separator: "\n")
  }

  private mutating func inner(_ variable: String, _ body: PredicateSyntax) -> String {
    count += 1
    let name = "_value\(count)"
    let outer = names
    names[variable] = name
    defer { names = outer }
    return "{ \(name) in\n\(block(body))\n}"
  }

  /// Keeps an expression in a constant.
  private mutating func kept(_ expression: String) -> String {
    count += 1
    statements.append("let _part\(count) = \(expression)")
    return "_part\(count)"
  }

  private func build(_ name: String, _ arguments: String...) -> String {
    "\(Self.namespace).build_\(name)(\(arguments.joined(separator: ", ")))"
  }

  private mutating func write(_ syntax: PredicateSyntax) -> String {
    if case .binary = syntax, let text = syntax.source { return constant(text) }
    switch syntax {
    case .constant(let text): return constant(text)
    case .nilLiteral: return build("NilLiteral")
    case .variable(let name): return build("Arg", names[name] ?? name)
    case .member(let base, let name): return build("KeyPath", "root: \(write(base))", "keyPath: \\.\(name)")
    case .optionalChain(let base, let variable, let body):
      return "\(Self.namespace).build_flatMap(\(write(base))) \(inner(variable, body))"
    case .call(let base, let method): return call(base, method)
    case .item(let base, let index, let standard):
      return standard.map { build("subscript", write(base), write(index), "default: \(write($0))") }
        ?? build("subscript", write(base), write(index))
    case .forced(let base): return build("ForcedUnwrap", write(base))
    case .negation(let base): return kept(build("Negation", write(base)))
    case .minus(let base): return build("UnaryMinus", write(base))
    case .binary(let infix, let left, let right): return binary(infix, left, right)
    case .conditional(let test, let first, let second):
      let isMet = Self.constants(of: test, joinedBy: .and).map { "(\($0))" }
      let isNot = Self.constants(of: test, joinedBy: .or).map { "!(\($0))" }
      let condition = write(test)
      let value = build("Conditional", condition, write(first, if: isMet), write(second, if: isNot))
      // Two constants have the type of what they are compared with.
      return first.isConstant && second.isConstant ? value : kept(value)
    case .binding(let value, let variable, let body, let otherwise):
      let wrapped = "\(Self.namespace).build_flatMap(\(write(value))) \(inner(variable, body))"
      return kept(build("NilCoalesce", "lhs: \(wrapped)", "rhs: \(write(otherwise))"))
    case .cast(let base, let type, let kind):
      let name =
        switch kind {
        case .check: "TypeCheck"
        case .conditional: "ConditionalCast"
        case .forced: "ForceCast"
        }
      return "\(Self.namespace).\(name)<_, \(type)>(\(write(base)))"
    }
  }

  // MARK: Constants

  /// Source that is evaluated when the predicate is made. Where it may end the program, such as in `text == nil || $0.text == text!`, that happens only
  /// if the constants before it don't decide, and what is nil is unwrapped only by who evaluates the predicate.
  private func constant(_ text: String) -> String {
    let wrapped = String(text.dropLast())
    if text.last == "!", !Self.mayTrap(wrapped) { return build("ForcedUnwrap", build("Arg", wrapped)) }
    guard !guards.isEmpty, Self.mayTrap(text) else { return build("Arg", text) }
    return build("ForcedUnwrap", build("Arg", "\(guards.joined(separator: " && ")) ? (\(text)) : nil"))
  }

  private mutating func write(_ syntax: PredicateSyntax, if isReached: [String]) -> String {
    let outer = guards
    guards += isReached
    defer { guards = outer }
    return write(syntax)
  }

  /// The constants among the parts that an operator joins.
  private static func constants(
    of syntax: PredicateSyntax, joinedBy infix: PredicateSyntax.BinaryOperator
  ) -> [String] {
    switch syntax {
    case _ where syntax.source != nil: [syntax.source ?? ""]
    case .binary(infix, let left, let right):
      constants(of: left, joinedBy: infix) + constants(of: right, joinedBy: infix)
    default: []
    }
  }

  /// Whether source has an unwrapping, a subscript, a division or a range.
  private static func mayTrap(_ text: String) -> Bool {
    var before: Character = " "
    var rest = Substring(text)
    while let character = rest.popFirst() {
      let isBehindValue = before.isLetter || before.isNumber || "_)]!?\"".contains(before)
      switch character {
      case "/", "%": return true
      case "!": if isBehindValue, rest.first != "=" { return true }
      case "[": if isBehindValue { return true }
      case ".": if rest.first == "." { return true }
      default: break
      }
      before = character
    }
    return false
  }

  private mutating func binary(
    _ infix: PredicateSyntax.BinaryOperator, _ left: PredicateSyntax, _ right: PredicateSyntax
  ) -> String {
    let first = "lhs: \(write(left))"
    let constants = Self.constants(of: left, joinedBy: infix)
    let isReached =
      switch infix {
      case .and: constants.map { "(\($0))" }
      case .or: constants.map { "!(\($0))" }
      default: [String]()
      }
    let second = "rhs: \(write(right, if: isReached))"
    switch infix {
    case .and: return kept(build("Conjunction", first, second))
    case .or: return kept(build("Disjunction", first, second))
    // An expression that reads a variable has a type by itself, and constants beside it have the same.
    case .coalesce: return kept(build("NilCoalesce", first, second))
    case .add: return kept(build("Arithmetic", first, second, "op: .add"))
    case .subtract: return kept(build("Arithmetic", first, second, "op: .subtract"))
    case .multiply: return kept(build("Arithmetic", first, second, "op: .multiply"))
    case .divide: return kept(build("Division", first, second))
    case .remainder: return kept(build("Remainder", first, second))
    case .equal: return build("Equal", first, second)
    case .notEqual: return build("NotEqual", first, second)
    case .less: return build("Comparison", first, second, "op: .lessThan")
    case .lessOrEqual: return build("Comparison", first, second, "op: .lessThanOrEqual")
    case .greater: return build("Comparison", first, second, "op: .greaterThan")
    case .greaterOrEqual: return build("Comparison", first, second, "op: .greaterThanOrEqual")
    case .closedRange:
      return build("ClosedRange", "lower: \(first.dropFirst(5))", "upper: \(second.dropFirst(5))")
    case .halfOpenRange:
      return build("Range", "lower: \(first.dropFirst(5))", "upper: \(second.dropFirst(5))")
    }
  }

  private mutating func call(_ base: PredicateSyntax, _ method: PredicateSyntax.MethodCall) -> String {
    let receiver = write(base)
    let arguments = method.arguments.map { write($0) }
    if let closure = method.closure {
      let block = inner(closure.variable, closure.body)
      switch method.name {
      case "contains": return "\(Self.namespace).build_contains(\(receiver), where: \(block))"
      case "map": return "\(Self.namespace).build_flatMap(\(receiver)) \(block)"
      default: return "\(Self.namespace).build_\(method.name)(\(receiver)) \(block)"
      }
    }
    switch method.name {
    case "starts": return build("starts", receiver, "with: \(arguments.joined())")
    case "hasPrefix": return build("starts", receiver, "with: \(arguments.joined())")
    default:
      return "\(Self.namespace).build_\(method.name)(\(([receiver] + arguments).joined(separator: ", ")))"
    }
  }
}

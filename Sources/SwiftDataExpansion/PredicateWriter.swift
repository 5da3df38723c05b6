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
    switch syntax {
    case .constant(let text): return build("Arg", text)
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
      let value = build("Conditional", write(test), write(first), write(second))
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

  private mutating func binary(
    _ infix: PredicateSyntax.BinaryOperator, _ left: PredicateSyntax, _ right: PredicateSyntax
  ) -> String {
    let (first, second) = ("lhs: \(write(left))", "rhs: \(write(right))")
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

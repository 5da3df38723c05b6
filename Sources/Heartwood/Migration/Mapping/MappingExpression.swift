/// The value of a property mapping as text: `$source.name`, `$source.days * 24`, `$source.pets.@sum.age`, `uppercase:($source.name)`, or
/// `FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "Pet->Pet", $source.pets)`.
struct MappingExpression: Sendable {
  indirect enum Node: Sendable {
    case constant(Value)
    case variable(String)
    /// A property of a value.
    case property(Node, String)
    /// An operator on the members of a collection, such as `@sum`, and the path of what it takes of each.
    case collection(Node, String, [String])
    /// A function of a target that is a value or an object of the migration: `FUNCTION($manager, "name:", argument)`.
    case function(Node, String, [Node])
    /// A function of values, such as `uppercase:($source.name)` or `CAST(0, "NSDate")`.
    case call(NamedFunction, [Node])
    case arithmetic(ArithmeticOperator, Node, Node)
    case list([Node])
  }

  /// The variables that an expression may have.
  static let variables = [
    "source", "destination", "manager", "entityMapping", "propertyMapping", "entityPolicy",
  ]

  let root: Node

  /// The name, or the path of an element of a composite attribute, if the expression is nothing but a property of the source: `$source.name`.
  var sourceProperty: String? {
    if case .function(.variable("source"), "valueForKey:", let arguments) = root {
      guard case .constant(.string(let name))? = arguments.first, arguments.count == 1 else { return nil }
      return name
    }
    return Self.path(root)
  }

  private static func path(_ node: Node) -> String? {
    guard case .property(let owner, let name) = node else { return nil }
    if case .variable("source") = owner { return name }
    return path(owner).map { "\($0).\(name)" }
  }

  /// The links of the source's object that an expression takes over: `FUNCTION($manager,
  /// "destinationInstancesForEntityMappingNamed:sourceInstances:", "Pet->Pet", $source.pets)`.
  struct Links: Sendable {
    /// The name of the mapping that makes their destinations; nil for any.
    let mapping: String?
    let relationship: String

    /// Whether what a mapping makes is among their destinations.
    func isOf(_ name: String) -> Bool { mapping == nil || mapping == name }
  }

  /// Nil if the expression is another one.
  var links: Links? {
    guard case .function(.variable("manager"), let name, let arguments) = root, arguments.count == 2,
      let relationship = MappingExpression(root: arguments[1]).sourceProperty
    else { return nil }
    switch name {
    case MappingFunction.destinations:
      guard case .constant(.string(let mapping)) = arguments[0] else { return nil }
      return Links(mapping: mapping, relationship: relationship)
    case MappingFunction.destinationsOfRelationship: return Links(mapping: nil, relationship: relationship)
    default: return nil
    }
  }

  private init(root: Node) { self.root = root }

  /// The names of the source's properties that the expression has; nil if a function gets the whole object.
  var sourceNames: Set<String>? {
    var names: Set<String> = []
    return Self.note(root, &names) ? names : nil
  }

  /// - Returns: Whether all uses of the source are known.
  private static func note(_ node: Node, _ names: inout Set<String>) -> Bool {
    switch node {
    case .constant: return true
    case .variable(let name): return name != "source"
    case .property(.variable("source"), let name):
      names.insert(name)
      return true
    case .function(.variable("source"), "valueForKey:", let arguments),
      .function(.variable("source"), "valueForKeyPath:", let arguments):
      guard case .constant(.string(let path))? = arguments.first else { return false }
      names.insert(String(path.prefix { $0 != "." }))
      return true
    case .property(let owner, _), .collection(let owner, _, _): return note(owner, &names)
    case .call(_, let arguments): return arguments.allSatisfy { note($0, &names) }
    case .arithmetic(_, let left, let right): return note(left, &names) && note(right, &names)
    case .list(let parts): return parts.allSatisfy { note($0, &names) }
    case .function(let target, _, let arguments):
      return note(target, &names) && arguments.allSatisfy { note($0, &names) }
    }
  }

  /// - Throws: `.coreData` with the place of what is wrong.
  init(_ text: String) throws(HeartwoodError) {
    do {
      var parser = Parser(tokens: try FormatLexer.tokens(of: text))
      root = try parser.parse()
    } catch {
      let reason = error.message.replacing("the predicate is wrong: ", with: "", maxReplacements: 1)
      throw HeartwoodError(
        .invalidPredicate,
        "the expression \"\(text.prefix(200))\(text.count > 200 ? "…" : "")\" of a property mapping is wrong: \(reason)"
      )
    }
  }

  /// Parses by operator precedence, as the parser of predicates does.
  private struct Parser: TokenReader {
    let tokens: [FormatToken]
    var position = 0
    var depth = 0

    mutating func parse() throws(HeartwoodError) -> Node {
      let node = try parseSum(0)
      guard next.kind == .end else { throw unexpected("an operator or the end") }
      return node
    }

    private mutating func parseSum(_ strength: Int) throws(HeartwoodError) -> Node {
      depth += 1
      defer { depth -= 1 }
      guard depth <= TreeSize.greatestDepth else {
        throw .predicate("it is nested too deeply here", column: next.column)
      }
      var node = try parseSteps(after: try parsePrimary())
      while case .sign(let sign) = next.kind, let operation = ArithmeticOperator(rawValue: sign) {
        let own = operation == .add || operation == .subtract ? 1 : 2
        guard own > strength else { break }
        advance()
        node = .arithmetic(operation, node, try parseSum(own))
      }
      return node
    }

    private mutating func parseSteps(after first: Node) throws(HeartwoodError) -> Node {
      var node = first
      while skip(sign: ".") {
        switch next.kind {
        case .name(let name, _):
          node = .property(node, name)
          advance()
        case .function(let name) where CollectionOperator.exists("@" + name):
          advance()
          return .collection(node, "@" + name, try parseNames())
        default: throw unexpected("the name of a property, or one of \(CollectionOperator.names)")
        }
      }
      return node
    }

    private mutating func parseNames() throws(HeartwoodError) -> [String] {
      var names: [String] = []
      while skip(sign: ".") {
        guard case .name(let name, _) = next.kind else { throw unexpected("the name of a property") }
        names.append(name)
        advance()
      }
      return names
    }

    private mutating func parsePrimary() throws(HeartwoodError) -> Node {
      let token = next
      if let constant = Self.constant(token) {
        advance()
        return .constant(constant)
      }
      switch token.kind {
      case .variable(let name):
        guard MappingExpression.variables.contains(name) else {
          let known = MappingExpression.variables.map { "$\($0)" }.joined(separator: ", ")
          throw .predicate("there is no variable $\(name): there are \(known)", column: token.column)
        }
        advance()
        return .variable(name)
      case .sign("("):
        advance()
        let node = try parseSum(0)
        try expect(sign: ")")
        return node
      case .sign("{"):
        advance()
        return .list(try parseList(closedBy: "}"))
      case .sign("-"):
        advance()
        return .arithmetic(.subtract, .constant(.int(0)), try parseSum(2))
      case .name where token.keyword == "FUNCTION":
        advance()
        return try parseFunction()
      case .name(let name, false)
      where position + 1 < tokens.count && tokens[position + 1].kind == .sign("("):
        let function = name.uppercased() == "CAST" ? NamedFunction.function(.cast) : NamedFunction(name: name)
        guard let function else { throw .predicate("there is no function \(name)", column: token.column) }
        advance()
        advance()
        return .call(function, try parseList(closedBy: ")"))
      default:
        throw unexpected("a value, a variable such as $source, a function, or FUNCTION")
      }
    }

    private static func constant(_ token: FormatToken) -> Value? {
      switch token.kind {
      case .text(let text): return .string(text)
      case .integer(let number): return .int(number)
      case .number(let number): return .double(number)
      default: break
      }
      switch token.keyword {
      case "TRUE", "YES": return .bool(true)
      case "FALSE", "NO": return .bool(false)
      case "NIL", "NULL": return .null
      default: return nil
      }
    }

    /// The target, the selector and the arguments.
    private mutating func parseFunction() throws(HeartwoodError) -> Node {
      try expect(sign: "(")
      let target = try parseSum(0)
      try expect(sign: ",")
      guard case .text(let name) = next.kind else { throw unexpected("the name of a function as text") }
      advance()
      guard skip(sign: ",") else {
        try expect(sign: ")")
        return .function(target, name, [])
      }
      return .function(target, name, try parseList(closedBy: ")"))
    }

    private mutating func parseList(closedBy end: String) throws(HeartwoodError) -> [Node] {
      if skip(sign: end) { return [] }
      var parts = [try parseSum(0)]
      while skip(sign: ",") { parts.append(try parseSum(0)) }
      try expect(sign: end)
      return parts
    }
  }
}

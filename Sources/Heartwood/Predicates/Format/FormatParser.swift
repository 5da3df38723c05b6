/// Parses a condition from tokens by operator precedence: OR 1, AND 2, NOT 3, comparisons 4, sums 5, products
/// 6.
struct FormatParser {
  private let tokens: [FormatToken]
  private let arguments: [PredicateConstant]
  private var position = 0
  private var usedArguments = 0
  private var depth = 0
  private var variables: [String: Scope] = [:]

  /// A parsed part of the text.
  enum Part {
    case condition(Condition)
    case expression(ConditionExpression)
  }

  init(_ text: String, _ arguments: [PredicateConstant]) throws(HeartwoodError) {
    tokens = try FormatLexer.tokens(of: text)
    self.arguments = arguments
  }

  mutating func parse() throws(HeartwoodError) -> Condition {
    let condition = try parseCondition(0)
    guard next.kind == .end else { throw unexpected("AND, OR or the end") }
    guard usedArguments == arguments.count else {
      throw .predicate(
        "\(arguments.count) arguments are given, but the text has placeholders for \(usedArguments) only",
        column: next.column)
    }
    return condition
  }

  var next: FormatToken { tokens[position] }

  mutating func advance() {
    if position + 1 < tokens.count { position += 1 }
  }

  mutating func skip(sign: String) -> Bool {
    guard next.kind == .sign(sign) else { return false }
    advance()
    return true
  }

  mutating func skip(keyword: String) -> Bool {
    guard next.keyword == keyword else { return false }
    advance()
    return true
  }

  mutating func expect(sign: String, _ purpose: String) throws(HeartwoodError) {
    guard skip(sign: sign) else { throw unexpected("'\(sign)' \(purpose)") }
  }

  func unexpected(_ wanted: String) -> HeartwoodError {
    .predicate("there should be \(wanted) instead of \(next.quoted)", column: next.column)
  }
}

/// Parts and the operators between them.
extension FormatParser {
  mutating func parseCondition(_ strength: Int) throws(HeartwoodError) -> Condition {
    let start = next.column
    switch try parsePart(strength) {
    case .condition(let condition):
      if case .refused(let error) = condition.node { throw error }
      return condition
    case .expression: throw noComparison(from: start)
    }
  }

  mutating func parseExpression(_ strength: Int) throws(HeartwoodError) -> ConditionExpression {
    let start = next.column
    switch try parsePart(strength) {
    case .expression(let expression):
      if case .refused(let error) = expression.kind { throw error }
      return expression
    case .condition: throw .predicate("there should be a value instead of a comparison", column: start)
    }
  }

  private mutating func parsePart(_ strength: Int) throws(HeartwoodError) -> Part {
    depth += 1
    defer { depth -= 1 }
    guard depth <= TreeSize.greatestDepth else {
      throw .predicate("it is nested deeper than \(TreeSize.greatestDepth) levels here", column: next.column)
    }
    var part = try parsePrefix()
    while let operation = nextOperation, operation.strength > strength {
      part = try parse(operation, after: part)
    }
    return part
  }

  private func noComparison(from start: Int) -> HeartwoodError {
    if next.kind == .sign("[") {
      return .predicate(
        "a destination cannot be chosen by its index; use ANY, ALL, NONE or SUBQUERY", column: next.column)
    }
    return .predicate(
      "the value that begins here must be compared with something, as in 'name == \"x\"'; a Boolean too: '== TRUE'",
      column: start)
  }

  private enum Operation {
    case or, and
    case comparison(ComparisonOperator, isNegated: Bool)
    case arithmetic(ArithmeticOperator, Int)

    var strength: Int {
      switch self {
      case .or: 1
      case .and: 2
      case .comparison: 4
      case .arithmetic(_, let strength): strength
      }
    }
  }

  private var nextOperation: Operation? {
    switch next.kind {
    case .sign("||"): return .or
    case .sign("&&"): return .and
    case .sign("+"): return .arithmetic(.add, 5)
    case .sign("-"): return .arithmetic(.subtract, 5)
    case .sign("*"): return .arithmetic(.multiply, 6)
    case .sign("/"): return .arithmetic(.divide, 6)
    case .sign(let sign): return ComparisonOperator(rawValue: sign).map { .comparison($0, isNegated: false) }
    default: return nextWordOperation
    }
  }

  private var nextWordOperation: Operation? {
    switch next.keyword {
    case "OR": .or
    case "AND": .and
    case "NOT":
      Self.comparator(of: tokens[min(position + 1, tokens.count - 1)]).map {
        .comparison($0, isNegated: true)
      }
    default: Self.comparator(of: next).map { .comparison($0, isNegated: false) }
    }
  }

  private static func comparator(of token: FormatToken) -> ComparisonOperator? {
    token.keyword.flatMap(ComparisonOperator.init(rawValue:))
  }

  private mutating func parse(_ operation: Operation, after left: Part) throws(HeartwoodError) -> Part {
    let column = next.column
    advance()
    switch (operation, left) {
    case (.or, .condition(let left)): return .condition(.any(try parseChain(of: operation, after: left)))
    case (.and, .condition(let left)): return .condition(.all(try parseChain(of: operation, after: left)))
    case (.or, _), (.and, _):
      throw .predicate("a comparison is needed before AND and OR, not a value", column: column)
    case (.comparison(let comparator, let isNegated), .expression(let left)):
      if isNegated { advance() }
      let comparison = try parseComparison(left, comparator, quantifier: nil)
      return .condition(isNegated ? !comparison : comparison)
    case (.arithmetic(let operation, let strength), .expression(let left)):
      let right = try parseExpression(strength)
      return .expression(try checked(ConditionExpression(.arithmetic(operation, left, right)), column))
    case (.comparison, .condition), (.arithmetic, .condition):
      throw .predicate("a comparison cannot be compared itself; join it with AND or OR", column: column)
    }
  }

  /// The parts that operators of the same precedence join.
  private mutating func parseChain(
    of operation: Operation, after first: Condition
  ) throws(HeartwoodError) -> [Condition] {
    var parts = [first, try parseCondition(operation.strength)]
    while let next = nextOperation, next.strength == operation.strength {
      advance()
      parts.append(try parseCondition(operation.strength))
    }
    return parts
  }

  /// Adds the position to the error of an exceeded limit.
  private func checked(_ expression: ConditionExpression, _ column: Int) throws(HeartwoodError)
    -> ConditionExpression
  {
    guard case .refused = expression.kind else { return expression }
    throw .predicate("it is nested too deeply here", column: column)
  }

  /// Parses the operator's options and its right operand.
  private mutating func parseComparison(
    _ left: ConditionExpression, _ comparator: ComparisonOperator, quantifier: Quantifier?
  ) throws(HeartwoodError) -> Condition {
    let options = try parseOptions()
    let right = try parseExpression(4)
    if quantifier == nil, let counting = Self.countingAsQuantifier(left, comparator, right) {
      return counting
    }
    return Condition(
      .comparison(
        Comparison(left: left, comparator: comparator, right: right, options: options, quantifier: quantifier)
      ))
  }

  private mutating func parseOptions() throws(HeartwoodError) -> ComparisonOptions {
    guard skip(sign: "[") else { return [] }
    var options: ComparisonOptions = []
    guard case .name(let letters, _) = next.kind else { throw unexpected("the options c, d or cd") }
    for letter in letters.lowercased() {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      default:
        throw .predicate(
          "there is no option '\(letter)': there are c and d, for case and accents", column: next.column)
      }
    }
    advance()
    try expect(sign: "]", "after the options")
    return options
  }

  /// A filtered count compared with zero is an existence test, which need not count.
  private static func countingAsQuantifier(
    _ left: ConditionExpression, _ comparator: ComparisonOperator, _ right: ConditionExpression
  ) -> Condition? {
    guard case .aggregate(let aggregate) = left.kind, aggregate.function == .count,
      let filter = aggregate.filter,
      case .value(.int(0)) = right.kind
    else { return nil }
    switch comparator {
    case .greater, .notEqual: return .quantified(.any, aggregate.path, aggregate.scope, filter)
    case .equal: return .quantified(.none, aggregate.path, aggregate.scope, filter)
    default: return nil
    }
  }
}

/// The beginnings of parts: constants, names, parentheses and prefix operators.
extension FormatParser {
  private mutating func parsePrefix() throws(HeartwoodError) -> Part {
    let token = next
    switch token.kind {
    case .sign("("): return try parseParenthesis()
    case .sign("!"):
      advance()
      return .condition(!(try parseCondition(3)))
    case .sign("-"):
      advance()
      return .expression(try parseNegative(token))
    case .sign("{"): return .expression(try parseList())
    case .name: return try parseWord(token)
    case .variable(let name): return .expression(try parseVariable(name))
    case .placeholder(let name): return try parsePlaceholder(name)
    case .text(let text): return constant(.string(text))
    case .integer(let number): return constant(.int(number))
    case .number(let number): return constant(.double(number))
    case .function, .sign: throw unexpected("a value or a comparison")
    case .end where position == 0:
      throw .predicate("it is empty; TRUEPREDICATE is true for every object", column: token.column)
    case .end: throw unexpected("a value or a comparison")
    }
  }

  private mutating func constant(_ value: Value) -> Part {
    advance()
    return .expression(.value(value))
  }

  private mutating func parseParenthesis() throws(HeartwoodError) -> Part {
    let start = next.column
    advance()
    let part = try parsePart(0)
    guard skip(sign: ")") else {
      throw .predicate(
        "there should be ')' for the parenthesis at column \(start) instead of \(next.quoted)",
        column: next.column)
    }
    return part
  }

  private mutating func parseNegative(_ sign: FormatToken) throws(HeartwoodError) -> ConditionExpression {
    switch next.kind {
    case .integer(let number):
      advance()
      return .value(.int(-number))
    case .number(let number):
      advance()
      return .value(number == 0x1p63 ? .int(.min) : .double(-number))
    default:
      let operand = try parseExpression(6)
      return ConditionExpression(.arithmetic(.subtract, .value(.int(0)), operand))
    }
  }

  private mutating func parseList() throws(HeartwoodError) -> ConditionExpression {
    advance()
    var parts: [ConditionExpression] = []
    while next.kind != .sign("}") {
      parts.append(try parseExpression(4))
      guard skip(sign: ",") else { break }
    }
    try expect(sign: "}", "or ',' in the list")
    let values = parts.compactMap { part -> Value? in
      guard case .value(let value) = part.kind else { return nil }
      return value
    }
    return values.count == parts.count ? .list(values) : ConditionExpression(.list(parts))
  }

  private mutating func parseWord(_ token: FormatToken) throws(HeartwoodError) -> Part {
    switch token.keyword {
    case "NOT":
      advance()
      return .condition(!(try parseCondition(3)))
    case "ANY", "SOME": return .condition(try parseQuantified(.any))
    case "ALL": return .condition(try parseQuantified(.all))
    case "NONE": return .condition(try parseQuantified(.none))
    case "TRUEPREDICATE", "FALSEPREDICATE":
      advance()
      return .condition(.always(token.keyword == "TRUEPREDICATE"))
    case "TRUE", "YES": return constant(.bool(true))
    case "FALSE", "NO": return constant(.bool(false))
    case "NIL", "NULL": return constant(.null)
    case "CAST" where isCall: return .expression(try parseCast())
    case "SUBQUERY" where isCall: return .expression(try parseSubquery())
    case let word? where ComparisonOperator(rawValue: word) != nil || word == "AND" || word == "OR":
      throw .predicate(
        "there should be a value before \(token.quoted); a property of this name is written #\(word.lowercased())",
        column: token.column)
    case _ where isCall: throw noFunction(token)
    default: return .expression(try parsePath())
    }
  }

  private func noFunction(_ token: FormatToken) -> HeartwoodError {
    .predicate(
      "there is no function \(token.quoted). There are CAST and SUBQUERY, and @count, @sum, @min, @max and @avg after a "
        + "to-many relationship; [c] after an operator ignores case, and a date is an argument, with %@",
      column: token.column)
  }

  private var isCall: Bool {
    position + 1 < tokens.count && tokens[position + 1].kind == .sign("(")
  }

  private mutating func parseQuantified(_ quantifier: Quantifier) throws(HeartwoodError) -> Condition {
    advance()
    let left = try parseExpression(4)
    guard let operation = nextOperation, case .comparison(let comparator, let isNegated) = operation else {
      throw unexpected("a comparison after \(quantifier.rawValue)")
    }
    advance()
    guard !isNegated else { throw unexpected("NOT before \(quantifier.rawValue)") }
    return try parseComparison(left, comparator, quantifier: quantifier)
  }
}

/// Arguments.
extension FormatParser {
  private mutating func parsePlaceholder(_ name: String) throws(HeartwoodError) -> Part {
    if name == "K" { return .expression(try parsePath()) }
    let column = next.column
    let argument = try takeArgument()
    guard argument.keyPath == nil else {
      throw .predicate(
        "argument \(usedArguments) is a key path, which stands for %K, not for %\(name)", column: column)
    }
    if name != "@" { try check(argument, name, column) }
    return .expression(argument.expression)
  }

  mutating func takeArgument() throws(HeartwoodError) -> PredicateConstant {
    guard usedArguments < arguments.count else {
      throw .predicate(
        "there is no argument for \(next.quoted): only \(arguments.count) \(arguments.count == 1 ? "is" : "are") given",
        column: next.column)
    }
    advance()
    usedArguments += 1
    return arguments[usedArguments - 1]
  }

  private func check(_ argument: PredicateConstant, _ name: String, _ column: Int) throws(HeartwoodError) {
    let takesFraction = ["f", "lf", "g"].contains(name)
    switch argument.value {
    case .int, .bool: return
    case .double where takesFraction, .decimal where takesFraction: return
    case let value:
      throw .predicate(
        "argument \(usedArguments) is \(value?.kindName ?? "an object"); %\(name) takes "
          + (takesFraction ? "a number" : "an integer"), column: column)
    }
  }

  mutating func withVariable<Result>(
    _ name: String, _ scope: Scope, _ body: (inout FormatParser) throws(HeartwoodError) -> Result
  ) throws(HeartwoodError) -> Result {
    let shadowed = variables[name]
    variables[name] = scope
    let result = try body(&self)
    variables[name] = shadowed
    return result
  }

  func scope(of variable: String) throws(HeartwoodError) -> Scope {
    guard let scope = variables[variable] else {
      throw .predicate(
        "$\(variable) is not known here: only SUBQUERY names variables; give values as arguments, with %@",
        column: next.column)
    }
    return scope
  }
}

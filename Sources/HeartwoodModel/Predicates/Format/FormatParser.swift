/// Parses a condition from tokens by operator precedence: see `Strength`.
package struct FormatParser: TokenReader {
  package let tokens: [FormatToken]
  let arguments: [PredicateConstant]
  package var position = 0
  var usedArguments = 0
  private var depth = 0
  /// How many parts were parsed, without those that join them.
  private var count = 0
  var variables: [String: Scope] = [:]
  /// Whether the options of an order may follow a value.
  var endsAtOptions = false

  /// A parsed part of the text.
  enum Part {
    case condition(Condition)
    case expression(ConditionExpression)
  }

  /// Whether further arguments than the text has placeholders for are left out, as Foundation does.
  private let takesMore: Bool

  init(
    _ text: String, _ arguments: [(any PredicateArgument)?], takesMore: Bool = false
  ) throws(HeartwoodError) {
    self.takesMore = takesMore
    tokens = try FormatLexer.tokens(of: text)
    self.arguments = arguments.map { $0?.predicateConstant ?? PredicateConstant(Value.null) }
  }

  /// The expression that a text is.
  package static func expression(
    _ text: String, _ arguments: [(any PredicateArgument)?], takesMore: Bool = false
  ) throws(HeartwoodError) -> ConditionExpression {
    var parser = try FormatParser(text, arguments, takesMore: takesMore)
    return try parser.parseOnlyExpression()
  }

  mutating func parse() throws(HeartwoodError) -> Condition {
    let condition = try parseCondition(0)
    guard next.kind == .end else { throw unexpected("AND, OR or the end") }
    try checkArguments()
    return condition
  }

  /// The expression that the whole text is.
  mutating func parseOnlyExpression() throws(HeartwoodError) -> ConditionExpression {
    let expression = try parseExpression(0)
    guard next.kind == .end else { throw unexpected("an operator or the end") }
    try checkArguments()
    return expression
  }

  private func checkArguments() throws(HeartwoodError) {
    guard usedArguments == arguments.count || takesMore else {
      throw .predicate(
        "\(arguments.count) arguments are given, but the text has placeholders for \(usedArguments) only",
        column: next.column)
    }
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
    case .expression(let value): return try condition(of: value, from: start)
    }
  }

  /// A Boolean as a condition.
  private func condition(of value: ConditionExpression, from start: Int) throws(HeartwoodError) -> Condition {
    switch value.kind {
    case .value(.bool(let flag)): return .always(flag)
    case .path, .conditional, .variable, .function(.coalesce, _), .function(.cast, _), .function(.item, _):
      return Condition(.truth(value))
    case .refused(let error): throw error
    default: throw noComparison(from: start)
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

  mutating func parsePart(_ strength: Int) throws(HeartwoodError) -> Part {
    depth += 1
    defer { depth -= 1 }
    guard depth <= TreeSize.greatestDepth else {
      throw .predicate("it is nested deeper than \(TreeSize.greatestDepth) levels here", column: next.column)
    }
    count += 1
    // Each is in the tree, but for the few that join with another.
    guard count <= 2 * TreeSize.greatestCount else {
      throw TreeSize(depth: 0, count: count).refusal
    }
    let start = next.column
    var part = try parsePrefix()
    if next.kind == .sign("["), !isBeforeOptions, case .expression(let list) = part {
      part = .expression(try parseItem(of: list))
    }
    while true {
      if strength < Strength.comparison, case .expression(let value) = part,
        let test = try parseKindTest(of: value)
      {
        part = .condition(test)
      }
      guard let operation = nextOperation, operation.strength > strength else { break }
      part = try parse(operation, after: part, from: start)
    }
    if next.keyword == "IS", case .expression = part {
      throw .predicate("IS NULL is written == NIL here, and IS NOT NULL != NIL", column: next.column)
    }
    return part
  }

  /// `SELF isKindOfClass: %@`: whether an object is of an entity or a class, which is named.
  ///
  /// - Returns: Nil if there is no such test.
  private mutating func parseKindTest(of value: ConditionExpression) throws(HeartwoodError) -> Condition? {
    guard case .name(let name, isEscaped: false) = next.kind,
      ["iskindofclass:", "iskindofclass", "iskindofentity:"].contains(name.lowercased())
    else { return nil }
    let column = next.column
    advance()
    guard case .path(var path) = value.kind else {
      throw .predicate("before \(name) there must be SELF or a relationship to one object", column: column)
    }
    let kind: String
    if case .name(let given, _) = next.kind {
      kind = given
      advance()
    } else {
      let given = try parseExpression(Strength.comparison)
      guard case .value(.string(let text)) = given.kind else {
        throw .predicate("\(name) takes the name of an entity or a class", column: column)
      }
      kind = text
    }
    path.steps.append(.kind(.name(kind)))
    return .comparing(.path(path), .notEqual, .value(.null))
  }

  private func noComparison(from start: Int) -> HeartwoodError {
    return .predicate(
      "the value that begins here must be compared with something, as in 'name == \"x\"'; a Boolean too: '== TRUE'",
      column: start)
  }

  enum Operation {
    case or, and
    case comparison(ComparisonOperator, isNegated: Bool)
    case arithmetic(ArithmeticOperator)
    case function(ConditionFunction)

    var strength: Int {
      switch self {
      case .or: Strength.or
      case .and: Strength.and
      case .comparison: Strength.comparison
      case .arithmetic(let operation): operation.strength
      case .function(let function): function.sign?.strength ?? 0
      }
    }

    /// The functions that are written between their arguments, by their sign.
    static let functions = Dictionary(
      uniqueKeysWithValues: ConditionFunction.allCases.compactMap { function in
        function.sign.map { ($0.text, function) }
      })
  }

  var nextOperation: Operation? {
    switch next.kind {
    case .sign("||"): return .or
    case .sign("&&"): return .and
    case .sign(let sign):
      if let comparator = ComparisonOperator(rawValue: sign) {
        return .comparison(comparator, isNegated: false)
      }
      if let operation = ArithmeticOperator(rawValue: sign) { return .arithmetic(operation) }
      return Operation.functions[sign].map(Operation.function)
    default: return nextWordOperation
    }
  }

  private var nextWordOperation: Operation? {
    switch next.keyword {
    case "OR": .or
    case "AND": .and
    case "UNION": .function(.union)
    case "INTERSECT": .function(.intersect)
    case "MINUS": .function(.minus)
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

  private mutating func parse(
    _ operation: Operation, after left: Part, from start: Int
  ) throws(HeartwoodError) -> Part {
    let column = next.column
    let place = position
    advance()
    switch (operation, left) {
    case (.or, .condition(let left)): return .condition(.any(try parseChain(of: operation, after: left)))
    case (.and, .condition(let left)): return .condition(.all(try parseChain(of: operation, after: left)))
    case (.or, .expression(let left)):
      let first = try condition(of: left, from: start)
      return .condition(.any(try parseChain(of: operation, after: first)))
    case (.and, .expression(let left)):
      let first = try condition(of: left, from: start)
      return .condition(.all(try parseChain(of: operation, after: first)))
    case (.comparison(let comparator, let isNegated), .expression(let left)):
      if isNegated { advance() }
      let comparison = try parseComparison(left, comparator, quantifier: nil)
      try checkConstants(around: place, comparison)
      return .condition(isNegated ? !comparison : comparison)
    case (.arithmetic(let operation), .expression(let left)):
      let right = try parseExpression(operation.strength)
      return .expression(try checked(ConditionExpression(.arithmetic(operation, left, right)), column))
    case (.function(let function), .expression(let left)):
      // Powers are taken from the right: a ** b ** c is a ** (b ** c).
      let right = try parseExpression(operation.strength - (function == .raise ? 1 : 0))
      return .expression(try checked(ConditionExpression(.function(function, [left, right])), column))
    case (.comparison, .condition), (.arithmetic, .condition), (.function, .condition):
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
  func checked(_ expression: ConditionExpression, _ column: Int) throws(HeartwoodError)
    -> ConditionExpression
  {
    guard case .refused = expression.kind else { return expression }
    throw .predicate("it is nested too deeply here", column: column)
  }

  /// Parses the operator's options and its right operand.
  mutating func parseComparison(
    _ left: ConditionExpression, _ comparator: ComparisonOperator, quantifier: Quantifier?
  ) throws(HeartwoodError) -> Condition {
    let options = try parseOptions()
    let right = try parseExpression(Strength.comparison)
    if quantifier == nil, let counting = Self.countingAsQuantifier(left, comparator, right) {
      return counting
    }
    return Condition(
      .comparison(
        Comparison(left: left, comparator: comparator, right: right, options: options, quantifier: quantifier)
      ))
  }

  /// Whether the bracket that is next has the options of an order.
  var isBeforeOptions: Bool {
    guard endsAtOptions, position + 1 < tokens.count, let letters = tokens[position + 1].keyword else {
      return false
    }
    return letters.allSatisfy("CDNL".contains)
  }

  mutating func parseOptions() throws(HeartwoodError) -> ComparisonOptions {
    guard skip(sign: "[") else { return [] }
    var options: ComparisonOptions = []
    guard case .name(let letters, _) = next.kind else { throw unexpected("the options c, d, n or l") }
    for letter in letters.lowercased() {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      case "n": options.insert(.normalized)
      case "l": options.insert(.localeSensitive)
      default:
        throw .predicate(
          "there is no option '\(letter)': c ignores case and d accents, n compares bytes, and l orders as a dictionary",
          column: next.column)
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

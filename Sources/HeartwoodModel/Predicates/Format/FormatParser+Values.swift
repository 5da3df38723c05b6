import Foundation

/// The beginnings of parts: constants, names, parentheses and prefix operators.
extension FormatParser {
  mutating func parsePrefix() throws(HeartwoodError) -> Part {
    let token = next
    switch token.kind {
    case .sign("("): return try parseParenthesis()
    case .sign("!"):
      advance()
      return .condition(!(try parseCondition(Strength.not)))
    case .sign("-"):
      advance()
      return .expression(try parseNegative())
    case .sign("~"):
      advance()
      return .expression(
        ConditionExpression(.function(.complement, [try parseExpression(Strength.product)])))
    case .sign("{"): return .expression(try parseList())
    case .name: return try parseWord(token)
    case .variable(let name): return .expression(try parseVariable(name))
    case .placeholder(let name): return try parsePlaceholder(name)
    case .text(let text): return constant(.string(text))
    case .integer(let number): return constant(.int(number))
    case .number(let number): return constant(.double(number))
    case .decimal(let number): return constant(.decimal(number))
    case .uuid(let uuid): return constant(.uuid(uuid))
    case .function(let name): return .expression(try parseGroupAggregate(name))
    case .sign: throw unexpected("a value or a comparison")
    case .end where position == 0:
      throw .predicate("it is empty; TRUEPREDICATE is true for every object", column: token.column)
    case .end: throw unexpected("a value or a comparison")
    }
  }

  private mutating func constant(_ value: Value) -> Part {
    advance()
    return .expression(.value(value))
  }

  private mutating func word(_ token: FormatToken, _ value: Value) throws(HeartwoodError) -> Part {
    try checkConstant(token)
    return constant(value)
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

  /// The sign binds less than a power.
  private mutating func parseNegative() throws(HeartwoodError) -> ConditionExpression {
    let isBase = tokens[Swift.min(position + 1, tokens.count - 1)].kind == .sign("**")
    switch next.kind {
    case .integer(let number) where !isBase:
      advance()
      return .value(.int(-number))
    case .number(let number) where !isBase:
      advance()
      return .value(number == 0x1p63 ? .int(.min) : .double(-number))
    case .decimal(let number) where !isBase:
      advance()
      return .value(-number == Decimal(Int64.min) ? .int(.min) : .decimal(-number))
    default:
      let operand = try parseExpression(Strength.product)
      return ConditionExpression(.arithmetic(.subtract, .value(.int(0)), operand))
    }
  }

  private mutating func parseList() throws(HeartwoodError) -> ConditionExpression {
    advance()
    return ConditionExpression(list: try parseParts(closedBy: "}", "or ',' in the list"))
  }

  private mutating func parseWord(_ token: FormatToken) throws(HeartwoodError) -> Part {
    switch token.keyword {
    case "NOT":
      try checkOperand(of: token)
      advance()
      return .condition(!(try parseCondition(Strength.not)))
    case "ANY", "SOME": return .condition(try parseQuantified(.any))
    case "ALL": return .condition(try parseQuantified(.all))
    case "NONE": return .condition(try parseQuantified(.none))
    case "TRUEPREDICATE", "FALSEPREDICATE":
      advance()
      return .condition(.always(token.keyword == "TRUEPREDICATE"))
    case "TRUE", "YES": return try word(token, .bool(true))
    case "FALSE", "NO": return try word(token, .bool(false))
    case "NIL", "NULL": return try word(token, .null)
    case "ANYKEY":
      advance()
      return .expression(ConditionExpression(.anyKey))
    case "SUBQUERY" where isCall: return .expression(try parseSubquery())
    case "TERNARY" where isCall: return .expression(try parseTernary())
    case let word? where Self.isOperator(word): throw misplacedOperator(token)
    case _ where isCall: return .expression(try parseCall())
    default: return .expression(try parsePath())
    }
  }

  private var isCall: Bool {
    position + 1 < tokens.count && tokens[position + 1].kind == .sign("(")
  }

  private mutating func parseQuantified(_ quantifier: Quantifier) throws(HeartwoodError) -> Condition {
    try checkOperand(of: next)
    advance()
    let left = try parseExpression(Strength.comparison)
    guard let operation = nextOperation, case .comparison(let comparator, let isNegated) = operation else {
      throw unexpected("a comparison after \(quantifier.rawValue)")
    }
    advance()
    guard !isNegated else { throw unexpected("NOT before \(quantifier.rawValue)") }
    return try parseComparison(left, comparator, quantifier: quantifier)
  }
}

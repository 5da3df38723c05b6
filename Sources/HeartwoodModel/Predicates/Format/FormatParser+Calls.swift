/// Functions: `uppercase:(name)`, `lowercase(name)`, `FUNCTION(name, "uppercase:")`, `CAST`, `TERNARY`, and members of lists.
extension FormatParser {
  mutating func parseCall() throws(HeartwoodError) -> ConditionExpression {
    let token = next
    advance()
    try expect(sign: "(", "after \(token.quoted)")
    guard case .name(let name, _) = token.kind else { throw unexpected("a function") }
    if token.keyword == "FUNCTION" { return try parseMessage(token.column) }
    let arguments = try parseParts(closedBy: ")", "or ',' in the arguments of \(name)")
    if let window = try parseWindow(name, arguments, token.column) { return window }
    if token.keyword == "CAST" { return try call(.function(.cast), arguments, name, token.column) }
    guard let function = NamedFunction(name: name) else { throw noFunction(token.quoted, token.column) }
    return try call(function, arguments, name, token.column)
  }

  /// Expressions separated by commas, and the closing sign.
  mutating func parseParts(
    closedBy end: String, _ purpose: String
  ) throws(HeartwoodError) -> [ConditionExpression] {
    var parts: [ConditionExpression] = []
    while next.kind != .sign(end) {
      parts.append(try parseExpression(Strength.comparison))
      guard skip(sign: ",") else { break }
    }
    try expect(sign: end, purpose)
    return parts
  }

  /// `FUNCTION(operand, "name:", arguments…)`: the operand is the first argument.
  private mutating func parseMessage(_ column: Int) throws(HeartwoodError) -> ConditionExpression {
    let operand = try parseExpression(Strength.comparison)
    try expect(sign: ",", "after the first argument of FUNCTION")
    guard case .text(let name) = next.kind else { throw unexpected("the name of a function as text") }
    let nameColumn = next.column
    advance()
    var arguments = [operand]
    if skip(sign: ",") {
      arguments += try parseParts(closedBy: ")", "or ',' in the arguments of FUNCTION")
    } else {
      try expect(sign: ")", "at the end of FUNCTION")
    }
    if name == "valueForKey:" || name == "valueForKeyPath:" {
      guard arguments.count == 2, case .path(var path) = operand.kind,
        case .value(.string(let names)) = arguments[1].kind
      else {
        throw .predicate("\(name) takes an object and the name of a property as text", column: nameColumn)
      }
      path.steps += names.split(separator: ".").map { .name(String($0)) }
      return try expression(of: path)
    }
    guard let function = NamedFunction(name: name) else { throw noFunction("\"\(name)\"", nameColumn) }
    return try call(function, arguments, name, column)
  }

  /// A function with its arguments.
  mutating func call(
    _ function: NamedFunction, _ arguments: [ConditionExpression], _ name: String, _ column: Int
  ) throws(HeartwoodError) -> ConditionExpression {
    switch function {
    case .argument where arguments.count == 1: return arguments[0]
    case .arithmetic(let operation) where arguments.count == 2:
      return try checked(ConditionExpression(.arithmetic(operation, arguments[0], arguments[1])), column)
    case .argument, .arithmetic:
      throw .predicate("\(name) does not take \(arguments.count) arguments", column: column)
    case .function(let function): return try call(function, arguments, column)
    }
  }

  private mutating func call(
    _ function: ConditionFunction, _ arguments: [ConditionExpression], _ column: Int
  ) throws(HeartwoodError) -> ConditionExpression {
    var (function, arguments) = (function, arguments)
    if function == .random, arguments.count == 1 { function = .randomBelow }
    if function.aggregate != nil, arguments.count > 1 { arguments = [ConditionExpression(list: arguments)] }
    if function == .distance, arguments.count == 4 {
      arguments = [
        ConditionExpression(list: Array(arguments[..<2])), ConditionExpression(list: Array(arguments[2...])),
      ]
    }
    guard function.arity.contains(arguments.count) else {
      throw function.wrongCount(arguments.count, column: column)
    }
    if function == .cast { return try cast(arguments[0], to: arguments[1], column) }
    return try checked(ConditionExpression(.function(function, arguments)), column)
  }

  /// `CAST(seconds, "NSDate")` and the like. A constant becomes one of the other type, for which there is no literal. With the name of an entity
  /// it is the object as one of that entity, whose properties may follow.
  private mutating func cast(
    _ value: ConditionExpression, to type: ConditionExpression, _ column: Int
  ) throws(HeartwoodError) -> ConditionExpression {
    if case .value(.string(let name)) = type.kind, CastType(name: name) == nil,
      case .path(var path) = value.kind
    {
      path.steps.append(.kind(.name(name)))
      return skip(sign: ".") ? try parseSteps(path) : .path(path)
    }
    guard case .value(.string(let name)) = type.kind, let castType = CastType(name: name) else {
      throw .predicate("CAST needs the name of a type as text: \(CastType.names)", column: column)
    }
    guard case .value(let constant) = value.kind else {
      return try checked(ConditionExpression(.function(.cast, [value, type])), column)
    }
    guard let result = constant.isNull ? .null : castType.cast(constant) else {
      throw .predicate("\(constant) cannot be cast to \"\(name)\"", column: column)
    }
    return .value(result)
  }

  private func noFunction(_ name: String, _ column: Int) -> HeartwoodError {
    .predicate(
      "there is no function \(name). There are functions of numbers (abs, round, floor, ceiling, trunc, sqrt, exp, ln, log, "
        + "modulus, random), texts (uppercase, lowercase, canonical, length, relevance), dates (now, year, month, day, hour, week, weekday), "
        + "lists (count, sum, min, max, average, median, mode, stddev), CAST, TERNARY, coalesce and SUBQUERY",
      column: column)
  }

  /// `TERNARY(condition, value, otherValue)`.
  mutating func parseTernary() throws(HeartwoodError) -> ConditionExpression {
    let column = next.column
    advance()
    try expect(sign: "(", "after TERNARY")
    let condition = try parseCondition(0)
    try expect(sign: ",", "after the condition of TERNARY")
    let values = try parseParts(closedBy: ")", "at the end of TERNARY")
    guard values.count == 2 else {
      throw .predicate("TERNARY takes a condition and two values, not \(values.count)", column: column)
    }
    return try checked(ConditionExpression(.conditional(condition, values[0], values[1])), column)
  }

  /// `{1, 2, 3}[0]`, `[FIRST]`, `[LAST]` or `[SIZE]` after a list.
  mutating func parseItem(of list: ConditionExpression) throws(HeartwoodError) -> ConditionExpression {
    let column = next.column
    if case .path(let path) = list.kind, !path.steps.isEmpty, isBeforePlace {
      return try parsePlace(after: path)
    }
    advance()
    let index: ConditionExpression
    switch next.keyword {
    case let word? where ["FIRST", "LAST", "SIZE"].contains(word):
      advance()
      index = .value(.string(word))
    default: index = try parseExpression(Strength.comparison)
    }
    try expect(sign: "]", "after the place in a list")
    return try checked(ConditionExpression(.function(.item, [list, index])), column)
  }
}

import Foundation

/// Properties, functions over to-many relationships, and casts.
extension FormatParser {
  /// A path of names and `%K` arguments, possibly with a function at its end.
  mutating func parsePath() throws(HeartwoodError) -> ConditionExpression {
    let path = PropertyPath(.fetched, column: next.column)
    return try parseSteps(path)
  }

  mutating func parseVariable(_ name: String) throws(HeartwoodError) -> ConditionExpression {
    let path = PropertyPath(try scope(of: name), column: next.column)
    advance()
    return skip(sign: ".") ? try parseSteps(path) : .path(path)
  }

  private mutating func parseSteps(_ start: PropertyPath) throws(HeartwoodError) -> ConditionExpression {
    var path = start
    repeat {
      if case .function(let name) = next.kind { return try parseFunction(name, over: path) }
      path.steps += try parseStep(isFirst: path.steps.isEmpty && path.scope === Scope.fetched)
    } while skip(sign: ".")
    return try expression(of: path)
  }

  private mutating func parseStep(isFirst: Bool) throws(HeartwoodError) -> [PathStep] {
    switch next.kind {
    case .name(let name, let isEscaped):
      advance()
      let isSelf = isFirst && !isEscaped && name.uppercased() == "SELF"
      return isSelf ? [] : [.name(name)]
    case .placeholder("K"): return try parseKeyArgument()
    default: throw unexpected("a property's name")
    }
  }

  private mutating func parseKeyArgument() throws(HeartwoodError) -> [PathStep] {
    let column = next.column
    let argument = try takeArgument()
    if let keyPath = argument.keyPath { return [.keyPath(keyPath)] }
    guard case .string(let names) = argument.value else {
      throw .predicate("%K takes the name of a property, or a key path", column: column)
    }
    let steps = names.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard !steps.contains("") else { throw .predicate("'\(names)' is not a property's name", column: column) }
    return steps.map(PathStep.name)
  }

  /// The path of one `%K` argument may contain a function, too.
  private func expression(of path: PropertyPath) throws(HeartwoodError) -> ConditionExpression {
    let marked = path.steps.firstIndex { step in
      if case .name(let name) = step { return name.hasPrefix("@") }
      return false
    }
    guard let marked, case .name(let name) = path.steps[marked] else { return .path(path) }
    let relationship = PropertyPath(path.scope, Array(path.steps[..<marked]), column: path.column)
    let element = Array(path.steps[(marked + 1)...])
    return try aggregate(String(name.dropFirst()), over: relationship, of: element, column: path.column)
  }

  private mutating func parseFunction(
    _ name: String, over path: PropertyPath
  ) throws(HeartwoodError) -> ConditionExpression {
    let column = next.column
    advance()
    var element: [PathStep] = []
    while skip(sign: ".") { element += try parseStep(isFirst: false) }
    return try aggregate(name, over: path, of: element, column: column)
  }

  private func aggregate(
    _ name: String, over path: PropertyPath, of element: [PathStep], column: Int?
  ) throws(HeartwoodError) -> ConditionExpression {
    guard let function = Aggregate.Function(rawValue: name) else {
      throw .predicate(
        "unknown function @\(name): use one of @count, @sum, @min, @max or @avg", column: column)
    }
    guard !path.steps.isEmpty else {
      throw .predicate(
        "before @\(name) there must be a to-many relationship, as in 'cities.@\(name)'", column: column)
    }
    guard (function == .count) == element.isEmpty else {
      throw .predicate(
        function == .count
          ? "nothing can follow @count"
          : "@\(name) needs a number after it, as in 'cities.@\(name).population'",
        column: column)
    }
    let scope = Scope()
    let value = element.isEmpty ? nil : ConditionExpression.path(PropertyPath(scope, element, column: column))
    return ConditionExpression(
      .aggregate(Aggregate(function: function, path: path, scope: scope, element: value, filter: nil)))
  }
}

/// `SUBQUERY` and `CAST`.
extension FormatParser {
  /// `SUBQUERY(relationship, $x, condition).@count`: the number of destinations that satisfy the condition.
  mutating func parseSubquery() throws(HeartwoodError) -> ConditionExpression {
    advance()
    try expect(sign: "(", "after SUBQUERY")
    let column = next.column
    guard case .path(let path) = try parseExpression(4).kind, !path.steps.isEmpty else {
      throw .predicate("SUBQUERY needs a to-many relationship first", column: column)
    }
    try expect(sign: ",", "after the relationship of SUBQUERY")
    guard case .variable(let name) = next.kind else { throw unexpected("a variable such as $x") }
    advance()
    try expect(sign: ",", "after the variable of SUBQUERY")
    let scope = Scope()
    let filter = try withVariable(name, scope) { (parser) throws(HeartwoodError) in
      try parser.parseCondition(0)
    }
    try expect(sign: ")", "at the end of SUBQUERY")
    guard skip(sign: "."), next.kind == .function("count") else {
      throw unexpected("'.@count' after SUBQUERY")
    }
    advance()
    return ConditionExpression(
      .aggregate(Aggregate(function: .count, path: path, scope: scope, element: nil, filter: filter)))
  }

  /// `CAST(seconds, "NSDate")` and the like: constants without a literal of their own.
  mutating func parseCast() throws(HeartwoodError) -> ConditionExpression {
    let column = next.column
    advance()
    try expect(sign: "(", "after CAST")
    guard case .value(let value) = try parseExpression(4).kind else {
      throw .predicate("only constants can be cast", column: column)
    }
    try expect(sign: ",", "after the value to cast")
    guard case .text(let type) = next.kind else { throw unexpected("a type such as \"NSDate\"") }
    advance()
    try expect(sign: ")", "after the type of CAST")
    guard let result = Self.cast(value, to: type) else {
      throw .predicate("\(value) cannot be cast to \"\(type)\"", column: column)
    }
    return .value(result)
  }

  private static func cast(_ value: Value, to type: String) -> Value? {
    switch (type, value) {
    case ("NSDate", .int(let seconds)): .date(Double(seconds))
    case ("NSDate", .double(let seconds)): .date(seconds)
    case ("NSNumber", .string(let text)): Double(text).map(Value.double)
    case ("NSDecimalNumber", .string(let text)):
      text == "NaN" ? .decimal(.nan) : Decimal(string: text).map(Value.decimal)
    case ("NSDecimalNumber", .int(let number)): .decimal(Decimal(number))
    case ("NSUUID", .string(let text)): UUID(uuidString: text).map(Value.uuid)
    case ("NSURL", .string(let text)), ("NSManagedObjectID", .string(let text)): .url(text)
    case ("NSData", .string(let text)): Data(base64Encoded: text).map(Value.data)
    default: nil
    }
  }
}

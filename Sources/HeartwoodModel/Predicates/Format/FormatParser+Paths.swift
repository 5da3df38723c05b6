import Foundation

/// Properties, functions over to-many relationships, and casts.
extension FormatParser {
  /// A path of names and `%K` arguments, possibly with a function at its end.
  mutating func parsePath() throws(HeartwoodError) -> ConditionExpression {
    let path = PropertyPath(.fetched, column: next.column)
    return try parseSteps(path)
  }

  /// A destination that a SUBQUERY names, or else a value that is given later.
  mutating func parseVariable(_ name: String) throws(HeartwoodError) -> ConditionExpression {
    let column = next.column
    advance()
    if let scope = variables[name] {
      let path = PropertyPath(scope, column: column)
      return skip(sign: ".") ? try parseSteps(path) : .path(path)
    }
    // A property of an object that is given later.
    var path = name
    while skip(sign: ".") {
      switch next.kind {
      case .name(let step, _):
        path += ".\(step)"
        advance()
      case .function(let function):
        let path = PropertyPath(names: "$" + path, column: column)
        return try parseFunction(function, over: path, path.scope, nil)
      case .placeholder("K"):
        for case .name(let step) in try parseKeyArgument() { path += ".\(step)" }
      default: throw unexpected("a property's name")
      }
    }
    return ConditionExpression(.variable(path, column: column))
  }

  /// The steps of a path, up to a function or the size of a relationship, which may be at its end.
  mutating func parseSteps(_ start: PropertyPath) throws(HeartwoodError) -> ConditionExpression {
    var path = start
    repeat {
      if case .function(let name) = next.kind { return try parseFunction(name, over: path, path.scope, nil) }
      path.steps += try parseStep(isFirst: path.steps.isEmpty && path.scope === Scope.fetched)
      while next.kind == .sign("["), !path.steps.isEmpty, !isBeforeOptions {
        guard let item = try parseItem() else { return try size(of: path) }
        path.steps.append(.item(item))
      }
    } while skip(sign: ".")
    return try expression(of: path)
  }

  /// Whether the bracket that is next has a place as paths have it: a number, FIRST, LAST or SIZE.
  var isBeforePlace: Bool {
    guard position + 2 < tokens.count, tokens[position + 2].kind == .sign("]") else { return false }
    if case .integer = tokens[position + 1].kind { return true }
    return ["FIRST", "LAST", "SIZE"].contains(tokens[position + 1].keyword)
  }

  /// The place after a path in parentheses.
  mutating func parsePlace(after path: PropertyPath) throws(HeartwoodError) -> ConditionExpression {
    guard let item = try parseItem() else { return try size(of: path) }
    return try expression(of: PropertyPath(path.scope, path.steps + [.item(item)], column: path.column))
  }

  private func size(of path: PropertyPath) throws(HeartwoodError) -> ConditionExpression {
    try aggregate("count", over: path, Scope(), nil, of: nil, column: path.column)
  }

  /// `[0]`, `[FIRST]` or `[LAST]`; nil for `[SIZE]`.
  private mutating func parseItem() throws(HeartwoodError) -> PathItem? {
    advance()
    let token = next
    advance()
    try expect(sign: "]", "after the place in an ordered relationship")
    switch (token.kind, token.keyword) {
    case (.integer(let index), _): return .index(Int(clamping: index))
    case (_, "FIRST"): return .first
    case (_, "LAST"): return .last
    case (_, "SIZE"): return nil
    default:
      throw .predicate(
        "there should be a number from 0, FIRST, LAST or SIZE instead of \(token.quoted)",
        column: token.column)
    }
  }

  private mutating func parseStep(isFirst: Bool) throws(HeartwoodError) -> [PathStep] {
    switch next.kind {
    case .name(let name, let isEscaped):
      guard !name.contains(":") else {
        throw .predicate(
          "\(next.quoted) is no property's name; a function has its arguments in parentheses after it",
          column: next.column)
      }
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
  func expression(of path: PropertyPath) throws(HeartwoodError) -> ConditionExpression {
    let marked = path.steps.firstIndex { step in
      if case .name(let name) = step { return name.hasPrefix("@") }
      return false
    }
    guard let marked, case .name(let name) = path.steps[marked] else { return .path(path) }
    let relationship = PropertyPath(path.scope, Array(path.steps[..<marked]), column: path.column)
    let scope = Scope()
    let element = Array(path.steps[(marked + 1)...])
    return try aggregate(
      String(name.dropFirst()), over: relationship, scope, nil,
      of: element.isEmpty ? nil : .path(PropertyPath(scope, element, column: path.column)),
      column: path.column)
  }

  /// `@sum.population`, after a relationship or a SUBQUERY.
  private mutating func parseFunction(
    _ name: String, over path: PropertyPath, _ destination: Scope, _ filter: Condition?
  ) throws(HeartwoodError) -> ConditionExpression {
    let column = next.column
    let scope = filter == nil ? Scope() : destination
    advance()
    var element = PropertyPath(scope, column: column)
    var value: ConditionExpression?
    while skip(sign: ".") {
      if case .function(let further) = next.kind, let function = NamedFunction(name: further) {
        let list = try aggregate(name, over: path, scope, filter, of: value, column: column)
        advance()
        return try call(function, [list], further, column)
      }
      if filter != nil, next.kind == .sign("("), value == nil {
        return try aggregate(
          name, over: path, scope, filter, of: try parseValueOfDestination(), column: column)
      }
      element.steps += try parseStep(isFirst: false)
      value = .path(element)
    }
    return try aggregate(name, over: path, scope, filter, of: value, column: column)
  }

  private func aggregate(
    _ name: String, over path: PropertyPath, _ scope: Scope, _ filter: Condition?,
    of element: ConditionExpression?,
    column: Int?
  ) throws(HeartwoodError) -> ConditionExpression {
    let isList = Self.lists.contains(name)
    guard isList || Aggregate.Function(rawValue: name) != nil else {
      throw .predicate(
        "unknown function @\(name): use one of @count, @sum, @min, @max, @avg, @median, @mode, @stddev, "
          + "@unionOfObjects or @distinctUnionOfObjects", column: column)
    }
    // Derived attributes have the property before the function.
    if element == nil, filter == nil, name != "count", path.steps.count > 1, let property = path.steps.last {
      return try aggregate(
        name, over: PropertyPath(path.scope, Array(path.steps.dropLast()), column: path.column), scope, nil,
        of: .path(PropertyPath(scope, [property], column: path.column)), column: column)
    }
    guard (name == "count") == (element == nil) else {
      throw .predicate(
        name == "count"
          ? "nothing can follow @count"
          : "@\(name) needs a property after it, as in 'cities.@\(name).population'",
        column: column)
    }
    if let function = Aggregate.Function(rawValue: name) {
      return ConditionExpression(
        .aggregate(Aggregate(function: function, path: path, scope: scope, element: element, filter: filter)))
    }
    return ConditionExpression(
      .collection(
        DestinationValues(
          path: path, scope: scope, element: element, filter: filter, isDistinct: name.hasPrefix("distinct")))
    )
  }

  /// Foundation has one of each for properties, for arrays and for sets.
  private static let lists: Set<String> = [
    "unionOfObjects", "unionOfArrays", "unionOfSets", "distinctUnionOfObjects", "distinctUnionOfArrays",
    "distinctUnionOfSets",
  ]
}

/// `SUBQUERY`.
extension FormatParser {
  /// `SUBQUERY(relationship, $x, condition)`: the destinations that satisfy the condition, and what follows of them, as
  /// `.@count`, `.@max.age`, `.name` or `.@sum.($x.a * $x.b)`.
  mutating func parseSubquery() throws(HeartwoodError) -> ConditionExpression {
    advance()
    try expect(sign: "(", "after SUBQUERY")
    let column = next.column
    let collection = try parseExpression(Strength.comparison)
    guard let path = PropertyPath(of: collection) else {
      throw .predicate("SUBQUERY needs a to-many relationship first", column: column)
    }
    try expect(sign: ",", "after the relationship of SUBQUERY")
    guard case .variable(let name) = next.kind else { throw unexpected("a variable such as $x") }
    advance()
    try expect(sign: ",", "after the variable of SUBQUERY")
    let scope = Scope()
    return try withVariable(name, scope) { (parser) throws(HeartwoodError) in
      let filter = try parser.parseCondition(0)
      try parser.expect(sign: ")", "at the end of SUBQUERY")
      return try parser.parseRest(of: path, scope, filter)
    }
  }

  private mutating func parseRest(
    of path: PropertyPath, _ scope: Scope, _ filter: Condition
  ) throws(HeartwoodError) -> ConditionExpression {
    var values = DestinationValues(path: path, scope: scope, filter: filter)
    guard skip(sign: ".") else { return ConditionExpression(.collection(values)) }
    if case .function(let name) = next.kind { return try parseFunction(name, over: path, scope, filter) }
    values.element =
      next.kind == .sign("(")
      ? try parseValueOfDestination() : try parseSteps(PropertyPath(scope, column: next.column))
    return ConditionExpression(.collection(values))
  }

  /// A value in parentheses, in which the variable is the destination.
  private mutating func parseValueOfDestination() throws(HeartwoodError) -> ConditionExpression {
    advance()
    let value = try parseExpression(0)
    try expect(sign: ")", "after the value of the destinations")
    return value
  }
}

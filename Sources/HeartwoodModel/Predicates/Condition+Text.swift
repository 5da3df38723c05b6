import Foundation

/// Conditions as text that `FormatPredicate` can parse.
extension Condition: CustomStringConvertible {
  /// The condition in the language of `FormatPredicate`.
  ///
  /// Properties named by key paths are written by name if the model is in use, otherwise as Swift describes
  /// the key path.
  public var description: String {
    var printer = ConditionPrinter()
    printer.avoid(variablePaths)
    return printer.text(of: self, within: 0)
  }
}

/// Writes a tree, with parentheses where the precedence of operators requires them.
package struct ConditionPrinter {
  /// The variables of the enclosing scopes; none for the object that plain names refer to.
  private var names: [ObjectIdentifier: String]
  private var variableCount = 0
  /// Variables that are given later, which no destination may be called.
  private var given: Set<String> = []

  package init(names: [ObjectIdentifier: String] = [:]) { self.names = names }

  mutating func avoid(_ variables: [[String]]) { given.formUnion(variables.compactMap(\.first)) }

  /// Calls `body` with a name for a destination.
  private mutating func withVariable<Result>(
    for scope: Scope, _ body: (inout ConditionPrinter, String) -> Result
  ) -> Result {
    let before = variableCount
    defer { variableCount = before }
    var name: String
    repeat {
      variableCount += 1
      name = "x" + (variableCount == 1 ? "" : "\(variableCount)")
    } while given.contains(name)
    names[ObjectIdentifier(scope)] = "$" + name
    return body(&self, "$" + name)
  }

  mutating func text(of condition: Condition, within strength: Int) -> String {
    switch condition.node {
    case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .refused(let error): return "FALSEPREDICATE /* \(error.message) */"
    case .not(let part): return "NOT " + text(of: part, within: 4)
    case .and(let parts): return join(parts, " AND ", 2, within: strength)
    case .or(let parts): return join(parts, " OR ", 1, within: strength)
    case .comparison(let comparison): return text(of: comparison, within: strength)
    case .truth(let value): return text(of: value, within: Strength.comparison)
    case .quantified(let quantifier, let path, let scope, let part):
      return text(of: quantifier, path, scope, part, within: strength)
    }
  }

  private mutating func join(
    _ parts: [Condition], _ sign: String, _ own: Int, within strength: Int
  ) -> String {
    guard !parts.isEmpty else { return own == 2 ? "TRUEPREDICATE" : "FALSEPREDICATE" }
    var texts: [String] = []
    for part in parts { texts.append(text(of: part, within: own)) }
    let joined = texts.joined(separator: sign)
    return strength >= own ? "(\(joined))" : joined
  }

  private mutating func text(of comparison: Comparison, within strength: Int) -> String {
    let left = text(of: comparison.left, within: 4)
    let right = text(of: comparison.right, within: 4)
    let quantifier = comparison.quantifier.map { "\($0.rawValue) " } ?? ""
    let text = "\(quantifier)\(left) \(comparison.comparator.rawValue)\(comparison.options.suffix) \(right)"
    return strength >= 4 ? "(\(text))" : text
  }

  private mutating func text(
    of quantifier: Quantifier, _ path: PropertyPath, _ scope: Scope, _ condition: Condition,
    within strength: Int
  ) -> String {
    // ALL holds if no destination violates the condition.
    let inner = quantifier == .all ? Condition(.not(condition)) : condition
    let isOfAll = if case .constant(true) = inner.node { true } else { false }
    let count = isOfAll ? "\(self.text(of: path)).@count" : subquery(path, scope, inner)
    let text = "\(count) \(quantifier == .any ? "!=" : "==") 0"
    return strength >= 4 ? "(\(text))" : text
  }

  private mutating func subquery(_ path: PropertyPath, _ scope: Scope, _ filter: Condition) -> String {
    let relationship = text(of: path)
    return withVariable(for: scope) { printer, variable in
      "SUBQUERY(\(relationship), \(variable), \(printer.text(of: filter, within: 0))).@count"
    }
  }

  /// `SUBQUERY(…)` with what follows it, which may use the variable.
  private mutating func subquery(
    _ path: PropertyPath, _ scope: Scope, _ filter: Condition?, _ rest: (inout ConditionPrinter) -> String
  ) -> String {
    let relationship = text(of: path)
    return withVariable(for: scope) { printer, variable in
      let condition = filter.map { printer.text(of: $0, within: 0) } ?? "TRUEPREDICATE"
      return "SUBQUERY(\(relationship), \(variable), \(condition))" + rest(&printer)
    }
  }

  package mutating func text(of expression: ConditionExpression, within strength: Int) -> String {
    switch expression.kind {
    case .value(let value): return text(of: value, within: strength)
    case .object(let object): return Value.object(object.objectID).predicateText
    case .path(let path): return text(of: path)
    case .refused(let error): return "NIL /* \(error.message) */"
    case .aggregate(let aggregate): return text(of: aggregate)
    case .collection(let values): return text(of: values)
    case .variable(let name, _): return "$\(name)"
    case .anyKey: return "ANYKEY"
    case .list(let parts): return "{\(list(parts))}"
    case .conditional(let condition, let first, let second):
      return "TERNARY(\(text(of: condition, within: 0)), \(list([first, second])))"
    case .function(let function, let arguments): return text(of: function, arguments, within: strength)
    case .group(let aggregate): return text(of: aggregate)
    case .window(let window): return text(of: window)
    case .fetched(let value): return value.text
    case .computed(let place): return "COLUMN \(place)"
    case .arithmetic(let operation, let left, let right):
      return infix(left, operation.rawValue, right, operation.strength, within: strength)
    }
  }

  /// A negative base of a power needs parentheses, as the sign binds less.
  private func text(of value: Value, within strength: Int) -> String {
    let text = value.predicateText
    return strength >= Strength.power - 1 && text.hasPrefix("-") ? "(\(text))" : text
  }

  private mutating func list(_ parts: [ConditionExpression]) -> String {
    var texts: [String] = []
    for part in parts { texts.append(text(of: part, within: Strength.comparison)) }
    return texts.joined(separator: ", ")
  }

  private mutating func infix(
    _ left: ConditionExpression, _ sign: String, _ right: ConditionExpression, _ own: Int,
    within strength: Int
  ) -> String {
    // A power has its right operand first.
    let isPower = own == Strength.power
    let text =
      "\(text(of: left, within: isPower ? own : own - 1)) \(sign) \(text(of: right, within: isPower ? own - 1 : own))"
    return strength >= own ? "(\(text))" : text
  }

  private mutating func text(
    of function: ConditionFunction, _ arguments: [ConditionExpression], within strength: Int
  ) -> String {
    if let sign = function.sign, arguments.count == 2 {
      return infix(arguments[0], sign.text, arguments[1], sign.strength, within: strength)
    }
    if function == .cast { return "CAST(\(list(arguments)))" }
    return "\(function.rawValue)(\(list(arguments)))"
  }

  package func text(of path: PropertyPath) -> String {
    if let place = path.steps.lastIndex(where: \.isCast), case .kind(let kind) = path.steps[place] {
      let cast = text(of: PropertyPath(path.scope, Array(path.steps[..<place])))
      return "CAST(\(cast), \(Value.string(kind.text).predicateText))" + Self.rest(path.steps[(place + 1)...])
    }
    guard let scope = self.names[ObjectIdentifier(path.scope)] else {
      guard let first = path.steps.first else { return "SELF" }
      return first.escapedText + Self.rest(path.steps.dropFirst())
    }
    return scope + Self.rest(path.steps[...])
  }

  /// The steps after the beginning of a path.
  private static func rest(_ steps: ArraySlice<PathStep>) -> String {
    steps.map { step in
      if case .item(let item) = step { "[\(item.text)]" } else { "." + step.text }
    }.joined()
  }

  private mutating func text(of aggregate: Aggregate) -> String {
    let function = ".@\(aggregate.function.rawValue)"
    return text(
      of: function, aggregate.path, aggregate.scope, aggregate.element, aggregate.filter)
  }

  private mutating func text(of values: DestinationValues) -> String {
    guard values.isDistinct else {
      return text(of: "", values.path, values.scope, values.element, values.filter)
    }
    let element = values.element ?? .path(PropertyPath(values.scope, [.name("self")]))
    return text(of: ".@distinctUnionOfObjects", values.path, values.scope, element, values.filter)
  }

  /// A function over destinations. Without a filter and with a plain path as value there is no need to name a destination.
  private mutating func text(
    of function: String, _ path: PropertyPath, _ scope: Scope, _ element: ConditionExpression?,
    _ filter: Condition?
  ) -> String {
    var plain: ArraySlice<PathStep>? = []
    if let element {
      if case .path(let value) = element.kind, value.scope === scope {
        plain = value.steps[...]
      } else {
        plain = nil
      }
    }
    if filter == nil, let plain { return text(of: path) + function + Self.rest(plain) }
    return subquery(path, scope, filter) { printer in
      if let plain { return function + Self.rest(plain) }
      return function + (element.map { ".(\(printer.text(of: $0, within: 0)))" } ?? "")
    }
  }
}

/// Values of several rows.
extension ConditionPrinter {
  private mutating func text(of aggregate: GroupAggregate) -> String {
    let isPercentile = aggregate.function == .median && aggregate.fraction != 0.5
    var text = isPercentile ? "@percentile(\(aggregate.fraction))" : "@\(aggregate.function.rawValue)"
    if aggregate.isDistinct { text += " DISTINCT" }
    if let element = aggregate.element {
      if case .path(let path) = element.kind, !path.steps.isEmpty {
        text += ".\(self.text(of: path))"
      } else {
        text += ".(\(self.text(of: element, within: 0)))"
      }
    }
    guard let filter = aggregate.filter else { return text }
    return text + " FILTER (\(self.text(of: filter, within: 0)))"
  }

  private mutating func text(of window: WindowValue) -> String {
    let element = window.element.map { text(of: $0, within: Strength.comparison) }
    let arguments = [element, window.function.argument].compactMap { $0 }.joined(separator: ", ")
    var parts: [String] = []
    if !window.partition.isEmpty {
      var texts: [String] = []
      for part in window.partition { texts.append(text(of: part, within: Strength.comparison)) }
      parts.append("PARTITION BY \(texts.joined(separator: ", "))")
    }
    if !window.order.isEmpty {
      var texts: [String] = []
      for key in window.order {
        texts.append(
          text(of: key.expression, within: Strength.comparison) + key.options.suffix
            + (key.isAscending ? "" : " DESC"))
      }
      parts.append("ORDER BY \(texts.joined(separator: ", "))")
    }
    if let frame = window.frame { parts.append("\(frame)") }
    return "\(window.function.name)(\(arguments)) OVER (\(parts.joined(separator: " ")))"
  }
}

extension WindowValue.Function {
  fileprivate var name: String {
    switch self {
    case .rowNumber: "ROW_NUMBER"
    case .rank: "RANK"
    case .denseRank: "DENSE_RANK"
    case .tile: "NTILE"
    case .aggregate(let function): function.rawValue.uppercased()
    case .lag(let distance): distance < 0 ? "LEAD" : "LAG"
    case .first: "FIRST_VALUE"
    case .last: "LAST_VALUE"
    }
  }

  /// The number after the value, as SQL has it.
  fileprivate var argument: String? {
    switch self {
    case .tile(let count): "\(count)"
    case .lag(let distance): "\(distance.magnitude)"
    default: nil
    }
  }
}

extension ConditionExpression: CustomStringConvertible {
  /// The expression in the language of `FormatPredicate`.
  public var description: String {
    var printer = ConditionPrinter()
    printer.avoid(Condition(.truth(self)).variablePaths)
    return printer.text(of: self, within: 0)
  }
}

extension ArithmeticOperator {
  var strength: Int { self == .add || self == .subtract ? Strength.sum : Strength.product }
}

extension ComparisonOptions {
  /// The suffix of what is sorted by.
  package var sortSuffix: String {
    suffix + (contains(.localizedStandard) ? " localizedStandard" : contains(.localized) ? " localized" : "")
  }

  /// The suffix of an operator: `[cd]`, or nothing.
  var suffix: String {
    let letters = [
      (ComparisonOptions.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"),
      (.localeSensitive, "l"),
    ]
    .filter { contains($0.0) }.map(\.1).joined()
    return letters.isEmpty ? "" : "[\(letters)]"
  }
}

extension PathStep {
  fileprivate static let keywords: Set<String> = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES",
    "MATCHESWORDS", "ANY",
    "SOME", "ALL",
    "NONE", "TRUE", "FALSE", "YES", "NO", "NIL", "NULL", "SELF", "TRUEPREDICATE", "FALSEPREDICATE", "CAST",
    "SUBQUERY", "TERNARY", "FUNCTION", "ANYKEY", "UNION", "INTERSECT", "MINUS",
  ]

  fileprivate var text: String {
    switch self {
    case .name(let name): name
    case .keyPath(let keyPath): KeyPathNames.text(of: keyPath)
    case .item(let item): "[\(item.text)]"
    case .kind(let kind): kind.text
    }
  }

  fileprivate var isCast: Bool {
    if case .kind = self { true } else { false }
  }

  /// The name as the first word of an expression, escaped if it is a keyword.
  fileprivate var escapedText: String {
    let text = text
    return Self.keywords.contains(text.uppercased()) ? "#" + text : text
  }
}

extension Value {
  /// The value as a constant of a predicate's text.
  package var predicateText: String {
    switch self {
    case .null: "NIL"
    case .int(let value): "\(value)"
    case .double(let value): value.isFinite ? "\(value)" : "CAST(\"\(value)\", \"NSNumber\")"
    case .decimal(let value): "CAST(\"\(value)\", \"NSDecimalNumber\")"
    case .bool(let value): value ? "TRUE" : "FALSE"
    case .string(let value): value.quotedForPredicate
    case .date(let value): "CAST(\(Value.double(value).predicateText), \"NSDate\")"
    case .data(let value): "CAST(\"\(value.base64EncodedString())\", \"NSData\")"
    case .uuid(let value): "CAST(\"\(value.uuidString)\", \"NSUUID\")"
    case .url(let value): "CAST(\(value.quotedForPredicate), \"NSURL\")"
    case .object(let value): "CAST(\(value.description.quotedForPredicate), \"NSManagedObjectID\")"
    case .list(let values): "{\(values.map(\.predicateText).joined(separator: ", "))}"
    case .opaque: description
    }
  }
}

extension String {
  fileprivate var quotedForPredicate: String {
    var text = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\\": text += "\\\\"
      case "\"": text += "\\\""
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}

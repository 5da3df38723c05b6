import Foundation

/// Conditions as text that `FormatPredicate` can parse.
extension Condition: CustomStringConvertible {
  /// The condition in the language of `FormatPredicate`.
  ///
  /// Properties named by key paths are written by name if the model is in use, otherwise as Swift describes
  /// the key path.
  public var description: String {
    var printer = ConditionPrinter()
    return printer.text(of: self, within: 0)
  }
}

/// Writes a tree, with parentheses where the precedence of operators requires them.
struct ConditionPrinter {
  /// The variables of the enclosing scopes; none for the object that plain names refer to.
  private var names: [ObjectIdentifier: String] = [:]
  private var variableCount = 0

  mutating func text(of condition: Condition, within strength: Int) -> String {
    switch condition.node {
    case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .refused(let error): return "FALSEPREDICATE /* \(error.message) */"
    case .not(let part): return "NOT " + text(of: part, within: 4)
    case .and(let parts): return join(parts, " AND ", 2, within: strength)
    case .or(let parts): return join(parts, " OR ", 1, within: strength)
    case .comparison(let comparison): return text(of: comparison, within: strength)
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
    variableCount += 1
    let variable = "$x\(variableCount == 1 ? "" : "\(variableCount)")"
    names[ObjectIdentifier(scope)] = variable
    defer { variableCount -= 1 }
    return "SUBQUERY(\(relationship), \(variable), \(text(of: filter, within: 0))).@count"
  }
}

extension ConditionPrinter {
  mutating func text(of expression: ConditionExpression, within strength: Int) -> String {
    switch expression.kind {
    case .value(let value): return value.predicateText
    case .object(let object): return Value.object(object.objectID).predicateText
    case .path(let path): return text(of: path)
    case .refused(let error): return "NIL /* \(error.message) */"
    case .aggregate(let aggregate): return text(of: aggregate)
    case .list(let parts):
      var texts: [String] = []
      for part in parts { texts.append(text(of: part, within: 4)) }
      return "{\(texts.joined(separator: ", "))}"
    case .arithmetic(let operation, let left, let right):
      let own = operation.strength
      let text = "\(text(of: left, within: own - 1)) \(operation.rawValue) \(text(of: right, within: own))"
      return strength >= own ? "(\(text))" : text
    }
  }

  func text(of path: PropertyPath) -> String {
    let names = path.steps.map { $0.text }.joined(separator: ".")
    guard let scope = self.names[ObjectIdentifier(path.scope)] else {
      guard let first = path.steps.first else { return "SELF" }
      let rest = path.steps.dropFirst().map { "." + $0.text }.joined()
      return first.escapedText + rest
    }
    return names.isEmpty ? scope : "\(scope).\(names)"
  }

  private mutating func text(of aggregate: Aggregate) -> String {
    if let filter = aggregate.filter, aggregate.function == .count {
      return subquery(aggregate.path, aggregate.scope, filter)
    }
    let function = "\(text(of: aggregate.path)).@\(aggregate.function.rawValue)"
    guard let element = aggregate.element else { return function }
    guard case .path(let path) = element.kind else { return "\(function).(\(text(of: element, within: 0)))" }
    return function + path.steps.map { "." + $0.text }.joined()
  }
}

extension ArithmeticOperator {
  fileprivate var strength: Int { self == .add || self == .subtract ? 5 : 6 }
}

extension ComparisonOptions {
  /// The suffix of an operator: `[cd]`, or nothing.
  var suffix: String {
    switch self {
    case [.caseInsensitive]: "[c]"
    case [.diacriticInsensitive]: "[d]"
    case [.caseInsensitive, .diacriticInsensitive]: "[cd]"
    default: ""
    }
  }
}

extension PathStep {
  fileprivate static let keywords: Set<String> = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "ANY",
    "SOME", "ALL",
    "NONE", "TRUE", "FALSE", "YES", "NO", "NIL", "NULL", "SELF", "TRUEPREDICATE", "FALSEPREDICATE", "CAST",
    "SUBQUERY",
  ]

  fileprivate var text: String {
    switch self {
    case .name(let name): name
    case .keyPath(let keyPath): KeyPathNames.text(of: keyPath)
    }
  }

  /// The name as the first word of an expression, escaped if it is a keyword.
  fileprivate var escapedText: String {
    let text = text
    return Self.keywords.contains(text.uppercased()) ? "#" + text : text
  }
}

extension Value {
  /// The value as a constant of a predicate's text.
  var predicateText: String {
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

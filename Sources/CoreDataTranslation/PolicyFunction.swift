import SwiftTokens

/// A method of a migration policy that the expressions of mapping models find by its name, as Objective-C does:
/// `FUNCTION($entityPolicy, "twice:", $source.points)`.
struct PolicyFunction {
  /// The name in expressions: `twice:`.
  let selector: String
  /// The call, with a place for each argument.
  let call: String

  /// The method of a declaration; nil if it returns nothing.
  ///
  /// - Parameters:
  ///   - start: The place of `func`.
  ///   - given: The name for Objective-C that is written.
  init?(_ cursor: TokenCursor, at start: Int, labels: [String], given: String?) {
    let name = cursor[start + 1].text
    guard cursor[start + 1].kind == .word, cursor[start + 2].is("(") else { return nil }
    var next = cursor.end(ofBracketsAt: start + 2)
    let isThrowing = cursor[next].is("throws")
    if isThrowing { next += 1 }
    guard cursor[next].is("->") else { return nil }
    let parts = labels.enumerated().map { place, label in
      guard place == 0 else { return (label == "_" ? "" : label) + ":" }
      return label == "_" ? ":" : "With\(label.prefix(1).uppercased() + label.dropFirst()):"
    }
    selector = given ?? name + parts.joined()
    let arguments = labels.enumerated().map { place, label in
      (label == "_" ? "" : "\(label): ") + "Self._argument(arguments, \(place))"
    }
    call = (isThrowing ? "try " : "") + "self.\(name)(\(arguments.joined(separator: ", ")))"
  }
}

extension ClassIndex {
  /// The override by which a policy has its functions; nil if it has none, or one of its own.
  func policyFunctions(of name: String) -> String? {
    guard let functions = functions[name], isPolicy(name),
      !isOverridden("value(forFunction:arguments:manager:)", in: name)
    else { return nil }
    let calls = functions.map { "case \"\($0.selector)\": return \($0.call)" }.joined(separator: "; ")
    return
      "public override func value(forFunction name: String, arguments: [Any?], manager: NSMigrationManager) throws -> Any? { switch name { \(calls); default: return try super.value(forFunction: name, arguments: arguments, manager: manager) } }"
  }
}

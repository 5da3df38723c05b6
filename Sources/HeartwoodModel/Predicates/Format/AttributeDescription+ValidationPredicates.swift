import Foundation

/// Validation by predicates on the value, under Core Data's names. They are `validationRules` in another form.
extension AttributeDescription {
  /// The rules as predicates. `SELF` is the value and `length` its length; a condition on the whole object names properties
  /// instead, and no `length`.
  @_disfavoredOverload
  public final var validationPredicates: [FormatPredicate] {
    validationRules.compactMap { try? FormatPredicate($0.predicateText) }
  }

  /// The message of each rule, in the order of `validationPredicates`; empty for a rule that has none.
  @_disfavoredOverload public final var validationWarnings: [String] {
    validationRules.map { $0.message ?? "" }
  }

  /// Replaces the rules of the attribute.
  ///
  /// - Parameters:
  ///   - predicates: The rules that a value must satisfy to be saved. `SELF` is the value, as in `SELF IN {1, 2}`; `length`, as in
  ///     `length >= 2 AND length <= 20`, is the number of characters of a text or of bytes of data. Others are conditions
  ///     on the whole object. A missing value satisfies those of the value. Nil for no rules.
  ///   - warnings: The message for each predicate, in the same order; an empty one, or one that is missing, leaves the error its own
  ///     sentence. Core Data expects as many as there are predicates.
  @_disfavoredOverload
  public final func setValidationPredicates(
    _ predicates: [FormatPredicate]?, withValidationWarnings warnings: [String]?
  ) {
    let messages = warnings ?? []
    validationRules = (predicates ?? []).enumerated().map { place, predicate in
      let rule = ValidationRule(ofPredicate: predicate.description)
      guard place < messages.count, !messages[place].isEmpty else { return rule }
      return rule.orElse(messages[place])
    }
  }
}

extension ValidationRule {
  /// The rule of a predicate on a value, as text.
  init(ofPredicate text: String) {
    self = Self.length(text) ?? (Self.selves(in: text).isEmpty ? .condition(text) : .value(text))
  }

  /// The rule of a comparison of `length` with an integer; nil for others.
  private static func length(_ text: String) -> ValidationRule? {
    guard let tokens = try? FormatLexer.tokens(of: text), tokens.count == 4, tokens[0].keyword == "LENGTH",
      case .sign(let sign) = tokens[1].kind, case .integer(let number) = tokens[2].kind,
      let length = Int(exactly: number), length >= 0, length < .max
    else { return nil }
    switch sign {
    case "<=": return .length(...length)
    case "<" where length > 0: return .length(...(length - 1))
    case ">=": return .length(length...)
    case ">": return .length((length + 1)...)
    case "==": return .length(length...length)
    default: return nil
    }
  }

  /// The text of a predicate on the value or the object that requires the same.
  fileprivate var predicateText: String {
    switch kind {
    case .number: bounds("SELF")
    case .date: bounds("SELF", { "CAST(\($0), \"NSDate\")" })
    case .length: bounds("length")
    case .pattern: "SELF MATCHES \(Value.string(text ?? "").predicateText)"
    case .condition, .value: text ?? "TRUEPREDICATE"
    }
  }

  private func bounds(_ subject: String, _ write: (String) -> String = { $0 }) -> String {
    let parts = [least.map { "\(subject) >= \(write($0))" }, greatest.map { "\(subject) <= \(write($0))" }]
      .compactMap { $0 }
    return parts.isEmpty ? "TRUEPREDICATE" : parts.joined(separator: " AND ")
  }

  // MARK: Conditions on values

  /// The condition on the object that a condition on the value of one of its attributes means.
  ///
  /// - Parameter name: The attribute's full name.
  package static func conditionOnObject(_ text: String, value name: String) -> String {
    var scalars = Array(text.unicodeScalars)
    for place in selves(in: text).reversed() {
      let written = place.isLength ? "length:(#\(name))" : "#\(name)"
      scalars.replaceSubrange(place.columns, with: Array(written.unicodeScalars))
    }
    var condition = ""
    condition.unicodeScalars.append(contentsOf: scalars)
    return condition
  }

  /// Where a condition names the value, or the length of the value.
  private struct ValuePlace {
    let columns: Range<Int>
    let isLength: Bool
  }

  /// The places at which `SELF` stands for the value, and `length` or `SELF.length` for its length.
  private static func selves(in text: String) -> [ValuePlace] {
    guard let tokens = try? FormatLexer.tokens(of: text) else { return [] }
    func isLength(_ place: Int) -> Bool {
      guard place < tokens.count, case .name("length", isEscaped: false) = tokens[place].kind else {
        return false
      }
      return !isDot(place + 1)
    }
    func isDot(_ place: Int) -> Bool { tokens.indices.contains(place) && tokens[place].kind == .sign(".") }
    return tokens.indices.compactMap { place in
      let first = tokens[place].column - 1
      if tokens[place].keyword == "SELF" {
        guard isDot(place + 1) else { return ValuePlace(columns: first..<first + 4, isLength: false) }
        guard isLength(place + 2) else { return nil }
        return ValuePlace(columns: first..<tokens[place + 2].column + 5, isLength: true)
      }
      guard isLength(place), !isDot(place - 1) else { return nil }
      return ValuePlace(columns: first..<first + 6, isLength: true)
    }
  }
}

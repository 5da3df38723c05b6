/// Words of the language that are meant as the names of properties.
extension FormatParser {
  /// Says that a word cannot be one of the language where it is.
  private func misplaced(_ token: FormatToken, _ reason: String) -> HeartwoodError {
    guard case .name(let name, _) = token.kind else { return .predicate(reason, column: token.column) }
    return .predicate("\(reason); a property of this name is written #\(name)", column: token.column)
  }

  /// The error of an operator before which there is nothing.
  func misplacedOperator(_ token: FormatToken) -> HeartwoodError {
    misplaced(token, "there should be a value before \(token.quoted)")
  }

  /// Throws if nothing that a word such as NOT or ANY is about follows it.
  func checkOperand(of token: FormatToken) throws(HeartwoodError) {
    let following = tokens[min(position + 1, tokens.count - 1)]
    let isMissing =
      switch following.kind {
      case .end: true
      case .sign(let sign): !["(", "!", "-", "~", "{"].contains(sign)
      case .name: following.keyword.map(Self.isOperator) ?? false
      default: false
      }
    guard isMissing else { return }
    if case .name = following.kind, case .sign(let sign) = tokens[min(position + 2, tokens.count - 1)].kind,
      ComparisonOperator(rawValue: sign) != nil
    {
      throw misplacedOperator(following)
    }
    throw misplaced(
      token, "there should be a value or a comparison after \(token.quoted) instead of \(following.quoted)")
  }

  /// Whether a word stands between two values or conditions.
  static func isOperator(_ word: String) -> Bool {
    ComparisonOperator(rawValue: word) != nil || word == "AND" || word == "OR"
  }

  /// Throws if a word that is a constant is used as a path is, or in arithmetic.
  func checkConstant(_ token: FormatToken) throws(HeartwoodError) {
    let following = tokens[min(position + 1, tokens.count - 1)]
    guard case .sign(let sign) = following.kind,
      [".", "["].contains(sign) || ArithmeticOperator(rawValue: sign) != nil
    else { return }
    throw misplacedConstant(token)
  }

  /// Throws if a word that is a constant is compared with a literal that it cannot be equal to.
  ///
  /// - Parameter operation: The place of the operator.
  func checkConstants(around operation: Int, _ comparison: Condition) throws(HeartwoodError) {
    guard case .comparison(let parts) = comparison.node,
      !tokens[operation..<position].contains(where: \.isPlaceholder)
    else { return }
    let (left, right) = (tokens[max(0, operation - 1)], tokens[max(0, position - 1)])
    if left.isTruth || left.isNil, parts.left.isWord, Self.isNoTruth(parts.right) {
      throw misplacedConstant(left)
    }
    // A literal may be compared with nil.
    if right.isTruth, parts.right.isWord, Self.isNoTruth(parts.left) { throw misplacedConstant(right) }
  }

  private func misplacedConstant(_ token: FormatToken) -> HeartwoodError {
    let meaning =
      switch token.keyword {
      case "TRUE", "YES": "the constant true"
      case "FALSE", "NO": "the constant false"
      default: "no value"
      }
    return misplaced(token, "\(token.quoted) is \(meaning), which cannot be used like this")
  }

  /// Whether a literal, or all in a list, are neither true nor false, nor nil.
  private static func isNoTruth(_ expression: ConditionExpression) -> Bool {
    switch expression.kind {
    case .value(.null), .value(.bool), .value(.int(0...1)): false
    case .value(.list(let values)):
      !values.isEmpty && values.allSatisfy { isNoTruth(.value($0)) }
    case .value: true
    case .list(let parts): !parts.isEmpty && parts.allSatisfy(isNoTruth)
    default: false
    }
  }
}

extension FormatToken {
  fileprivate var isPlaceholder: Bool {
    if case .placeholder = kind { true } else { false }
  }

  fileprivate var isTruth: Bool { ["TRUE", "YES", "FALSE", "NO"].contains(keyword) }
  fileprivate var isNil: Bool { ["NIL", "NULL"].contains(keyword) }
}

extension ConditionExpression {
  /// Whether it is what a word such as NO or NIL means.
  fileprivate var isWord: Bool {
    switch kind {
    case .value(.bool), .value(.null): true
    default: false
    }
  }
}

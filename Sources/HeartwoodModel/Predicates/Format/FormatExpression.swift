/// An expression written as text, in the language of `FormatPredicate`: properties, constants, arithmetic and functions.
///
/// ```swift
/// try FormatExpression("price * %@", 1.1)
/// ```
///
/// Arithmetic with a missing operand gives nil.
public struct FormatExpression: Sendable {
  package let expression: ConditionExpression

  /// Parses an expression from text.
  ///
  /// - Parameters:
  ///   - format: The text.
  ///   - arguments: One for each placeholder, in order.
  /// - Throws: `.invalidPredicate` with the column of the error in the text, or the argument that does not fit.
  public init(_ format: String, _ arguments: (any PredicateArgument)?...) throws(HeartwoodError) {
    expression = try FormatParser.expression(format, arguments)
  }
}

extension String {
  /// Whether it is an expression of the format language that computes with numbers.
  var isArithmetic: Bool {
    guard let expression = try? FormatParser.expression(self, []), case .arithmetic = expression.kind else {
      return false
    }
    return true
  }
}

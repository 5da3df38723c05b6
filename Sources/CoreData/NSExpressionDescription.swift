import Foundation
import Heartwood

/// A computed column of dictionaries.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
  /// The expression.
  public final var expression: NSExpression? {
    didSet { expressionText = expression.map { "\($0.expression)" } }
  }
  /// The type of the result.
  public final var expressionResultType: NSAttributeType = .undefined {
    didSet { expressionType = expressionResultType }
  }
  /// The type of the result, under the name of newer systems.
  public final var resultType: NSAttributeType {
    get { expressionResultType }
    set { expressionResultType = newValue }
  }

  /// A column without an expression.
  public override init() { super.init() }

  final func column() throws -> ExpressionDescription {
    guard let expression else {
      throw HeartwoodError(.coreData, "the column \"\(name)\" has no expression: set one")
    }
    return ExpressionDescription(
      name: name, expression: expression.expression, resultType: expressionResultType)
  }
}

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

  final func column(of entity: NSEntityDescription?) throws -> ExpressionDescription {
    guard let expression else {
      throw HeartwoodError(.coreData, "the column \"\(name)\" has no expression: set one")
    }
    return ExpressionDescription(
      name: name, expression: expression.aggregate(of: entity) ?? expression.expression,
      resultType: expressionResultType)
  }

  /// - Throws: `.coreData` if a value is not of the kind of `expressionResultType`. Numbers are of one kind.
  final func check(_ value: Any) throws {
    let fits =
      switch expressionResultType {
      case .string: value is String
      case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean:
        value is Bool || KeyValues.number(value) != nil
      case .date: value is Date
      case .binaryData: value is Data
      case .uuid: value is UUID
      case .uri: value is URL
      default: true
      }
    guard fits else {
      throw HeartwoodError(
        .coreData,
        "the column \"\(name)\" has the expressionResultType \(expressionResultType), and its expression gives a \(Swift.type(of: value)): "
          + "set the type of what the expression gives")
    }
  }
}

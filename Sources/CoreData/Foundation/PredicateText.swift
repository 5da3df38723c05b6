import Foundation
import Heartwood

/// Predicates and expressions as text, in the form of Apple's systems. `NSPredicate(format:)` reads it.
enum PredicateText {
  static func text(of predicate: NSPredicate) -> String {
    switch predicate {
    case let compound as NSCompoundPredicate: return text(of: compound)
    case let comparison as NSComparisonPredicate: return text(of: comparison)
    default:
      if predicate.isEqual(NSPredicate(value: true)) { return "TRUEPREDICATE" }
      if predicate.isEqual(NSPredicate(value: false)) { return "FALSEPREDICATE" }
      return "BLOCKPREDICATE(\(Unmanaged.passUnretained(predicate).toOpaque()))"
    }
  }

  private static func text(of compound: NSCompoundPredicate) -> String {
    // Parts that are joined themselves are in parentheses.
    let parts = compound.subpredicates.map { part in
      let isJoined = (part as? NSCompoundPredicate).map { $0.compoundPredicateType != .not } ?? false
      return isJoined ? "(\(text(of: part)))" : text(of: part)
    }
    switch compound.compoundPredicateType {
    case .not: return "NOT \(parts[0])"
    case .and: return parts.isEmpty ? "TRUEPREDICATE" : parts.joined(separator: " AND ")
    case .or: return parts.isEmpty ? "FALSEPREDICATE" : parts.joined(separator: " OR ")
    @unknown default: return "FALSEPREDICATE"
    }
  }

  private static func text(of predicate: NSComparisonPredicate) -> String {
    let comparison = predicate.comparison
    let modifier =
      switch comparison.comparisonPredicateModifier {
      case .direct: ""
      case .any: "ANY "
      case .all: "ALL "
      }
    return modifier + text(of: comparison.leftExpression) + " " + sign(of: comparison) + " "
      + text(of: comparison.rightExpression)
  }

  private static func sign(of comparison: ComparisonPredicate) -> String {
    let letters: [(ComparisonOptions, String)] = [
      (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"),
    ]
    let options = letters.filter { comparison.options.contains($0.0) }.map(\.1).joined()
    let sign =
      switch comparison.predicateOperatorType {
      case .lessThan: "<"
      case .lessThanOrEqualTo: "<="
      case .greaterThan: ">"
      case .greaterThanOrEqualTo: ">="
      case .equalTo: "=="
      case .notEqualTo: "!="
      case .matches: "MATCHES"
      case .like: "LIKE"
      case .beginsWith: "BEGINSWITH"
      case .endsWith: "ENDSWITH"
      case .in: "IN"
      case .contains: "CONTAINS"
      case .between: "BETWEEN"
      case .matchesWords: "MATCHESWORDS"
      }
    return options.isEmpty ? sign : "\(sign)[\(options)]"
  }

  static func text(of expression: ConditionExpression) -> String {
    switch expression.expressionType {
    case .constantValue: constant(expression)
    case .aggregate:
      expression.collection.map { "{\($0.map(text).joined(separator: ", "))}" } ?? "\(expression)"
    default: "\(expression)"
    }
  }

  private static func constant(_ expression: ConditionExpression) -> String {
    switch expression.constantValue {
    case nil: "nil"
    case let truth as Bool: truth ? "1" : "0"
    case let list as [Any?]: "{\(list.map { text(of: constantExpression($0)) }.joined(separator: ", "))}"
    case let date as Date: "CAST(\(String(format: "%.6f", date.timeIntervalSinceReferenceDate)), \"NSDate\")"
    case let number as Double where number == number.rounded() && abs(number) < 1e15:
      String(format: "%.0f", number)
    case let number as Decimal: "\(number)"
    case let uuid as UUID: uuid.uuidString
    default: "\(expression)"
    }
  }

  private static func constantExpression(_ value: Any?) -> ConditionExpression {
    ConditionExpression(forConstantValue: GivenArgument(value ?? NSNull()))
  }
}

import Foundation
import Heartwood

/// Conditions on changes of the history under Core Data's names: `changedObjectID` and `changedEntity`, which Heartwood's history has as texts.
enum HistoryCondition {
  static func of(_ predicate: NSPredicate) throws(HeartwoodError) -> NSPredicate {
    rewritten(StoreFetch.predicate(try predicate.storeCondition()))
  }

  private static func rewritten(_ predicate: NSPredicate) -> NSPredicate {
    switch predicate {
    case let compound as NSCompoundPredicate:
      return NSCompoundPredicate(
        type: compound.compoundPredicateType, subpredicates: compound.subpredicates.map(rewritten))
    case let comparison as NSComparisonPredicate: return rewritten(comparison)
    default: return predicate
    }
  }

  private static func rewritten(_ comparison: NSComparisonPredicate) -> NSPredicate {
    guard comparison.leftExpression.expressionType == .keyPath,
      let name = ["changedObjectID": "changedObjectURI", "changedEntity": "entityName"][
        comparison.leftExpression.keyPath]
    else { return comparison }
    let right = comparison.rightExpression
    let value: Any?
    switch right.expressionType {
    case .constantValue: value = text(right.constantValue)
    case .aggregate:
      value = (right.collection as? [NSExpression])?.map { text($0.constantValue) as Any }
    default: return comparison
    }
    return NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: name), rightExpression: NSExpression(forConstantValue: value),
      modifier: .direct, type: comparison.predicateOperatorType, options: [])
  }

  private static func text(_ value: Any?) -> Any? {
    switch value {
    case let id as NSManagedObjectID: "\(id)"
    case let entity as NSEntityDescription: entity.name
    case let elements as [Any]: elements.map { text($0) as Any }
    default: value
    }
  }
}

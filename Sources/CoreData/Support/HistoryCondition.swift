import Foundation
import Heartwood

/// Conditions on transactions and changes of the history under Core Data's names: `token`, which Heartwood's history has as two properties, and
/// `changedObjectID` and `changedEntity`, which it has as texts.
enum HistoryCondition {
  static func of(_ predicate: NSPredicate) throws(HeartwoodError) -> NSPredicate {
    rewritten(NSPredicate.made(of: try predicate.storeCondition()))
  }

  private static func rewritten(_ predicate: NSPredicate) -> NSPredicate {
    switch predicate {
    case let compound as NSCompoundPredicate:
      return _NSCompoundPredicate(
        type: compound.compoundPredicateType, subpredicates: compound.subpredicates.map(rewritten))
    case let comparison as NSComparisonPredicate:
      guard comparison.leftExpression.expressionType == .keyPath else { return comparison }
      return comparison.leftExpression.keyPath == "token" ? position(comparison) : named(comparison)
    default: return predicate
    }
  }

  private static func named(_ comparison: NSComparisonPredicate) -> NSPredicate {
    guard
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

  // MARK: Tokens

  private static let mark = "heartwood-history-token:"

  /// A token as a constant: text, which a condition can have.
  static func constant(_ token: NSPersistentHistoryToken) -> PredicateConstant {
    let encoded = (try? JSONEncoder().encode(token)) ?? Data()
    return (mark + String(decoding: encoded, as: UTF8.self)).predicateConstant
  }

  private static func token(_ constant: Any?) -> NSPersistentHistoryToken? {
    guard let text = constant as? String, text.hasPrefix(mark) else { return nil }
    return try? JSONDecoder().decode(
      NSPersistentHistoryToken.self, from: Data(text.dropFirst(mark.count).utf8))
  }

  /// A comparison of the transaction's token: the number in each store of the other token. All transactions of other stores are after it.
  private static func position(_ comparison: NSComparisonPredicate) -> NSPredicate {
    guard let token = token(comparison.rightExpression.constantValue) else { return comparison }
    let type = comparison.predicateOperatorType
    let positions = token.transactionNumbersByStore.sorted { $0.key < $1.key }
    let own = positions.map { store, number in
      let isOfStore = equal("storeID", store)
      let compared = NSComparisonPredicate(
        leftExpression: NSExpression(forKeyPath: "transactionNumber"),
        rightExpression: NSExpression(forConstantValue: Int64(clamping: number)), modifier: .direct,
        type: type)
      return _NSCompoundPredicate(andPredicateWithSubpredicates: [isOfStore, compared])
    }
    guard type == .greaterThan || type == .greaterThanOrEqualTo || type == .notEqualTo else {
      return _NSCompoundPredicate(orPredicateWithSubpredicates: own)
    }
    let others = positions.map { store, _ in
      _NSCompoundPredicate(notPredicateWithSubpredicate: equal("storeID", store))
    }
    return _NSCompoundPredicate(
      orPredicateWithSubpredicates: own + [_NSCompoundPredicate(andPredicateWithSubpredicates: others)])
  }

  private static func equal(_ name: String, _ value: String) -> NSPredicate {
    NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: name), rightExpression: NSExpression(forConstantValue: value),
      modifier: .direct, type: .equalTo)
  }
}

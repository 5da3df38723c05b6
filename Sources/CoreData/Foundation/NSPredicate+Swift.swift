import Foundation
import Heartwood

extension _FormatPredicate where Self: NSPredicate {
  /// A predicate of one of Swift's, as `#Predicate<City> { $0.population > 5 }` makes it.
  ///
  /// - Parameter predicate: A predicate on managed objects.
  /// - Returns: Nil if a part of it has no form as `NSPredicate`, such as one about a computed property.
  public init?<Input: NSManagedObject>(_ predicate: Predicate<Input>) {
    let entity = Input.knownEntity ?? NSEntityDescription()
    guard let condition = try? predicate.conditionTree(for: entity, in: ManagedVocabulary()) else {
      return nil
    }
    self = NSPredicate.made(of: condition) as! Self
  }
}

/// The properties of classes of managed objects, which key paths are tried with.
private struct ManagedVocabulary: PredicateVocabulary {
  func names(of keyPath: AnyKeyPath, from root: any Any.Type) throws(HeartwoodError) -> [String]? {
    guard root is ManagedObject.Type else { return nil }
    if Swift.type(of: keyPath).valueType == NSManagedObjectID.self { return ["objectID"] }
    guard let path = InspectedObject.names(of: keyPath) else {
      throw HeartwoodError(.invalidPredicate, "\(keyPath) is no property of a model")
    }
    return path.split(separator: ".").map(String.init)
  }

  func constant(_ value: Any) throws(HeartwoodError) -> ConditionExpression? {
    value is NSObject ? GivenArgument(value).predicateConstant.expression : nil
  }

  func entityName(of type: any Any.Type) -> String? { (type as? NSManagedObject.Type)?.knownEntity?.name }

  func isToMany(_ type: any Any.Type) -> Bool {
    let type = (type as? any _OptionalType.Type)?.wrapped ?? type
    return type is NSSet.Type || type is NSOrderedSet.Type || type is any _ObjectCollection.Type
  }

  func checkOrder(of type: any Any.Type) {}
  func checkEquality(of type: any Any.Type, with constant: Any?) {}
}

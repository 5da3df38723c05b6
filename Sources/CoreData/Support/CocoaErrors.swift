import Foundation
import Heartwood

/// Runs a body, and makes of Heartwood's errors those of the Cocoa domain.
///
/// - Parameter context: The context whose objects an error is about, if it is one.
func asCocoa<Result>(in context: NSManagedObjectContext? = nil, _ body: () throws -> Result) throws -> Result
{
  do {
    return try body()
  } catch let error as HeartwoodError {
    throw error.cocoaError(in: context)
  }
}

extension HeartwoodError {
  /// The error as Core Data has it: with objects in place of identifiers and errors of the same kind as details. An error that a class has
  /// thrown at validation, or that a migration was cancelled with, is the program's own.
  func cocoaError(in context: NSManagedObjectContext?) -> any Error {
    if code == .managedObjectValidation || code == .migrationCancelled, let underlying,
      !(underlying is HeartwoodError)
    {
      return underlying
    }
    var info = errorUserInfo
    let objects = objectIDs.map { id -> Any in context?.anyRegisteredObject(for: id) ?? id }
    if info[NSValidationObjectErrorKey] != nil { info[NSValidationObjectErrorKey] = objects.first }
    if !objects.isEmpty { info[NSAffectedObjectsErrorKey] = objects }
    if let rule = info[NSValidationPredicateErrorKey] as? ValidationRule {
      info[NSValidationPredicateErrorKey] = predicate(of: rule)
    }
    if !affectedStoreIDs.isEmpty {
      let stores = context?.persistentStoreCoordinator?.persistentStores ?? []
      info[NSAffectedStoresErrorKey] = stores.filter { affectedStoreIDs.contains($0.anyIdentifier) }
    }
    if let value = info[NSValidationValueErrorKey] {
      info[NSValidationValueErrorKey] = FoundationValue.of(value)
    }
    if !details.isEmpty { info[NSDetailedErrorsKey] = details.map { $0.cocoaError(in: context) as NSError } }
    // A save to a store that is read-only is a file's error in Core Data.
    let isOfFile = code == .persistentStoreSave && (underlying as? CocoaError)?.code == .fileWriteNoPermission
    let number = isOfFile ? CocoaError.Code.fileWriteNoPermission.rawValue : code.rawValue
    return NSError(domain: NSCocoaErrorDomain, code: number, userInfo: info)
  }

  /// The predicate that a rule is among those of its attribute.
  private func predicate(of rule: ValidationRule) -> NSPredicate? {
    guard let property, let attribute = objectIDs.first?.entity.attributesByName[property],
      let place = attribute.validationRules.firstIndex(of: rule),
      attribute.validationPredicates.indices.contains(place)
    else { return nil }
    return attribute.validationPredicates[place]
  }
}

import Foundation

/// An error that may concern a file.
package protocol FilePathError {
  /// The path of the file or directory that the error concerns, if any.
  var filePath: String? { get }
}

/// Foundation's view of the errors: the message as `localizedDescription`, and Core Data's domain, codes and
/// user info keys, so that code that handles Core Data's errors can handle these.
extension HeartwoodError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}

extension HeartwoodError: CustomNSError {
  /// `NSCocoaErrorDomain`, as for Core Data's errors.
  public static var errorDomain: String { NSCocoaErrorDomain }

  /// The raw value of `code`.
  public var errorCode: Int { code.rawValue }

  /// The details of the error, under the keys of `UserInfoKey`, `NSUnderlyingErrorKey` and
  /// `NSFilePathErrorKey`.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: message]
    if let underlying { info[NSUnderlyingErrorKey] = underlying }
    if let path = (underlying as? any FilePathError)?.filePath { info[NSFilePathErrorKey] = path }
    if let property { info[UserInfoKey.validationKey] = property }
    if let value { info[UserInfoKey.validationValue] = value }
    if property != nil, let object = objectIDs.first { info[UserInfoKey.validationObject] = object }
    if let rule = validationRule { info[UserInfoKey.validationPredicate] = rule }
    if !details.isEmpty { info[UserInfoKey.detailedErrors] = details }
    if !affectedStoreIDs.isEmpty { info[UserInfoKey.affectedStores] = affectedStoreIDs }
    if !objectIDs.isEmpty { info[UserInfoKey.affectedObjects] = objectIDs }
    if let last = conflicts.last { info[UserInfoKey.saveConflicts] = conflicts(like: last) }
    return info
  }

  /// The conflicts of one kind, as an array of their type.
  private func conflicts<Conflict: SaveConflict>(like _: Conflict) -> Any {
    conflicts.compactMap { $0 as? Conflict }
  }

  /// The keys of `errorUserInfo`, equal to those of Core Data's constants.
  public enum UserInfoKey {
    /// The `ManagedObjectID` of the object whose value was refused. Objects themselves stay in their context.
    public static let validationObject = "NSValidationErrorObject"
    /// The name of the property whose value was refused.
    public static let validationKey = "NSValidationErrorKey"
    /// The value that was refused; absent if it was nil.
    public static let validationValue = "NSValidationErrorValue"
    /// The `ValidationRule` that the value does not satisfy.
    public static let validationPredicate = "NSValidationErrorPredicate"
    /// The individual errors of `.validationMultipleErrors`, each a `HeartwoodError`.
    public static let detailedErrors = "NSDetailedErrors"
    /// The `ManagedObjectID`s of all affected objects.
    public static let affectedObjects = "NSAffectedObjectsErrorKey"
    /// The identifiers of the stores that refused or failed a save, each a `String`.
    public static let affectedStores = "NSAffectedStoresErrorKey"
    /// The `MergeConflict`s of `.managedObjectMerge`, the `ConstraintConflict`s of
    /// `.managedObjectConstraintMerge`.
    public static let saveConflicts = "conflictList"
  }
}

import Foundation
import Heartwood

/// Codes of errors in the Cocoa domain, under the names of Core Data's header.
public let NSManagedObjectValidationError = 1550
/// A code of errors in the Cocoa domain.
public let NSManagedObjectConstraintValidationError = 1551
/// A code of errors in the Cocoa domain.
public let NSValidationMultipleErrorsError = 1560
/// A code of errors in the Cocoa domain.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A code of errors in the Cocoa domain.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A code of errors in the Cocoa domain.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// A code of errors in the Cocoa domain.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A code of errors in the Cocoa domain.
public let NSValidationNumberTooLargeError = 1610
/// A code of errors in the Cocoa domain.
public let NSValidationNumberTooSmallError = 1620
/// A code of errors in the Cocoa domain.
public let NSValidationDateTooLateError = 1630
/// A code of errors in the Cocoa domain.
public let NSValidationDateTooSoonError = 1640
/// A code of errors in the Cocoa domain.
public let NSValidationInvalidDateError = 1650
/// A code of errors in the Cocoa domain.
public let NSValidationStringTooLongError = 1660
/// A code of errors in the Cocoa domain.
public let NSValidationStringTooShortError = 1670
/// A code of errors in the Cocoa domain.
public let NSValidationStringPatternMatchingError = 1680
/// A code of errors in the Cocoa domain.
public let NSValidationInvalidURIError = 1690
/// A code of errors in the Cocoa domain.
public let NSManagedObjectContextLockingError = 132000
/// A code of errors in the Cocoa domain.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// A code of errors in the Cocoa domain.
public let NSManagedObjectReferentialIntegrityError = 133000
/// A code of errors in the Cocoa domain.
public let NSManagedObjectExternalRelationshipError = 133010
/// A code of errors in the Cocoa domain.
public let NSManagedObjectMergeError = 133020
/// A code of errors in the Cocoa domain.
public let NSManagedObjectConstraintMergeError = 133021
/// A code of errors in the Cocoa domain.
public let NSPersistentStoreInvalidTypeError = 134000
/// A code of errors in the Cocoa domain.
public let NSPersistentStoreTypeMismatchError = 134010
/// A code of errors in the Cocoa domain.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// A code of errors in the Cocoa domain.
public let NSPersistentStoreSaveError = 134030
/// A code of errors in the Cocoa domain.
public let NSPersistentStoreIncompleteSaveError = 134040
/// A code of errors in the Cocoa domain.
public let NSPersistentStoreSaveConflictsError = 134050
/// A code of errors in the Cocoa domain.
public let NSCoreDataError = 134060
/// A code of errors in the Cocoa domain.
public let NSPersistentStoreOperationError = 134070
/// A code of errors in the Cocoa domain.
public let NSPersistentStoreOpenError = 134080
/// A code of errors in the Cocoa domain.
public let NSPersistentStoreTimeoutError = 134090
/// A code of errors in the Cocoa domain.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// A code of errors in the Cocoa domain.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// A code of errors in the Cocoa domain.
public let NSMigrationError = 134110
/// A code of errors in the Cocoa domain.
public let NSMigrationConstraintViolationError = 134111
/// A code of errors in the Cocoa domain.
public let NSMigrationCancelledError = 134120
/// A code of errors in the Cocoa domain.
public let NSMigrationMissingSourceModelError = 134130
/// A code of errors in the Cocoa domain.
public let NSMigrationMissingMappingModelError = 134140
/// A code of errors in the Cocoa domain.
public let NSMigrationManagerSourceStoreError = 134150
/// A code of errors in the Cocoa domain.
public let NSMigrationManagerDestinationStoreError = 134160
/// A code of errors in the Cocoa domain.
public let NSEntityMigrationPolicyError = 134170
/// A code of errors in the Cocoa domain.
public let NSSQLiteError = 134180
/// A code of errors in the Cocoa domain.
public let NSInferredMappingModelError = 134190
/// A code of errors in the Cocoa domain.
public let NSExternalRecordImportError = 134200
/// A code of errors in the Cocoa domain.
public let NSPersistentHistoryTokenExpiredError = 134301
/// A code of errors in the Cocoa domain.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// A code of errors in the Cocoa domain.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// A code of errors in the Cocoa domain.
public let NSStagedMigrationBackwardMigrationError = 134506

/// The keys in the user info of errors.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// A key in the user info of errors.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// A key in the user info of errors.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// A key in the user info of errors.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// A key in the user info of errors.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// A key in the user info of errors.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// A key in the user info of errors.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// A key in the user info of errors.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// The domain of errors of SQLite, of which there are none.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"

extension CocoaError.Code {
  /// A code of errors in the Cocoa domain.
  public static let managedObjectValidation = CocoaError.Code(rawValue: NSManagedObjectValidationError)
  /// A code of errors in the Cocoa domain.
  public static let managedObjectConstraintValidation = CocoaError.Code(
    rawValue: NSManagedObjectConstraintValidationError)
  /// A code of errors in the Cocoa domain.
  public static let validationMultipleErrors = CocoaError.Code(rawValue: NSValidationMultipleErrorsError)
  /// A code of errors in the Cocoa domain.
  public static let validationMissingMandatoryProperty = CocoaError.Code(
    rawValue: NSValidationMissingMandatoryPropertyError)
  /// A code of errors in the Cocoa domain.
  public static let validationRelationshipLacksMinimumCount = CocoaError.Code(
    rawValue: NSValidationRelationshipLacksMinimumCountError)
  /// A code of errors in the Cocoa domain.
  public static let validationRelationshipExceedsMaximumCount = CocoaError.Code(
    rawValue: NSValidationRelationshipExceedsMaximumCountError)
  /// A code of errors in the Cocoa domain.
  public static let validationRelationshipDeniedDelete = CocoaError.Code(
    rawValue: NSValidationRelationshipDeniedDeleteError)
  /// A code of errors in the Cocoa domain.
  public static let validationNumberTooLarge = CocoaError.Code(rawValue: NSValidationNumberTooLargeError)
  /// A code of errors in the Cocoa domain.
  public static let validationNumberTooSmall = CocoaError.Code(rawValue: NSValidationNumberTooSmallError)
  /// A code of errors in the Cocoa domain.
  public static let validationDateTooLate = CocoaError.Code(rawValue: NSValidationDateTooLateError)
  /// A code of errors in the Cocoa domain.
  public static let validationDateTooSoon = CocoaError.Code(rawValue: NSValidationDateTooSoonError)
  /// A code of errors in the Cocoa domain.
  public static let validationInvalidDate = CocoaError.Code(rawValue: NSValidationInvalidDateError)
  /// A code of errors in the Cocoa domain.
  public static let validationStringTooLong = CocoaError.Code(rawValue: NSValidationStringTooLongError)
  /// A code of errors in the Cocoa domain.
  public static let validationStringTooShort = CocoaError.Code(rawValue: NSValidationStringTooShortError)
  /// A code of errors in the Cocoa domain.
  public static let validationStringPatternMatching = CocoaError.Code(
    rawValue: NSValidationStringPatternMatchingError)
  /// A code of errors in the Cocoa domain.
  public static let validationInvalidURI = CocoaError.Code(rawValue: NSValidationInvalidURIError)
  /// A code of errors in the Cocoa domain.
  public static let managedObjectContextLocking = CocoaError.Code(
    rawValue: NSManagedObjectContextLockingError)
  /// A code of errors in the Cocoa domain.
  public static let persistentStoreCoordinatorLocking = CocoaError.Code(
    rawValue: NSPersistentStoreCoordinatorLockingError)
  /// A code of errors in the Cocoa domain.
  public static let managedObjectReferentialIntegrity = CocoaError.Code(
    rawValue: NSManagedObjectReferentialIntegrityError)
  /// A code of errors in the Cocoa domain.
  public static let managedObjectExternalRelationship = CocoaError.Code(
    rawValue: NSManagedObjectExternalRelationshipError)
  /// A code of errors in the Cocoa domain.
  public static let managedObjectMerge = CocoaError.Code(rawValue: NSManagedObjectMergeError)
  /// A code of errors in the Cocoa domain.
  public static let managedObjectConstraintMerge = CocoaError.Code(
    rawValue: NSManagedObjectConstraintMergeError)
  /// A code of errors in the Cocoa domain.
  public static let persistentStoreInvalidType = CocoaError.Code(rawValue: NSPersistentStoreInvalidTypeError)
  /// A code of errors in the Cocoa domain.
  public static let persistentStoreTypeMismatch = CocoaError.Code(
    rawValue: NSPersistentStoreTypeMismatchError)
  /// A code of errors in the Cocoa domain.
  public static let persistentStoreIncompatibleSchema = CocoaError.Code(
    rawValue: NSPersistentStoreIncompatibleSchemaError)
  /// A code of errors in the Cocoa domain.
  public static let persistentStoreSave = CocoaError.Code(rawValue: NSPersistentStoreSaveError)
  /// A code of errors in the Cocoa domain.
  public static let persistentStoreIncompleteSave = CocoaError.Code(
    rawValue: NSPersistentStoreIncompleteSaveError)
  /// A code of errors in the Cocoa domain.
  public static let persistentStoreSaveConflicts = CocoaError.Code(
    rawValue: NSPersistentStoreSaveConflictsError)
  /// A code of errors in the Cocoa domain.
  public static let coreData = CocoaError.Code(rawValue: NSCoreDataError)
  /// A code of errors in the Cocoa domain.
  public static let persistentStoreOperation = CocoaError.Code(rawValue: NSPersistentStoreOperationError)
  /// A code of errors in the Cocoa domain.
  public static let persistentStoreOpen = CocoaError.Code(rawValue: NSPersistentStoreOpenError)
  /// A code of errors in the Cocoa domain.
  public static let persistentStoreTimeout = CocoaError.Code(rawValue: NSPersistentStoreTimeoutError)
  /// A code of errors in the Cocoa domain.
  public static let persistentStoreUnsupportedRequestType = CocoaError.Code(
    rawValue: NSPersistentStoreUnsupportedRequestTypeError)
  /// A code of errors in the Cocoa domain.
  public static let persistentStoreIncompatibleVersionHash = CocoaError.Code(
    rawValue: NSPersistentStoreIncompatibleVersionHashError)
  /// A code of errors in the Cocoa domain.
  public static let migration = CocoaError.Code(rawValue: NSMigrationError)
  /// A code of errors in the Cocoa domain.
  public static let migrationCancelled = CocoaError.Code(rawValue: NSMigrationCancelledError)
  /// A code of errors in the Cocoa domain.
  public static let migrationMissingSourceModel = CocoaError.Code(
    rawValue: NSMigrationMissingSourceModelError)
  /// A code of errors in the Cocoa domain.
  public static let migrationMissingMappingModel = CocoaError.Code(
    rawValue: NSMigrationMissingMappingModelError)
  /// A code of errors in the Cocoa domain.
  public static let migrationManagerSourceStore = CocoaError.Code(
    rawValue: NSMigrationManagerSourceStoreError)
  /// A code of errors in the Cocoa domain.
  public static let migrationManagerDestinationStore = CocoaError.Code(
    rawValue: NSMigrationManagerDestinationStoreError)
  /// A code of errors in the Cocoa domain.
  public static let entityMigrationPolicy = CocoaError.Code(rawValue: NSEntityMigrationPolicyError)
  /// A code of errors in the Cocoa domain.
  public static let sqlite = CocoaError.Code(rawValue: NSSQLiteError)
  /// A code of errors in the Cocoa domain.
  public static let inferredMappingModel = CocoaError.Code(rawValue: NSInferredMappingModelError)
  /// A code of errors in the Cocoa domain.
  public static let externalRecordImport = CocoaError.Code(rawValue: NSExternalRecordImportError)
}

extension CocoaError {
  /// A code of errors in the Cocoa domain.
  public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
  /// A code of errors in the Cocoa domain.
  public static var managedObjectConstraintValidation: CocoaError.Code { .managedObjectConstraintValidation }
  /// A code of errors in the Cocoa domain.
  public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
  /// A code of errors in the Cocoa domain.
  public static var validationMissingMandatoryProperty: CocoaError.Code {
    .validationMissingMandatoryProperty
  }
  /// A code of errors in the Cocoa domain.
  public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
    .validationRelationshipLacksMinimumCount
  }
  /// A code of errors in the Cocoa domain.
  public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
    .validationRelationshipExceedsMaximumCount
  }
  /// A code of errors in the Cocoa domain.
  public static var validationRelationshipDeniedDelete: CocoaError.Code {
    .validationRelationshipDeniedDelete
  }
  /// A code of errors in the Cocoa domain.
  public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
  /// A code of errors in the Cocoa domain.
  public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
  /// A code of errors in the Cocoa domain.
  public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
  /// A code of errors in the Cocoa domain.
  public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
  /// A code of errors in the Cocoa domain.
  public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
  /// A code of errors in the Cocoa domain.
  public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
  /// A code of errors in the Cocoa domain.
  public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
  /// A code of errors in the Cocoa domain.
  public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }
  /// A code of errors in the Cocoa domain.
  public static var validationInvalidURI: CocoaError.Code { .validationInvalidURI }
  /// A code of errors in the Cocoa domain.
  public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }
  /// A code of errors in the Cocoa domain.
  public static var persistentStoreCoordinatorLocking: CocoaError.Code { .persistentStoreCoordinatorLocking }
  /// A code of errors in the Cocoa domain.
  public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }
  /// A code of errors in the Cocoa domain.
  public static var managedObjectExternalRelationship: CocoaError.Code { .managedObjectExternalRelationship }
  /// A code of errors in the Cocoa domain.
  public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
  /// A code of errors in the Cocoa domain.
  public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }
  /// A code of errors in the Cocoa domain.
  public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
  /// A code of errors in the Cocoa domain.
  public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
  /// A code of errors in the Cocoa domain.
  public static var persistentStoreIncompatibleSchema: CocoaError.Code { .persistentStoreIncompatibleSchema }
  /// A code of errors in the Cocoa domain.
  public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
  /// A code of errors in the Cocoa domain.
  public static var persistentStoreIncompleteSave: CocoaError.Code { .persistentStoreIncompleteSave }
  /// A code of errors in the Cocoa domain.
  public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }
  /// A code of errors in the Cocoa domain.
  public static var coreData: CocoaError.Code { .coreData }
  /// A code of errors in the Cocoa domain.
  public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
  /// A code of errors in the Cocoa domain.
  public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
  /// A code of errors in the Cocoa domain.
  public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }
  /// A code of errors in the Cocoa domain.
  public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
    .persistentStoreUnsupportedRequestType
  }
  /// A code of errors in the Cocoa domain.
  public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
    .persistentStoreIncompatibleVersionHash
  }
  /// A code of errors in the Cocoa domain.
  public static var migration: CocoaError.Code { .migration }
  /// A code of errors in the Cocoa domain.
  public static var migrationCancelled: CocoaError.Code { .migrationCancelled }
  /// A code of errors in the Cocoa domain.
  public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }
  /// A code of errors in the Cocoa domain.
  public static var migrationMissingMappingModel: CocoaError.Code { .migrationMissingMappingModel }
  /// A code of errors in the Cocoa domain.
  public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }
  /// A code of errors in the Cocoa domain.
  public static var migrationManagerDestinationStore: CocoaError.Code { .migrationManagerDestinationStore }
  /// A code of errors in the Cocoa domain.
  public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }
  /// A code of errors in the Cocoa domain.
  public static var sqlite: CocoaError.Code { .sqlite }
  /// A code of errors in the Cocoa domain.
  public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }
  /// A code of errors in the Cocoa domain.
  public static var externalRecordImport: CocoaError.Code { .externalRecordImport }
}

/// The parts of an error's user info.
extension CocoaError {
  /// The object that is not valid.
  public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
  /// The property that is not valid.
  public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
  /// The condition that the value does not satisfy.
  public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }
  /// The value that is not valid.
  public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
  /// The stores that the error is about.
  public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }
  /// The objects that the error is about.
  public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
  /// The conflicts of a save.
  public var persistentStoreSaveConflicts: [NSMergeConflict]? {
    userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
  }
}

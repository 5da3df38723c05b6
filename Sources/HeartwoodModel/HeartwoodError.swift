/// A conflict of a save, which a merge policy may resolve.
package protocol SaveConflict: Sendable {}

/// An error of the object graph: of a model, a request, a value, a save or a store.
///
/// The message says what failed, on what, and what to do. The codes have the numbers of Core Data's errors.
public struct HeartwoodError: Error, Sendable {
  private let box: Box
  private var contents: Contents { box.contents }

  private init(_ contents: Contents) { box = Box(contents) }

  /// An error with its message and the objects and property that it concerns.
  public init(
    _ code: Code, _ message: String, objectIDs: [ManagedObjectID] = [], property: String? = nil,
    details: [HeartwoodError] = [], underlying: (any Error)? = nil, isOutcomeUnknown: Bool = false
  ) {
    self.init(
      code, message, objectIDs: objectIDs, property: property, details: details, conflicts: [],
      underlying: underlying, isOutcomeUnknown: isOutcomeUnknown)
  }

  package init(
    _ code: Code, _ message: String, objectIDs: [ManagedObjectID], property: String?,
    details: [HeartwoodError], conflicts: [any SaveConflict], underlying: (any Error)?, isOutcomeUnknown: Bool
  ) {
    self.init(
      Contents(
        code: code, message: message, objectIDs: objectIDs, property: property, details: details,
        conflicts: conflicts, underlying: underlying, isOutcomeUnknown: isOutcomeUnknown))
  }

  /// The same error, of a save to a store. An error that names a store stays as it is.
  package func affecting(_ storeID: String?) -> HeartwoodError { affecting(storeID.map { [$0] } ?? []) }

  /// The same error, of a save to some stores. An error that names a store stays as it is.
  package func affecting(_ storeIDs: [String]) -> HeartwoodError {
    guard contents.storeIDs.isEmpty else { return self }
    return changed { $0.storeIDs = storeIDs }
  }

  /// The same error with another message.
  package func withMessage(_ message: String) -> HeartwoodError {
    changed { $0.message = message }
  }

  private func changed(_ change: (inout Contents) -> Void) -> HeartwoodError {
    var contents = contents
    change(&contents)
    return HeartwoodError(contents)
  }

  /// Adds the object, the property and the refused value to an error that names none. Returns any other error
  /// unchanged.
  package func about(
    _ objectID: ManagedObjectID, _ property: String, _ value: Value, _ rule: ValidationRule? = nil
  ) -> HeartwoodError {
    guard objectIDs.isEmpty, self.property == nil, details.isEmpty else { return self }
    return changed {
      ($0.objectIDs, $0.property, $0.value, $0.rule) = ([objectID], property, value, rule)
    }
  }

  /// The kind of the error.
  public var code: Code { contents.code }
  /// The message: what failed, on what, and what to do.
  public var message: String { contents.message }
  /// The affected objects, if any.
  public var objectIDs: [ManagedObjectID] { contents.objectIDs }
  /// The affected property, if it is one.
  public var property: String? { contents.property }
  /// The refused value, in the type of `ManagedObject.value(forKey:)`; nil if it was nil, or if no value was
  /// refused.
  public var value: Any? {
    guard let value = contents.value, let entity = objectIDs.first?.entity, let property,
      let slot = entity.slot(named: property)
    else { return nil }
    return entity.anyValue(value, at: slot)
  }
  /// The model's rule that the value does not satisfy; nil for other errors.
  public var validationRule: ValidationRule? { contents.rule }
  /// The individual errors of `.validationMultipleErrors`.
  public var details: [HeartwoodError] { contents.details }
  /// The conflicts that a merge policy may resolve.
  package var conflicts: [any SaveConflict] { contents.conflicts }
  /// The error of the engine or the file system that caused this one.
  public var underlying: (any Error)? { contents.underlying }
  /// The identifiers of the stores that refused or failed a save; empty for other errors.
  public var affectedStoreIDs: [String] { contents.storeIDs }
  /// Whether it is unknown if the save is in the store, until the store is opened again.
  public var isOutcomeUnknown: Bool { contents.isOutcomeUnknown }

  private struct Contents: Sendable {
    let code: Code
    var message: String
    var objectIDs: [ManagedObjectID]
    var property: String?
    var value: Value?
    var rule: ValidationRule?
    let details: [HeartwoodError]
    let conflicts: [any SaveConflict]
    let underlying: (any Error)?
    let isOutcomeUnknown: Bool
    var storeIDs: [String] = []
  }

  /// One word, so that typed throws of the error stay cheap.
  private final class Box: Sendable {
    let contents: Contents

    init(_ contents: Contents) { self.contents = contents }
  }

  /// Whether a merge policy may resolve it.
  package var isConflict: Bool { !conflicts.isEmpty }
}

extension HeartwoodError: CustomStringConvertible {
  /// The message and the code's number.
  public var description: String { "\(message) (\(code))" }
}

extension HeartwoodError {
  /// The kind of an error, with Core Data's number for it.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Core Data's number.
    public let rawValue: Int

    /// A code by its number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The number.
    public var description: String { "\(rawValue)" }

    /// A value was refused, without further details.
    public static let managedObjectValidation = Code(rawValue: 1550)
    /// Values that must be unique are not. Not thrown by Heartwood: a save throws `managedObjectConstraintMerge`.
    public static let managedObjectConstraintValidation = Code(rawValue: 1551)
    /// Several values were refused; `details` has each.
    public static let validationMultipleErrors = Code(rawValue: 1560)
    /// A property that is not optional has no value.
    public static let validationMissingMandatoryProperty = Code(rawValue: 1570)
    /// A relationship has too few destinations.
    public static let validationRelationshipLacksMinimumCount = Code(rawValue: 1580)
    /// A relationship has too many destinations.
    public static let validationRelationshipExceedsMaximumCount = Code(rawValue: 1590)
    /// A delete rule denies the delete.
    public static let validationRelationshipDeniedDelete = Code(rawValue: 1600)
    /// A number is above its limit.
    public static let validationNumberTooLarge = Code(rawValue: 1610)
    /// A number is below its limit.
    public static let validationNumberTooSmall = Code(rawValue: 1620)
    /// A date is later than allowed.
    public static let validationDateTooLate = Code(rawValue: 1630)
    /// A date is earlier than allowed.
    public static let validationDateTooSoon = Code(rawValue: 1640)
    /// A string does not match the required pattern.
    public static let validationStringPatternMatching = Code(rawValue: 1680)
    /// A string is too long.
    public static let validationStringTooLong = Code(rawValue: 1660)
    /// A string is too short.
    public static let validationStringTooShort = Code(rawValue: 1670)
    /// An object's row is not in the store.
    public static let managedObjectReferentialIntegrity = Code(rawValue: 133000)
    /// A relationship would lead into another store. Not thrown yet, as a coordinator has one store.
    public static let managedObjectExternalRelationship = Code(rawValue: 133010)
    /// Rows changed since they were read.
    public static let managedObjectMerge = Code(rawValue: 133020)
    /// Values that must be unique exist in the store already.
    public static let managedObjectConstraintMerge = Code(rawValue: 133021)
    /// The type of store is unknown.
    public static let persistentStoreInvalidType = Code(rawValue: 134000)
    /// The model and the store are incompatible.
    public static let persistentStoreIncompatibleSchema = Code(rawValue: 134020)
    /// A save failed in the store.
    public static let persistentStoreSave = Code(rawValue: 134030)
    /// A save to several stores is incomplete: some have saved, and those of `HeartwoodError.affectedStoreIDs` have not. The context keeps
    /// the changes of `HeartwoodError.objectIDs`, and has saved all others; save again when the cause is fixed.
    public static let persistentStoreIncompleteSave = Code(rawValue: 134040)
    /// Others have changed the file of a store that is written as a whole since it was read.
    public static let persistentStoreSaveConflicts = Code(rawValue: 134050)
    /// An error without a number of its own: an invalid model or request.
    public static let coreData = Code(rawValue: 134060)
    /// A predicate, an expression or a sort order that is wrong: its text, or a name or a value in it. Not a number of Core Data's, where such
    /// a text ends the program.
    public static let invalidPredicate = Code(rawValue: 134061)
    /// An operation of the store failed.
    public static let persistentStoreOperation = Code(rawValue: 134070)
    /// The store could not be opened.
    public static let persistentStoreOpen = Code(rawValue: 134080)
    /// Another process or engine held the store for longer than the timeout.
    public static let persistentStoreTimeout = Code(rawValue: 134090)
    /// The store does not execute the request: it is not among the request's `affectedStores`.
    public static let persistentStoreUnsupportedRequestType = Code(rawValue: 134091)
    /// The store was written with another model.
    public static let persistentStoreIncompatibleVersionHash = Code(rawValue: 134100)
    /// A migration failed: objects that the new model does not allow, or another cause that the message says.
    public static let migration = Code(rawValue: 134110)
    /// A migration failed because values are not unique that must be in the new model.
    public static let migrationConstraintViolation = Code(rawValue: 134111)
    /// A migration was cancelled.
    public static let migrationCancelled = Code(rawValue: 134120)
    /// The model that a store was written with was not found.
    public static let migrationMissingSourceModel = Code(rawValue: 134130)
    /// No mapping model was found, and none may be inferred.
    public static let migrationMissingMappingModel = Code(rawValue: 134140)
    /// The source store of a migration cannot be opened.
    public static let migrationManagerSourceStore = Code(rawValue: 134150)
    /// The destination store of a migration cannot be opened or saved.
    public static let migrationManagerDestinationStore = Code(rawValue: 134160)
    /// A migration policy failed.
    public static let entityMigrationPolicy = Code(rawValue: 134170)
    /// No mapping can be inferred between two models.
    public static let inferredMappingModel = Code(rawValue: 134190)
    /// A model reference does not resolve to a model with its checksum.
    public static let stagedMigrationModelReference = Code(rawValue: 134504)
    /// The store's metadata is not suitable for staged migration.
    public static let stagedMigrationFrameworkVersionMismatch = Code(rawValue: 134505)
    /// The store is of a later version than the last stage.
    public static let stagedMigrationBackwardMigration = Code(rawValue: 134506)
    /// A row or another part of the store differs from what was written.
    public static let persistentStoreDamaged = Code(rawValue: 134180)
    /// A history token is too old, or of another store.
    public static let persistentHistoryTokenExpired = Code(rawValue: 134301)
  }

  /// An invalid model. The message is one sentence.
  package static func model(_ message: String) -> HeartwoodError { HeartwoodError(.coreData, message) }

  /// The advice about damage that is found on the way.
  private static let damageAdvice = "; verify the store"

  /// The message without what to do about damage, for a reader that has read the whole store.
  package var messageWithoutAdvice: String {
    message.hasSuffix(Self.damageAdvice) ? String(message.dropLast(Self.damageAdvice.count)) : message
  }

  /// Something in a store that is not what was written.
  package static func damagedStore(_ message: String) -> HeartwoodError {
    HeartwoodError(.persistentStoreDamaged, message + damageAdvice)
  }

  /// A row whose bytes are invalid.
  @usableFromInline static func damagedRow(_ message: String) -> HeartwoodError {
    damagedStore("a row is damaged: \(message)")
  }
}

import Foundation

/// The errors that contexts throw.
extension HeartwoodError {
  /// The entity in an identifier is not that of the row.
  static func misnamed(_ id: ManagedObjectID, _ entity: EntityDescription) -> HeartwoodError {
    HeartwoodError(
      .managedObjectReferentialIntegrity,
      "\(id) names \(id.entity.displayName), but the row is one of \(entity.displayName): get the object by a fetch",
      objectIDs: [id])
  }

  static func noRow(_ id: ManagedObjectID) -> HeartwoodError {
    if RetiredKeys.contains(id.key) { return retiredIdentifier(id) }
    return HeartwoodError(
      .managedObjectReferentialIntegrity,
      "there is no object \(id) in the store: it was deleted, or never saved",
      objectIDs: [id])
  }

  static func otherClass(_ object: ManagedObject, _ wanted: ManagedObject.Type) -> HeartwoodError {
    HeartwoodError(
      .managedObjectReferentialIntegrity,
      "\(object.objectID) is an object of \(object.entity.displayName), of class \(type(of: object)), not \(wanted): "
        + "check the entity of the identifier",
      objectIDs: [object.objectID])
  }

  static func unreadable(_ id: ManagedObjectID, because cause: any Error) -> HeartwoodError {
    let code = (cause as? HeartwoodError)?.code ?? .persistentStoreOperation
    return HeartwoodError(
      code,
      "\(id) could not be read and shows default values: \(cause); refresh the object to try again, "
        + "or reset the context",
      objectIDs: [id], underlying: cause)
  }

  static func willSaveNeverSettles(_ objects: [ManagedObject]) -> HeartwoodError {
    HeartwoodError(
      .coreData,
      "willSave still changed objects after 100 rounds: set a property there only if its "
        + "value differs",
      objectIDs: Array(objects.map(\.identifier).prefix(10)))
  }

  static func merge(_ conflicts: [MergeConflict]) -> HeartwoodError {
    let others = conflicts.count > 1 ? ", and \(conflicts.count - 1) more" : ""
    let text = "\(conflicts[0].text)\(others)"
    return HeartwoodError(
      .managedObjectMerge,
      conflicts.allSatisfy(\.isOfContext)
        ? "\(text): refer to another object or to none, or set a merge policy"
        : "the store has changed since these objects were read: \(text); refresh them and save again, or set a merge policy",
      objectIDs: conflicts.map(\.objectID), mergeConflicts: conflicts)
  }

  static func constraints(_ conflicts: [ConstraintConflict]) -> HeartwoodError {
    let first = conflicts[0]
    let entity =
      (first.conflictingObjects.first?.entity ?? first.databaseObjectID?.entity)?.displayName ?? "the object"
    let values = first.shownValues
    let holder =
      first.databaseObjectID.map { "\($0) in the store has" }
      ?? (first.conflictingObjects.isEmpty ? "several rows have" : "several unsaved objects have")
    let others = conflicts.count > 1 ? ", and \(conflicts.count - 1) more" : ""
    return HeartwoodError(
      .managedObjectConstraintMerge,
      "\(entity) must be unique by \(first.constraint.joined(separator: ", ")): \(holder) "
        + "\(values.joined(separator: ", "))\(others); change the values and save again, or set a merge policy",
      objectIDs: conflicts.flatMap { $0.conflictingObjects.map(\.identifier) },
      constraintConflicts: conflicts)
  }

  static func multiple(_ errors: [HeartwoodError]) -> HeartwoodError {
    HeartwoodError(
      .validationMultipleErrors,
      "\(errors.count) values are not valid; the first: \(errors[0].message)",
      objectIDs: errors.flatMap(\.objectIDs), details: errors)
  }

  static func validation(_ error: any Error) -> HeartwoodError {
    HeartwoodError(.managedObjectValidation, "\(error)", underlying: error)
  }

  static func missingMandatory(_ object: ManagedObject, _ property: PropertyDescription) -> HeartwoodError {
    invalid(.validationMissingMandatoryProperty, object, property, "needs a value")
  }

  /// A value that does not satisfy a rule of the model.
  static func broken(
    _ rule: ValidationRule, _ code: Code, _ object: ManagedObject, _ property: PropertyDescription,
    _ value: Value
  ) -> HeartwoodError {
    let shown =
      if case .date = value { value.shownWithLimits } else {
        object.entity.anyValue(value, at: property.slot).map { "\($0)" } ?? "nil"
      }
    let sentence =
      rule.kind == .condition || rule.kind == .value
      ? "is \(shown) and does not satisfy the condition \(rule)" : "is \(shown), which must be \(rule)"
    return HeartwoodError(
      code,
      rule.message ?? "\(object.entity.displayName).\(property.name) of \(object.identifier) \(sentence)"
    ).about(object.identifier, property.name, value, rule)
  }

  static func validationNeverSettles(_ objects: [ManagedObject]) -> HeartwoodError {
    HeartwoodError(
      .coreData,
      "validation still changed objects after 100 rounds: a validator may only assign values that it accepts itself",
      objectIDs: Array(objects.map(\.identifier).prefix(10)))
  }

  static func tooFew(
    _ object: ManagedObject, _ relationship: RelationshipDescription, _ count: Int
  ) -> HeartwoodError {
    invalid(
      .validationRelationshipLacksMinimumCount, object, relationship,
      "has \(count) of at least \(relationship.minCount) destinations")
  }

  static func tooMany(
    _ object: ManagedObject, _ relationship: RelationshipDescription, _ count: Int
  ) -> HeartwoodError {
    invalid(
      .validationRelationshipExceedsMaximumCount, object, relationship,
      "has \(count) of at most \(relationship.maxCount) destinations")
  }

  static func deniedDelete(
    _ object: ManagedObject, _ relationship: RelationshipDescription
  ) -> HeartwoodError {
    invalid(
      .validationRelationshipDeniedDelete, object, relationship,
      "still has destinations, and its delete rule is deny: delete or remove them first")
  }

  private static func invalid(
    _ code: Code, _ object: ManagedObject, _ property: PropertyDescription, _ what: String
  ) -> HeartwoodError {
    HeartwoodError(
      code, "\(object.entity.displayName).\(property.name) of \(object.identifier) \(what)",
      objectIDs: [object.identifier], property: property.name)
  }
}

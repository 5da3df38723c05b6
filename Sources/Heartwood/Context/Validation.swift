import Foundation

/// Validation of all changed objects at a save. Assignments are not validated.
extension ManagedObjectContext {
  /// Validates all changes.
  ///
  /// - Throws: The failure if there is one; `.validationMultipleErrors` with all of them in `details` if there are several.
  func validateChanges() throws {
    var failures: [HeartwoodError] = []
    for object in changes.inserted { collect(&failures) { try object.validateForInsert() } }
    for object in changes.updated { collect(&failures) { try object.validateForUpdate() } }
    for object in changes.deleted { collect(&failures) { try object.validateForDelete() } }
    if failures.count == 1 { throw failures[0] }
    if !failures.isEmpty { throw HeartwoodError.multiple(failures) }
  }

  private func collect(_ failures: inout [HeartwoodError], _ validate: () throws -> Void) {
    do {
      try validate()
    } catch let error as HeartwoodError {
      failures += error.details.isEmpty ? [error] : error.details
    } catch {
      failures.append(HeartwoodError.validation(error))
    }
  }
}

extension ManagedObject {
  /// Checks every property by the model's rules, for `validateForInsert` and `validateForUpdate`.
  func validateProperties() throws {
    var failures: [HeartwoodError] = []
    for check in entity.compiled.checks {
      do {
        try validate(check)
      } catch let error as HeartwoodError {
        failures.append(error)
      } catch {
        failures.append(HeartwoodError.validation(error))
      }
    }
    if failures.count == 1 { throw failures[0] }
    if !failures.isEmpty { throw HeartwoodError.multiple(failures) }
  }

  /// Throws if a deny rule forbids the delete.
  func validateDeleteRules() throws {
    guard let context = managedObjectContext else { return }
    for relationship in entity.relationshipsBySlot where relationship.deleteRule == .denyDeleteRule {
      if !context.destinations(of: self, relationship).isEmpty {
        throw HeartwoodError.deniedDelete(self, relationship)
      }
    }
  }

  private func validate(_ check: PropertyCheck) throws {
    if case .count(let relationship) = check.kind { return try validateCount(relationship) }
    let value = value(at: check.slot)
    if check.isMandatory && value.isNull {
      throw HeartwoodError.missingMandatory(self, entity.property(at: check.slot))
    }
    guard case .attribute(let name) = check.kind else { return }
    do {
      try validateValue(entity.anyValue(value, at: check.slot), forKey: name)
    } catch {
      let refusal = error as? HeartwoodError ?? HeartwoodError.validation(error)
      throw refusal.about(objectID, name, value)
    }
  }

  /// Skips relationships that were not changed: the last save validated them.
  private func validateCount(_ relationship: RelationshipDescription) throws {
    guard let context = managedObjectContext,
      isInserted || relationshipState(at: relationship.slot)?.hasChanges == true
    else { return }
    let count = context.destinations(of: self, relationship).count
    if count == 0 && relationship.isOptional { return }
    if count == 0 && relationship.minCount == 0 { throw HeartwoodError.missingMandatory(self, relationship) }
    if count < relationship.minCount { throw HeartwoodError.tooFew(self, relationship, count) }
    if relationship.maxCount > 0 && count > relationship.maxCount {
      throw HeartwoodError.tooMany(self, relationship, count)
    }
  }
}

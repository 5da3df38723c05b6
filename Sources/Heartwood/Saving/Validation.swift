import Foundation
import HeartwoodBytes
import HeartwoodFiles

/// Validation of all changed objects at a save. Assignments are not validated.
extension Save {
  /// Validates all changes, and again what validators have changed.
  ///
  /// - Throws: The failure if there is one; `.validationMultipleErrors` with all of them in `details` if there are several. Stores have
  ///   no objects of abstract entities, also not those of a migration, whose saves validate nothing else.
  package func validateChanges() throws {
    let abstract = context.changes.inserted.filter { $0.entity.isAbstract }
    if let entity = abstract.first?.entity.displayName {
      throw HeartwoodError(
        .managedObjectValidation, "\(entity) is abstract: make objects of a subentity",
        objectIDs: abstract.map(\.objectID))
    }
    guard context.validatesAtSave else { return }
    for _ in 0..<Self.mostRoundsOfValidation {
      let before = context.editCount
      var failures: [HeartwoodError] = []
      for object in context.changes.inserted { collect(&failures) { try object.validateForInsert() } }
      for object in context.changes.updated { collect(&failures) { try object.validateForUpdate() } }
      for object in context.changes.deleted {
        collect(&failures) { try object.validateForDelete() }
      }
      if failures.count == 1 { throw failures[0] }
      if !failures.isEmpty { throw HeartwoodError.multiple(failures) }
      guard context.editCount != before else { return }
      context.propagateDeletes()
    }
    throw HeartwoodError.validationNeverSettles(context.changes.all)
  }

  private static let mostRoundsOfValidation = 100

  private func collect(_ failures: inout [HeartwoodError], _ validate: () throws -> Void) {
    do {
      try validate()
    } catch {
      failures += HeartwoodError.validationFailures(error)
    }
  }
}

/// An error of the module `CoreData` that was made of one of Heartwood's.
package protocol HeartwoodErrorCarrier: Error {
  var carriedError: HeartwoodError { get }
}

extension HeartwoodError {
  /// The single failures that an error of a validation consists of, at any depth: an error of several may have such errors as its details. A
  /// program's own error is one failure, whatever its details are.
  static func validationFailures(_ error: any Error) -> [HeartwoodError] {
    if let carrier = error as? any HeartwoodErrorCarrier { return validationFailures(carrier.carriedError) }
    guard let error = error as? HeartwoodError else {
      let given = error as NSError
      let isOfSeveral =
        given.domain == NSCocoaErrorDomain && given.code == Code.validationMultipleErrors.rawValue
      let parts = isOfSeveral ? given.userInfo[UserInfoKey.detailedErrors] as? [any Error] ?? [] : []
      return parts.isEmpty ? [validation(error)] : parts.flatMap(validationFailures)
    }
    return error.details.isEmpty ? [error] : error.details.flatMap(validationFailures)
  }

  /// Runs a validation, and throws Heartwood's errors as they were.
  static func uncarried(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as any HeartwoodErrorCarrier {
      throw error.carriedError
    }
  }
}

extension ManagedObject {
  /// Checks a value for a property as a save would: by the model's rules, then by `validateValue(_:forKey:)`.
  ///
  /// - Parameters:
  ///   - value: A value of the types of `setValue(_:forKey:)`. Nothing is assigned.
  ///   - key: The name of an attribute.
  /// - Returns: The value, or the one that `validateValue` has put in its place.
  /// - Throws: The failure, with object, property and value.
  @_disfavoredOverload
  public final func validate(_ value: Any?, forKey key: String) throws -> Any? {
    guard let slot = entity.slot(named: key), let attribute = entity.attribute(at: slot) else {
      throw HeartwoodError.unknownProperty(key, entity)
    }
    let stored = try entity.storedValue(value, at: slot)
    if stored.isNull, !attribute.isOptional { throw HeartwoodError.missingMandatory(self, attribute) }
    return entity.anyValue(
      try validated(stored, at: slot, attribute.name, attribute.validationRules), at: slot)
  }

  /// Checks every property by the model's rules, for `validateForInsert` and `validateForUpdate`.
  func validateProperties() throws { try validate(entity.compiled.checks) }

  /// Checks the attributes by the rules that are about attributes of this object only, also while its relationships are not set.
  ///
  /// - Throws: The failure if there is one; `.validationMultipleErrors` with all of them in `details` if there are several.
  package func validateAttributes() throws {
    var checks = entity.compiled.checks.filter { entity.property(at: $0.slot) is AttributeDescription }
    for place in checks.indices where !checks[place].rules.isEmpty {
      let slot = checks[place].slot
      checks[place].rules = try checks[place].rules.filter { try isOfAttributesOnly($0, at: slot) }
    }
    try validate(checks)
  }

  private func isOfAttributesOnly(_ rule: ValidationRule, at slot: Int) throws -> Bool {
    guard let condition = try rule.condition(on: entity.property(at: slot), of: entity) else { return true }
    guard !condition.readsOtherRows, let slots = condition.usedSlots else { return false }
    return slots.allSatisfy { entity.attribute(at: $0) != nil }
  }

  private func validate(_ checks: [PropertyCheck]) throws {
    var failures: [HeartwoodError] = []
    // By place, as a copy of each check would count references.
    for place in checks.indices {
      do {
        try validate(checks[place])
      } catch {
        failures += HeartwoodError.validationFailures(error)
      }
    }
    if failures.count == 1 { throw failures[0] }
    if !failures.isEmpty { throw HeartwoodError.multiple(failures) }
  }

  /// Throws if a deny rule forbids the delete.
  func validateDeleteRules() throws {
    guard let context = managedObjectContext else { return }
    for relationship in entity.relationshipsBySlot where relationship.deleteRule == .denyDeleteRule {
      if try context.destinations(of: self, relationship).contains(where: context.isStoredOrNew) {
        throw HeartwoodError.deniedDelete(self, relationship)
      }
    }
  }

  /// Checks the numbers of destinations, also of relationships that were not changed.
  func validateCounts() throws {
    for check in entity.compiled.checks {
      if case .count(let relationship) = check.kind { try validateCount(relationship, ifUnchanged: true) }
    }
  }

  private func validate(_ check: PropertyCheck) throws {
    if case .count(let relationship) = check.kind { return try validateCount(relationship) }
    // Large data was validated when it was set, and is not loaded for this.
    if isExternal(at: check.slot) { return }
    // A composite attribute without a value has no elements to check.
    if check.isElement,
      entity.compositeSlots(around: check.slot).contains(where: { self.value(at: $0).isNull })
    {
      return
    }
    let value = value(at: check.slot)
    if check.isMandatory && value.isNull && !(check.isElement && entity.hasDefaultInStruct(check.slot)) {
      throw HeartwoodError.missingMandatory(self, entity.property(at: check.slot))
    }
    guard case .attribute(let name) = check.kind else { return }
    if case .opaque(let held) = value, let refusal = held.refusal {
      throw HeartwoodError.unencodable(objectID, entity.property(at: check.slot), refusal)
    }
    let accepted = try validated(value, at: check.slot, name, check.rules, plainType: check.plainType)
    guard accepted != value else { return }
    willEdit()
    setEdit(check.slot, accepted)
  }

  /// The value that the rules and the hook accept.
  ///
  /// - Parameter plainType: As in `PropertyCheck`. Most values are of such a type and stay as they are, which is then seen without
  ///   converting them back.
  private func validated(
    _ value: Value, at slot: Int, _ name: String, _ rules: [ValidationRule], plainType: AttributeType? = nil
  ) throws -> Value {
    for rule in rules { try check(value, rule, at: slot) }
    var accepted = plainType.map { value.anyValue($0) } ?? entity.anyValue(value, at: slot)
    let given = AnyBits(&accepted)
    do {
      try validateValue(&accepted, forKey: name)
    } catch {
      let refusals = HeartwoodError.validationFailures(error).map { $0.about(objectID, name, value) }
      throw refusals.count == 1 ? refusals[0] : HeartwoodError.multiple(refusals)
    }
    // A value of another type is not converted back either: two archives of one object may differ, and two objects of a class without `==` do.
    if AnyBits(&accepted) == given { return value }
    if let plainType, value.isShown(as: accepted, plainType) { return value }
    // Without `==` nothing tells whether the hook has put another value in its place.
    if case .opaque(let held) = value, !held.isComparable { return value }
    let replacement = try entity.storedValue(accepted, at: slot)
    guard replacement != value, !entity.areEqual(replacement, value, at: slot) else { return value }
    for rule in rules { try check(replacement, rule, at: slot) }
    return replacement
  }

  private func check(_ value: Value, _ rule: ValidationRule, at slot: Int) throws {
    let property = entity.property(at: slot)
    let type = entity.attribute(at: slot)?.type ?? .undefined
    if let code = rule.failure(of: value, type) {
      throw HeartwoodError.broken(rule, code, self, property, value)
    }
    guard rule.kind == .condition || rule.kind == .value && !value.isNull,
      let context = managedObjectContext
    else { return }
    let isMet = try rule.condition(on: entity.property(at: slot), of: entity).map { condition in
      let overlay = PendingOverlay(try context.readingView().forOneReader(), context)
      return try overlay.row(of: self).map { try condition.matches($0, key: identifier.key, in: overlay) }
        ?? true
    }
    if isMet == false { throw HeartwoodError.broken(rule, .managedObjectValidation, self, property, value) }
  }

  /// Skips relationships that were not changed: the last save validated them.
  private func validateCount(_ relationship: RelationshipDescription, ifUnchanged: Bool = false) throws {
    guard let context = managedObjectContext,
      ifUnchanged || isInserted || relationshipState(at: relationship.slot)?.hasChanges == true
    else { return }
    let count = context.destinations(of: self, relationship).count
    if count == 0 && relationship.isOptional { return }
    if count < relationship.minCount { throw HeartwoodError.tooFew(self, relationship, count) }
    if relationship.maxCount > 0 && count > relationship.maxCount {
      throw HeartwoodError.tooMany(self, relationship, count)
    }
  }
}

extension EntityDescription {
  /// Whether an element is one of a declared struct, which reads a missing element as its default.
  func hasDefaultInStruct(_ slot: Int) -> Bool {
    guard let outermost = compositeSlots(around: slot).first else { return false }
    return compiled.declarations[outermost] != nil
  }
}

/// The compiled conditions of the validation rules of frozen models, which are kept as long as those are: until the process ends.
enum CompiledRules {
  private struct Rule: Hashable {
    let entity: ObjectIdentifier
    let text: String
  }

  /// Unchecked: a compiled condition never changes.
  private struct Conditions: @unchecked Sendable {
    var byRule: [Rule: CompiledPredicate] = [:]
  }

  private static let known = Guarded(Conditions())

  static func condition(_ text: String, of entity: EntityDescription) throws -> CompiledPredicate? {
    let rule = Rule(entity: ObjectIdentifier(entity), text: text)
    if let known = known.withLock({ $0.byRule[rule] }) { return known }
    let compiled = try CompiledPredicate(try FormatPredicate(text), entity: entity)
    known.withLock { $0.byRule[rule] = compiled }
    return compiled
  }
}

extension ValidationRule {
  /// The condition on objects that the rule of a property consists of; nil if it has another form.
  func condition(
    on property: PropertyDescription, of entity: EntityDescription
  ) throws -> CompiledPredicate? {
    guard kind == .condition || kind == .value, let text else { return nil }
    return try CompiledRules.condition(
      kind == .value ? Self.conditionOnObject(text, value: property.path) : text, of: entity)
  }
}

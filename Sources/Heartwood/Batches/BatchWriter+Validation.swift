/// The rules of the model, for rows without objects.
extension BatchWriter {
  /// - Throws: The first rule of the model that a written row does not satisfy.
  func validate(_ row: [UInt8], _ key: UInt64, _ entity: EntityDescription) throws {
    try row.withUnsafeBytes { bytes in
      let row = RowView(unchecked: bytes)
      for check in entity.compiled.checks { try validate(row, check, key, entity) }
    }
  }

  private func validate(_ row: RowView, _ check: PropertyCheck, _ key: UInt64, _ entity: EntityDescription)
    throws
  {
    if case .count = check.kind { return }
    let column = entity.layout.columns[check.slot]
    if column.kind == .transient || row.external(column) != nil { return }
    if check.isElement {
      let isAbsent = entity.compositeSlots(around: check.slot).contains {
        row.isNull(entity.layout.columns[$0])
      }
      if isAbsent { return }
    }
    let property = entity.property(at: check.slot)
    let mayBeMissing = check.isElement && entity.hasDefaultInStruct(check.slot) || isLater(property, of: key)
    if check.isMandatory, row.isNull(column), !mayBeMissing {
      throw HeartwoodError.batchMissing(property, identifier(entity, key))
    }
    guard case .attribute = check.kind else { return }
    let value = row.value(column)
    for rule in check.rules where try !holds(rule, value, row, key, entity, property) {
      throw HeartwoodError.batchBroken(
        rule, rule.failure(of: value, property.attributeType) ?? .managedObjectValidation,
        identifier(entity, key), property, value)
    }
  }

  private func holds(
    _ rule: ValidationRule, _ value: Value, _ row: RowView, _ key: UInt64, _ entity: EntityDescription,
    _ property: PropertyDescription
  ) throws -> Bool {
    if rule.failure(of: value, property.attributeType) != nil { return false }
    guard rule.kind != .value || !value.isNull else { return true }
    return try rule.condition(on: property, of: entity)?.matches(row, key: key, in: transaction) ?? true
  }

  /// Whether a missing destination is one that comes later in the batch.
  private func isLater(_ property: PropertyDescription, of key: UInt64) -> Bool {
    property is RelationshipDescription && awaited.contains(Awaited(slot: property.slot, key: key))
  }

  /// - Parameter slots: The relationships to check.
  /// - Throws: `.validationRelationshipLacksMinimumCount` and its like for a to-many relationship with too few or too many destinations.
  func validateCounts(of entity: EntityDescription, _ key: UInt64, _ slots: Set<Int>? = nil) throws {
    for check in entity.compiled.checks {
      guard case .count(let relationship) = check.kind, slots?.contains(check.slot) ?? true else { continue }
      let count = try transaction.destinationCount(relationship, of: key)
      if count == 0 && relationship.isOptional { continue }
      if count < relationship.minCount {
        throw HeartwoodError.batchCount(
          .validationRelationshipLacksMinimumCount, relationship, identifier(entity, key),
          "has \(count) of at least \(relationship.minCount) destinations")
      }
      if relationship.maxCount > 0 && count > relationship.maxCount {
        throw HeartwoodError.batchCount(
          .validationRelationshipExceedsMaximumCount, relationship, identifier(entity, key),
          "has \(count) of at most \(relationship.maxCount) destinations")
      }
    }
  }
}

extension PropertyDescription {
  fileprivate var attributeType: AttributeType { (self as? AttributeDescription)?.type ?? .undefined }
}

/// A to-one relationship whose destination is inserted later in the batch.
struct Awaited: Hashable {
  let slot: Int
  let key: UInt64
}

extension HeartwoodError {
  static func batchMissing(_ property: PropertyDescription, _ id: ManagedObjectID) -> HeartwoodError {
    batchCount(.validationMissingMandatoryProperty, property, id, "needs a value")
  }

  static func batchCount(
    _ code: Code, _ property: PropertyDescription, _ id: ManagedObjectID, _ what: String
  ) -> HeartwoodError {
    HeartwoodError(
      code, "\(id.entity.displayName).\(property.name) of \(id) \(what)", objectIDs: [id],
      property: property.name)
  }

  static func batchBroken(
    _ rule: ValidationRule, _ code: Code, _ id: ManagedObjectID, _ property: PropertyDescription,
    _ value: Value
  ) -> HeartwoodError {
    let shown = value.shownWithLimits
    let sentence =
      rule.kind == .condition || rule.kind == .value
      ? "is \(shown) and does not satisfy the condition \(rule)" : "is \(shown), which must be \(rule)"
    return HeartwoodError(
      code, rule.message ?? "\(id.entity.displayName).\(property.name) of \(id) \(sentence)"
    ).about(id, property.name, value, rule)
  }
}

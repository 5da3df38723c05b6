import Foundation

/// The new values of a batch update, with their names resolved and their expressions compiled.
struct BatchChange {
  private enum NewValue {
    case constant(Value)
    case computed(ValueReader, AttributeDescription)
  }

  private var values: [(slot: Int, value: NewValue)] = []
  /// To-one relationships; nil removes the destination.
  private(set) var destinations: [(relationship: RelationshipDescription, target: BatchReference?)] = []
  /// Whether expressions read other rows, which the request may change too.
  private(set) var readsOtherRows = false
  private let truncatesFractions: Bool

  /// - Throws: `.managedObjectValidation` if a name is unknown or a value does not fit; `.invalidPredicate` if an expression does not fit.
  init(_ request: BatchUpdateRequest, _ reader: BatchRowReader) throws {
    let entity = reader.entity
    truncatesFractions = request.truncatesFractions
    for (keyPath, value) in request.typed {
      let name = try entity.propertyNames(of: keyPath).joined(separator: ".")
      let slot = try Self.slot(name, entity)
      switch value {
      case .value(let stored):
        for (slot, value) in entity.columnValues(of: stored, at: slot) { try add(slot, value, entity) }
      case .expression(let expression): try add(slot, expression, entity, reader.store)
      }
    }
    for (name, value) in (request.propertiesToUpdate ?? [:]).sorted(by: { $0.key < $1.key }) {
      let slot = try Self.slot(name, entity)
      if let expression = value as? FormatExpression {
        try add(slot, expression.expression, entity, reader.store)
      } else if let relationship = entity.compiled.relationshipBySlot[slot] {
        guard !relationship.isToMany else {
          throw HeartwoodError.batchReference(
            relationship, "a batch update cannot change a to-many relationship")
        }
        destinations.append((relationship, try reader.references(value, relationship).first))
      } else {
        for (slot, value) in try entity.columnValues(ofAny: value, at: slot) { try add(slot, value, entity) }
      }
    }
  }

  private static func slot(_ name: String, _ entity: EntityDescription) throws(HeartwoodError) -> Int {
    guard let slot = entity.slot(named: name) else { throw HeartwoodError.unknownProperty(name, entity) }
    guard !entity.property(at: slot).isTransient else {
      throw HeartwoodError.batchTransient(entity.property(at: slot))
    }
    guard entity.property(at: slot).derivation == nil else {
      throw HeartwoodError.batchReference(entity.property(at: slot), "its value is derived")
    }
    return slot
  }

  private mutating func add(_ slot: Int, _ value: Value, _ entity: EntityDescription) throws {
    // An element that gets a value makes the composites around it have one.
    if !value.isNull {
      for mark in marks(around: slot, entity) { values.append((mark, .constant(.bool(true)))) }
    }
    var value = value
    if let attribute = entity.attribute(at: slot), let fitting = value.fitted(to: attribute.type) {
      value = fitting
    }
    values.append((slot, .constant(try entity.checkedForRow(value, at: slot))))
  }

  private mutating func add(
    _ slot: Int, _ expression: ConditionExpression, _ entity: EntityDescription, _ store: StoreIdentity
  ) throws {
    guard let attribute = entity.attribute(at: slot) else {
      throw HeartwoodError.batchReference(
        entity.property(at: slot), "only attributes can be set to an expression")
    }
    if let composite = attribute as? CompositeAttributeDescription {
      throw HeartwoodError.batchReference(
        composite,
        "it is composite: set its elements, such as \(composite.name).\(composite.elements.first?.name ?? "")"
      )
    }
    let isDecimal = attribute.type == .decimal
    var compiler = ConditionCompiler(entity, store)
    let computed = try compiler.computed(compiler.operand(isDecimal ? expression.withDecimals : expression))
    guard computed.kind == .null || computed.kind == ValueKind(attribute.type) else {
      throw HeartwoodError.batchReference(
        attribute, "\(computed.name) is \(computed.kind.name), and it is \(attribute.type.kindName)")
    }
    if computed.kind == .null {
      guard case .value(.null) = expression.kind else {
        throw HeartwoodError.batchReference(
          attribute,
          "\(expression) has no result for any object: a number is too large, or divided by zero")
      }
    }
    readsOtherRows = readsOtherRows || compiler.readsOtherRows
    values.append((slot, .computed(computed.reader, attribute)))
  }

  /// The slots of the composites that a column is in.
  private func marks(around slot: Int, _ entity: EntityDescription) -> [Int] {
    entity.isElement(slot) ? entity.compositeSlots(around: slot) : []
  }

  /// The new values of a row by slot; nil for columns that stay.
  func newValues(of row: RowView, _ key: UInt64, _ entity: EntityDescription, in source: any RowSource) throws
    -> [Value?]
  {
    var new = [Value?](repeating: nil, count: entity.slots.count)
    let place = Place(row: row, key: key, source: source, outer: nil)
    for (slot, value) in values {
      switch value {
      case .constant(let value): new[slot] = value
      case .computed(let reader, let attribute):
        let computed = try reader.read(place)
        if computed.isNull, try reader.hasNoResult(place) { throw noResult(attribute, entity, key) }
        guard let stored = computed.held(by: attribute, truncatesFractions: truncatesFractions) else {
          throw unfitting(computed, attribute, entity, key)
        }
        new[slot] = stored
        if !stored.isNull { for mark in marks(around: slot, entity) { new[mark] = .bool(true) } }
      }
    }
    addDefaults(to: &new, of: row, entity)
    return new
  }

  /// Elements that are not set have their defaults where the composite attribute had no value before.
  private func addDefaults(to new: inout [Value?], of row: RowView, _ entity: EntityDescription) {
    for (slot, _) in values where entity.isElement(slot) && new[slot]?.isNull == false {
      let beside = entity.defaults(beside: slot) { row.value(entity.layout.columns[$0]) }
      for (slot, value) in beside where new[slot] == nil { new[slot] = value }
    }
  }

  private func noResult(
    _ attribute: AttributeDescription, _ entity: EntityDescription, _ key: UInt64
  ) -> HeartwoodError {
    HeartwoodError(
      .managedObjectValidation,
      "the new value of \(attribute.displayName) has no result for \(entity.displayName) p\(key): a number is too large, or "
        + "divided by zero; exclude such objects by the predicate", property: attribute.name)
  }

  private func unfitting(
    _ value: Value, _ attribute: AttributeDescription, _ entity: EntityDescription, _ key: UInt64
  ) -> HeartwoodError {
    let isFraction = value.held(by: attribute, truncatesFractions: true) != nil
    return HeartwoodError(
      .managedObjectValidation,
      "\(attribute.displayName) holds \(attribute.type), which \(value) does not fit, the new value of "
        + "\(entity.displayName) p\(key)" + (isFraction ? ": round it, as with trunc or round" : ""),
      property: attribute.name)
  }
}

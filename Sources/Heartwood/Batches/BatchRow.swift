import Foundation

/// One row of a batch insert: its values by slot, and the destinations of its relationships.
struct BatchRow: Sendable {
  /// By slot; nil for columns that were not given.
  var values: [Value?]
  /// The relationships that were given.
  var links: [(relationship: RelationshipDescription, targets: [BatchReference])] = []
  /// The slots whose values are defaults that the class has evaluated for the row.
  var madeSlots: [Int] = []

  /// The row with the values that were given only, as it changes another one.
  var given: BatchRow {
    var row = self
    for slot in madeSlots { row.values[slot] = nil }
    row.madeSlots = []
    return row
  }
}

/// A destination of a relationship, as the program names it.
indirect enum BatchReference: Sendable {
  case key(ManagedObjectID)
  /// The values of a uniqueness constraint.
  case unique(StoreIndex, [Part])

  enum Part: Sendable {
    case value(Value)
    /// The destination of a to-one relationship.
    case object(BatchReference, RelationshipDescription)
  }
}

/// Makes rows of dictionaries.
struct BatchRowReader: Sendable {
  let entity: EntityDescription
  let store: StoreIdentity
  /// The indexes of an entity in the store.
  let indexes: @Sendable (EntityDescription) -> [StoreIndex]
  /// By relationships of the entity, the constraints of one attribute that destinations have.
  private let constraints: [ObjectIdentifier: [StoreIndex]]

  init(
    entity: EntityDescription, store: StoreIdentity,
    indexes: @escaping @Sendable (EntityDescription) -> [StoreIndex]
  ) {
    (self.entity, self.store, self.indexes) = (entity, store, indexes)
    let pairs = entity.relationshipsBySlot.map {
      (ObjectIdentifier($0), Self.constraints(of: $0.destinationEntity, indexes))
    }
    constraints = Dictionary(pairs) { first, _ in first }
  }

  private static func constraints(
    of entity: EntityDescription, _ indexes: (EntityDescription) -> [StoreIndex]
  ) -> [StoreIndex] {
    indexes(entity).filter {
      $0.isUnique && $0.slots.count == 1 && entity.attribute(at: $0.slots[0]) != nil
    }
  }

  /// - Throws: `.managedObjectValidation` if a name is unknown or a value does not fit.
  func row(_ dictionary: [String: Any]) throws -> BatchRow {
    var row = BatchRow(values: Array(repeating: nil, count: entity.slots.count))
    for (name, value) in dictionary { try set(name, value, in: &row) }
    return row
  }

  private func set(_ name: String, _ value: Any, in row: inout BatchRow) throws {
    guard let slot = entity.slot(named: name) else { throw HeartwoodError.unknownProperty(name, entity) }
    if let plain = entity.plainValue(value, at: slot) {
      row.values[slot] = plain
      return
    }
    if let relationship = entity.compiled.relationshipBySlot[slot], !relationship.isTransient {
      row.links.append((relationship, try references(value, relationship)))
      return
    }
    guard entity.property(at: slot).derivation == nil else {
      throw HeartwoodError.batchReference(entity.property(at: slot), "its value is derived: leave it out")
    }
    switch entity.layout.columns[slot].kind {
    case .transient: throw HeartwoodError.batchTransient(entity.property(at: slot))
    case .composite:
      for (slot, value) in try entity.columnValues(ofAny: value, at: slot) {
        row.values[slot] = try entity.checkedForRow(value, at: slot)
      }
    default:
      row.values[slot] = try entity.checkedForRow(entity.storedValue(value, at: slot), at: slot)
    }
    // An element that gets a value makes the composites around it have one.
    guard entity.isElement(slot), row.values[slot]?.isNull == false else { return }
    for composite in entity.compositeSlots(around: slot) { row.values[composite] = .bool(true) }
  }

  /// The destinations that a value names.
  func references(_ value: Any, _ relationship: RelationshipDescription) throws -> [BatchReference] {
    // A unique value of a usual type: the casts below would cost more than all the rest.
    if !relationship.isToMany, Value.usual(value) != nil { return [try unique(value, relationship)] }
    if value is NSNull { return [] }
    guard relationship.isToMany else { return try [reference(value, relationship)].compactMap(\.self) }
    let members: [Any]
    switch value {
    case let list as [Any]: members = list
    case let set as Set<AnyHashable>: members = set.map(\.base)
    default:
      throw HeartwoodError.batchReference(
        relationship, "an array of destinations is needed, not \(type(of: value))")
    }
    return try members.compactMap { try reference($0, relationship) }
  }

  /// The destination that a value names; nil for none.
  func reference(_ value: Any, _ relationship: RelationshipDescription) throws -> BatchReference? {
    switch value {
    case let object as ManagedObject: return .key(try checked(object.objectID, relationship))
    case let identifier as ManagedObjectID: return .key(try checked(identifier, relationship))
    case let uri as URL:
      guard let parts = ManagedObjectID.parts(of: uri), parts.store == store.uuid else { break }
      return .key(
        ManagedObjectID(entity: relationship.destinationEntity, key: parts.key, store: store))
    case let values as [String: Any]: return try unique(values, relationship)
    default: break
    }
    if Value(any: value, for: .undefined) == .null { return nil }
    return try unique(value, relationship)
  }

  private func checked(_ identifier: ManagedObjectID, _ relationship: RelationshipDescription) throws
    -> ManagedObjectID
  {
    guard !identifier.isTemporaryID, identifier.store == store else {
      throw HeartwoodError.batchReference(
        relationship, "\(identifier) is not an object that is saved in this store: save it first")
    }
    guard identifier.entity.rootEntity === relationship.destinationEntity.rootEntity else {
      throw HeartwoodError.batchReference(
        relationship, "\(identifier) is not \(relationship.destinationEntity.displayName)")
    }
    return ManagedObjectID(entity: identifier.entity, key: identifier.key.keyInStore, store: store)
  }

  /// A destination by a dictionary of unique values.
  private func unique(_ values: [String: Any], _ relationship: RelationshipDescription) throws
    -> BatchReference
  {
    let destination: EntityDescription = relationship.destinationEntity
    let names = Set(values.keys)
    guard let index = indexes(destination).first(where: { $0.isUnique && Set($0.propertyNames) == names })
    else {
      throw HeartwoodError.batchReference(
        relationship,
        "\(destination.displayName) has no uniqueness constraint of \(names.sorted().joined(separator: ", "))"
      )
    }
    return .unique(
      index,
      try zip(index.slots, index.propertyNames).map { slot, name in
        guard let own = destination.compiled.relationshipBySlot[slot] else {
          return .value(try destination.storedValue(values[name], at: slot))
        }
        guard let value = values[name], let reference = try reference(value, own) else {
          return .value(.null)
        }
        return .object(reference, own)
      })
  }

  /// A destination by the one value of its one uniqueness constraint.
  private func unique(_ value: Any, _ relationship: RelationshipDescription) throws -> BatchReference {
    let destination: EntityDescription = relationship.destinationEntity
    let candidates =
      constraints[ObjectIdentifier(relationship)] ?? Self.constraints(of: destination, indexes)
    guard candidates.count == 1 else {
      throw HeartwoodError.batchReference(
        relationship,
        "\(destination.displayName) has \(candidates.count) uniqueness constraints of one attribute: name the attributes, "
          + "in a dictionary, or give the identifier")
    }
    return .unique(candidates[0], [.value(try destination.storedValue(value, at: candidates[0].slots[0]))])
  }
}

extension EntityDescription {
  /// - Throws: `.managedObjectValidation` for a value that no row has.
  func checkedForRow(_ value: Value, at slot: Int) throws(HeartwoodError) -> Value {
    guard case .opaque(let held) = value else { return value }
    throw HeartwoodError.unencodable(
      nil, property(at: slot), held.refusal ?? "it is \(type(of: held.value))")
  }
}

extension HeartwoodError {
  static func batchReference(_ relationship: PropertyDescription, _ what: String) -> HeartwoodError {
    HeartwoodError(
      .managedObjectValidation, "\(relationship.displayName) cannot be set: \(what)",
      property: relationship.name)
  }

  static func batchTransient(_ property: PropertyDescription) -> HeartwoodError {
    HeartwoodError(
      .managedObjectValidation, "\(property.displayName) is transient: the store has no value of it",
      property: property.name)
  }

  /// The error of one row of a batch.
  func inRow(_ number: Int) -> HeartwoodError { withMessage("row \(number) of the batch: \(message)") }
}

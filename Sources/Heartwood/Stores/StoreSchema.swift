import HeartwoodBytes

/// A model with the numbers that a store assigned to its parts, prepared for reading and writing rows.
final class StoreSchema: Sendable {
  let model: ManagedObjectModel
  let record: SchemaRecord
  /// Indexed by the model's number; nil for numbers that no entity has.
  private let entities: [StoreEntity?]
  /// By the number that the store assigned.
  private let entitiesByNumber: [UInt16: StoreEntity]
  let indexes: [StoreIndex]
  /// The families of a migrated store's root entities, by the model's number of the root.
  private let families: [UInt16: RowFamily]
  /// The plan of derived attributes; nil if there are none.
  let derivations: DerivationPlan?
  /// Whether all numbers are the model's, and all rows are read in place.
  private let isPlain: Bool

  /// - Precondition: The record was made for the model, or has been compared with it.
  /// - Throws: `.persistentStoreDamaged` if the record has no number for a property, or an index on a
  ///   property that does not exist.
  init(_ model: ManagedObjectModel, _ record: SchemaRecord) throws(HeartwoodError) {
    self.model = model
    self.record = record
    derivations = try DerivationPlan(model)
    let entitiesByName = model.entitiesByName
    var indexes: [StoreIndex] = []
    for index in record.indexes {
      if let index = try Self.index(index, entitiesByName) { indexes.append(index) }
    }
    self.indexes = indexes
    var numbers: [PropertyName: UInt16] = [:]
    for entity in record.entities {
      for property in entity.properties {
        numbers[PropertyName(entity: entity.name, property: property.name)] = property.number
      }
    }
    let records = Dictionary(record.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var entities: [StoreEntity?] = []
    var entitiesByNumber: [UInt16: StoreEntity] = [:]
    for entity in model.entities {
      // A store of a configuration does not have the others.
      guard let stored = records[entity.displayName] else { continue }
      guard let root = records[entity.rootEntity.displayName]
      else { throw .damagedStore("the store has no number for \(entity.displayName)") }
      let number = Int(entity.number)
      while entities.count <= number { entities.append(nil) }
      let made = try StoreEntity(entity, stored, keyNumber: root.storage.keyNumber, numbers, indexes)
      entities[number] = made
      entitiesByNumber[stored.number] = made
    }
    self.entities = entities
    self.entitiesByNumber = entitiesByNumber
    let isPlain = entities.allSatisfy { $0?.isPlain != false }
    self.isPlain = isPlain
    hasFormerLayouts = record.hasDeferredWork || !isPlain && entities.contains { $0?.isRenumbered == true }
    families = isPlain ? [:] : try Self.families(entities)
  }

  /// Whether rows of former layouts may be in the store, which are converted when they are read.
  let hasFormerLayouts: Bool

  deinit {
    for family in families.values { family.deallocate() }
  }

  private static func families(_ entities: [StoreEntity?]) throws(HeartwoodError) -> [UInt16: RowFamily] {
    var members: [UInt16: [(EntityDescription, RowLayout, RowConversion?)]] = [:]
    for case let stored? in entities {
      members[stored.entity.rootEntity.number, default: []] += try stored.layouts()
    }
    return members.mapValues { RowFamily(stored: $0) }
  }

  /// The rows of a root entity's family, as this store has them.
  func family(of root: EntityDescription) -> RowFamily {
    isPlain ? root.compiled.family : families[root.number] ?? root.compiled.family
  }

  /// The number of a root entity in the keys of its family's rows.
  func keyNumber(of root: EntityDescription) -> UInt16 {
    isPlain ? root.number : entity(root).keyNumber
  }

  private static func index(
    _ index: SchemaRecord.Index, _ entities: [String: EntityDescription]
  ) throws(HeartwoodError) -> StoreIndex? {
    guard let entity = entities[index.entity] else { return nil }
    var slots: [Int] = []
    var expressions: [Int: IndexedExpression] = [:]
    for name in index.properties {
      if !name.isDottedName {
        let expression = try entity.compiled.indexedExpressions.expression(name, of: entity)
        expressions[expression.slot] = expression
        slots.append(expression.slot)
        continue
      }
      guard let slot = entity.slot(named: name) else {
        throw .damagedStore("the index \(index.name) is about \(index.entity).\(name), which does not exist")
      }
      slots.append(slot)
    }
    let isSuitable =
      expressions.isEmpty
      ? index.kind.suits(slots.map { entity.layout.columns[$0].kind }) : index.kind == .ordered
    guard isSuitable else {
      throw .damagedStore(
        "the index \(index.name) of \(index.entity) is of \(index.properties.joined(separator: ", ")), and its kind cannot be"
      )
    }
    return StoreIndex(
      number: index.number, name: index.name, entity: entity, slots: slots, kind: index.kind,
      expressions: expressions,
      condition: try index.condition.isEmpty ? nil : IndexCondition(index.condition, of: entity))
  }

  /// Whether the store has rows of an entity.
  func has(_ entity: EntityDescription) -> Bool {
    let number = Int(entity.number)
    return number < entities.count && entities[number] != nil
  }

  /// - Precondition: The entity is of this model or of an equal one, and the store has it.
  func entity(_ entity: EntityDescription) -> StoreEntity {
    let number = Int(entity.number)
    guard number < entities.count, let stored = entities[number] else {
      programError("\(entity.displayName) is not in the model of the store")
    }
    return stored
  }

  func entity(named name: String) -> StoreEntity? {
    entities.lazy.compactMap(\.self).first { $0.entity.displayName == name }
  }

  /// The entity with a number that the store assigned; nil if the model no longer has it.
  func entity(numbered number: UInt64) -> StoreEntity? {
    UInt16(exactly: number).flatMap { entitiesByNumber[$0] }
  }

  func index(numbered number: UInt16) -> StoreIndex? { indexes.first { $0.number == number } }

  /// The number under which a relationship's links, or an attribute's data outside of rows, are stored.
  func number(of property: PropertyDescription) -> UInt16 {
    guard let owner = property.entity else { programError("\(property.displayName) is in no entity") }
    return entity(owner).propertyNumbers[property.slot]
  }

  var rootEntities: [EntityDescription] {
    storedEntities.filter { $0.superentity == nil }
  }

  /// The entities that the store has, by their numbers in the model.
  var storedEntities: [EntityDescription] {
    model.entities.filter(has).sorted { $0.number < $1.number }
  }
}

struct PropertyName: Hashable {
  let entity: String
  let property: String
}

/// The index entries and links that a write to a row of an entity has to maintain, computed once.
final class StoreEntity: Sendable {
  let entity: EntityDescription
  /// The number that the store assigned, as in the history.
  let number: UInt16
  /// The number in the keys of the family's rows.
  let keyNumber: UInt16
  let storage: SchemaRecord.Storage
  /// By slot.
  let propertyNumbers: [UInt16]
  /// The indexes that cover the entity's rows.
  let indexes: [StoreIndex]
  /// To-one columns whose inverse is an unordered to-many relationship; its links are derived from them.
  let derivedLinks: [DerivedLink]
  /// To-one relationships whose inverse is an ordered to-many relationship; their values decide which orders the row is in.
  let orderedInverses: [RelationshipDescription]
  /// To-many relationships with entries of their own.
  let ownLinks: [RelationshipDescription]
  /// Slots of the relationships whose links the history and change sets have.
  let portableLinks: Set<Int>
  /// Slots of attributes whose values the history keeps after the row is deleted.
  let preservedSlots: [Int]
  /// Slots of attributes whose former and new values the history keeps.
  let updateSlots: Set<Int>
  private let slotsByNumber: [UInt16: Int]

  struct DerivedLink: Sendable {
    let column: Column
    /// The number of the to-many relationship.
    let relationship: UInt16
  }

  init(
    _ entity: EntityDescription, _ record: SchemaRecord.Entity, keyNumber: UInt16,
    _ numbers: [PropertyName: UInt16], _ indexes: [StoreIndex]
  ) throws(HeartwoodError) {
    func number(_ property: PropertyDescription) throws(HeartwoodError) -> UInt16 {
      let name = PropertyName(entity: property.entity?.displayName ?? "?", property: property.name)
      guard let number = numbers[name] else {
        throw .damagedStore("the store has no number for \(property.displayName)")
      }
      return number
    }

    self.entity = entity
    self.number = record.number
    self.keyNumber = keyNumber
    storage = record.storage
    let layout = entity.layout
    let properties = entity.slots.map(entity.property(at:))
    var propertyNumbers: [UInt16] = []
    for property in properties { propertyNumbers.append(try number(property)) }
    self.propertyNumbers = propertyNumbers
    var slots = Dictionary(
      propertyNumbers.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    for former in record.storage.formerProperties where slots[former.former] == nil {
      slots[former.former] = slots[former.property]
    }
    slotsByNumber = slots
    self.indexes = indexes.filter { entity.isKindOf(entity: $0.entity) }
    let relationships = entity.relationshipsBySlot
    var derivedLinks: [DerivedLink] = []
    for relationship in relationships where relationship.implementsLinks {
      guard let inverse = relationship.inverseRelationship else { continue }
      derivedLinks.append(
        DerivedLink(column: layout.columns[relationship.slot], relationship: try number(inverse)))
    }
    self.derivedLinks = derivedLinks
    orderedInverses = relationships.filter { $0.inverseRelationship?.isOrderOfToOne == true }
    ownLinks = relationships.filter(\.hasEntries)
    portableLinks = Set(relationships.filter(\.hasPortableLinks).map(\.slot))
    preservedSlots = properties.indices.filter {
      entity.isPreserved($0, by: \.preservesValueInHistoryOnDeletion)
    }
    updateSlots = Set(
      properties.indices.filter {
        // The elements of a composite attribute have its values.
        entity.compiled.composites[$0] == nil && entity.isPreserved($0, by: \.preservesValueInHistoryOnUpdate)
      })
  }

  /// A row of the model's layout as the store writes it.
  func numbered(_ row: [UInt8]) -> [UInt8] {
    guard storage.rowNumber != entity.number else { return row }
    var row = row
    row.store(storage.rowNumber, at: 0)
    return row
  }

  /// Whether the numbers in keys and rows are the model's, and all rows are read in place.
  fileprivate var isPlain: Bool {
    !isRenumbered && keyNumber == entity.rootEntity.number && storage.former.isEmpty
  }

  /// Whether the number in rows is not the model's.
  fileprivate var isRenumbered: Bool { storage.rowNumber != entity.number }

  /// Whether rows with this number in their header are as the store writes them now.
  func writes(_ rowNumber: UInt16) -> Bool { storage.rowNumber == rowNumber }

  /// All layouts of the entity's rows, with their conversion to the model's.
  fileprivate func layouts() throws(HeartwoodError) -> [(EntityDescription, RowLayout, RowConversion?)] {
    var layouts: [(EntityDescription, RowLayout, RowConversion?)] = []
    if storage.rowNumber == entity.number {
      layouts.append((entity, entity.layout, nil))
    } else {
      let layout = try RowLayout(
        entityNumber: storage.rowNumber, kinds: entity.layout.columns.map(\.kind), name: entity.displayName)
      layouts.append((entity, layout, RowConversion(to: entity.layout, [], isRenumbering: true)))
    }
    for former in storage.former {
      let (layout, conversion) = try former.conversion(to: entity, numbers: propertyNumbers)
      layouts.append((entity, layout, conversion))
    }
    return layouts
  }

  /// The largest number of entries that are derived from one row.
  var entryCount: Int { indexes.count + derivedLinks.count }

  func slot(ofProperty number: UInt64) -> Int? {
    UInt16(exactly: number).flatMap { slotsByNumber[$0] }
  }
}

extension RelationshipDescription {
  /// Whether the store has entries written for this relationship itself: links, or an order with ranks.
  var hasEntries: Bool { !isTransient && isToMany && (isOrdered || ownsLinks) }

  /// Whether a change set has its links: not those that follow from to-one relationships, and one side of those that have two.
  var hasPortableLinks: Bool {
    guard ownsLinks else { return false }
    guard let inverse = inverseRelationship else { return true }
    let (own, other) = (
      "\(entity?.displayName ?? "").\(name)", "\(inverse.entity?.displayName ?? "").\(inverse.name)"
    )
    return own <= other
  }

  /// Whether this is an ordered relationship whose destinations are those that refer back by a to-one relationship.
  var isOrderOfToOne: Bool {
    !isTransient && isToMany && isOrdered && inverseRelationship?.isToMany == false
  }

  /// Whether the links of the inverse are derived from this to-one relationship's values.
  var implementsLinks: Bool {
    guard !isTransient, !isToMany, let inverse = inverseRelationship else { return false }
    return inverse.isToMany && !inverse.isOrdered
  }
}

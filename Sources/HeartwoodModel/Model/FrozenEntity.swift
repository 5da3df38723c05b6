import HeartwoodBytes

/// The compiled form of an entity of a frozen model: numbers, slots, layout, classes.
///
/// - Invariant: The slots of an entity begin with those of its superentity, in the same order.
@usableFromInline package final class FrozenEntity: @unchecked Sendable {
  let number: UInt16
  @usableFromInline let root: EntityDescription
  @usableFromInline package let layout: RowLayout
  @usableFromInline package let properties: [PropertyDescription]
  let slotsByName: SlotsByName
  let keyPaths = KeyPathTable()
  @usableFromInline package let attributes: [AttributeDescription?]
  @usableFromInline let relationships: [RelationshipDescription]
  /// Those that are one-to-one: values of both rows.
  package let pairs: [RelationshipDescription]
  /// The stored to-one relationships whose inverse is to-many.
  package let memberships: [RelationshipDescription]
  /// By slot, so that getting a relationship needs no cast.
  package let relationshipBySlot: [RelationshipDescription?]
  /// The relationships that are only in memory.
  package let transientRelationships: [RelationshipDescription]
  /// The defaults of the model.
  @usableFromInline package let defaults: [Value]
  /// The values of a new object, by slot.
  @usableFromInline package let initialValues: [Value]
  package let transientSlots: [Int]
  /// The elements of composite attributes, by slot; those of a nested one are in an entry of its own.
  package let composites: [Int: [(name: String, slot: Int)]]
  /// By slot, the slot of the composite attribute that a column is an element of; empty if the entity has none.
  package let wholes: [Int?]
  /// The checks of an object at a save.
  package let checks: [PropertyCheck]
  /// The expressions of the indexes that cover the entity, as texts; those of superentities first.
  let indexedTexts: [String]
  /// The expressions that are made of these texts.
  let lateIndexedExpressions = LateObject()
  let versionHash: VersionHash
  /// The entity and all its subentities at any depth, by number.
  package let family: RowFamily
  /// The properties as the public API lists them: inherited ones first, each entity's in declaration order.
  let declaredProperties: [PropertyDescription]
  package let fetchedProperties: [String: FetchedPropertyDescription]
  @usableFromInline let factory: ObjectFactory
  /// The class's declarations of the attributes, by slot; nil for those that it does not declare.
  package let declarations: [DeclaredAttribute?]
  /// By slot, the declared type of values accessed by name, if it is not the attribute type's own Swift type.
  let convertedTypes: [(any AttributeValue.Type)?]
  /// By slot, the types of attributes that take values of usual types without a look at anything else: those that have a column of their own,
  /// and whose values no class, transformer or expression makes. Nil for other properties.
  let plainTypes: [AttributeType?]
  package let namedReaders: NamedReaders
  /// The slots of attributes whose defaults the class evaluates for each new object, such as `UUID()`, and the indexes of their wrappers.
  package let changingDefaults: [(slot: Int, reportIndex: Int)]
  package var hasChangingDefaults: Bool { !changingDefaults.isEmpty }
  /// How many wrappers an instance of the class has.
  let wrapperCount: Int

  /// - Parameter bound: The class of the objects; nil for one without declarations.
  init(
    _ entity: EntityDescription, number: UInt16, rootNumber: UInt16, properties: [PropertyDescription],
    defaults: [Value], layout: RowLayout, versionHash: VersionHash, family: RowFamily,
    bound: (any BoundObjectClass)?
  ) {
    self.number = number
    root = entity.topmost
    self.properties = properties
    self.layout = layout
    self.versionHash = versionHash
    self.family = family
    self.defaults = defaults
    indexedTexts = entity.lineage.flatMap { $0.indexes.flatMap { $0.elements.compactMap(\.expression) } }
    declaredProperties = entity.declaredProperties
    fetchedProperties = entity.fetchedPropertiesByName
    slotsByName = SlotsByName(properties.map(\.name))
    attributes = properties.map { $0 as? AttributeDescription }
    composites = EntityDescription.composites(properties)
    let wholes = EntityDescription.wholes(of: composites, slotCount: properties.count)
    self.wholes = wholes
    initialValues = defaults.indices.map { slot in
      EntityDescription.isElementOfNothing(slot, wholes) { defaults[$0].isNull } ? .null : defaults[slot]
    }
    transientSlots = properties.indices.filter { properties[$0].isTransient }
    relationshipBySlot = properties.map { $0 as? RelationshipDescription }
    relationships = relationshipBySlot.compactMap { $0 }
    pairs = relationships.filter(\.isOneToOne)
    memberships = relationships.filter {
      !$0.isTransient && !$0.isToMany && $0.inverseRelationship?.isToMany == true
    }
    transientRelationships = relationships.filter(\.isTransient)
    let declarations = bound?.declarations(properties) ?? properties.map { _ in nil }
    self.declarations = declarations
    factory = ObjectFactory(
      entity, bound?.accessTable(layout) ?? .empty, number: number, rootNumber: rootNumber,
      exposesRows: !transientSlots.contains { slot in
        declarations[slot]?.valueType._isOptional == true && !defaults[slot].isNull
      })
    let convertedTypes = EntityDescription.convertedTypes(declarations, attributes)
    self.convertedTypes = convertedTypes
    plainTypes = properties.indices.map { slot in
      guard let attribute = properties[slot] as? AttributeDescription, !attribute.isTransient,
        attribute.derivation == nil, convertedTypes[slot] == nil, wholes.isEmpty || wholes[slot] == nil,
        attribute.type != .composite, attribute.type != .transformable
      else { return nil }
      return attribute.type
    }
    checks = properties.enumerated().compactMap {
      PropertyCheck($1, slot: $0, converted: convertedTypes[$0])
    }
    namedReaders = NamedReaders(zip(convertedTypes, attributes).map { $0 ?? $1?.type.swiftType }, layout)
    changingDefaults = declarations.enumerated().compactMap { slot, declared in
      declared.flatMap { $0.hasChangingDefault ? (slot, $0.reportIndex) : nil }
    }.sorted { $0.reportIndex < $1.reportIndex }
    wrapperCount = declarations.lazy.compactMap { $0?.reportCount }.first ?? 0
  }
}

/// Access to the frozen contents.
extension EntityDescription {
  /// The frozen contents. The first use freezes the model.
  ///
  /// - Precondition: The entity is in a model, and the model is valid.
  @inlinable package var compiled: FrozenEntity {
    if let frozen { return frozen }
    return freezeNow()
  }

  @usableFromInline func freezeNow() -> FrozenEntity {
    guard let model else {
      programError("\(displayName) is in no model: add it to a ManagedObjectModel first")
    }
    do {
      try model.freeze()
    } catch {
      programError("\(error.message)")
    }
    guard let frozen else { programError("\(displayName) is not among the entities of its model") }
    return frozen
  }

  /// Whether the entity's model is in use.
  @inlinable package var isInUse: Bool { knownFactory != nil }

  /// Creates the entity's objects; available without reference counting.
  @inlinable package var factory: ObjectFactory { knownFactory ?? compiled.factory }
  @inlinable package var number: UInt16 { factory.number }
  @inlinable package var layout: RowLayout { compiled.layout }
  /// The topmost superentity. Rows are stored and keys are allocated by root entity.
  @inlinable package var rootEntity: EntityDescription { frozen?.root ?? topmost }
  /// The slots of all properties. Those of superentities come first, and are the same in every subentity.
  @inlinable package var slots: Range<Int> { 0..<compiled.properties.count }
  package var hasSubentities: Bool { !subentities.isEmpty }
  @inlinable package var relationshipsBySlot: [RelationshipDescription] { compiled.relationships }

  package func slot(named name: String) -> Int? { compiled.slotsByName[name] }
  @inlinable package func property(at slot: Int) -> PropertyDescription { compiled.properties[slot] }
  @inlinable package func attribute(at slot: Int) -> AttributeDescription? { compiled.attributes[slot] }
  @inlinable package func defaultValue(at slot: Int) -> Value { compiled.defaults[slot] }
  /// The value of a new object: an element of a composite attribute has its default only if the whole has a value.
  @inlinable package func initialValue(at slot: Int) -> Value { compiled.initialValues[slot] }

  /// - Precondition: The property at `slot` is a relationship.
  package func relationship(at slot: Int) -> RelationshipDescription {
    guard let relationship = compiled.relationshipBySlot[slot] else {
      programError("\(property(at: slot).displayName) is an attribute, not a relationship")
    }
    return relationship
  }

  /// This entity or a subentity, by its number in the store.
  ///
  /// - Throws: `.persistentStoreDamaged` if there is none with this number.
  package func entity(numbered number: UInt16) throws(HeartwoodError) -> EntityDescription {
    guard let entity = compiled.family.entity(number) else {
      throw .damagedRow(number, notIn: compiled.family)
    }
    return entity
  }
}

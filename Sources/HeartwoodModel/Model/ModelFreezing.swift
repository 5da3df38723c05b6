/// Checks a model and assigns numbers, slots and layouts to its entities.
///
/// Changes the model only after the whole model was found valid.
struct ModelFreezing {
  private let model: ManagedObjectModel
  private let checks: ModelChecks

  init(_ model: ManagedObjectModel) {
    self.model = model
    checks = ModelChecks(model)
  }

  func run() throws(HeartwoodError) {
    model.adoptCopiedRelationships()
    for entity in model.entities { entity.adoptIndexedProperties() }
    try checks.run()
    let classes = try boundClasses()
    let entities = model.entities.sorted { $0.displayName < $1.displayName }
    var layouts: [ObjectIdentifier: RowLayout] = [:]
    for (index, entity) in entities.enumerated() {
      layouts[ObjectIdentifier(entity)] = try RowLayout(
        entityNumber: UInt16(index + 1), properties: Self.propertiesInSlotOrder(entity),
        name: entity.displayName)
    }
    numberSlots(entities)
    for entity in entities {
      guard let layout = layouts[ObjectIdentifier(entity)] else { continue }
      entity.freeze(contents(entity, layout, classes[ObjectIdentifier(entity)], numbers: layouts))
    }
  }

  /// The superentity's properties first; those of one entity by name, so that the order of declarations does not affect
  /// rows.
  static func propertiesInSlotOrder(_ entity: EntityDescription) -> [PropertyDescription] {
    entity.lineage.flatMap(\.ownColumns)
  }

  private func numberSlots(_ entities: [EntityDescription]) {
    for entity in entities {
      for (slot, property) in Self.propertiesInSlotOrder(entity).enumerated() { property.slot = slot }
    }
  }

  private func boundClasses() throws(HeartwoodError) -> [ObjectIdentifier: any BoundObjectClass] {
    var classes: [ObjectIdentifier: any BoundObjectClass] = [:]
    for entity in model.entities {
      classes[ObjectIdentifier(entity)] = try entity.givenClass?.bound(to: entity)
    }
    return classes
  }

  private func contents(
    _ entity: EntityDescription, _ layout: RowLayout, _ bound: (any BoundObjectClass)?,
    numbers layouts: [ObjectIdentifier: RowLayout]
  ) -> FrozenEntity {
    let properties = Self.propertiesInSlotOrder(entity)
    assert(
      properties.starts(with: entity.superentity.map(Self.propertiesInSlotOrder) ?? []) { $0 === $1 },
      "\(entity.displayName) does not begin with the slots of its superentity")
    for case let attribute as AttributeDescription in entity.ownColumns {
      attribute.defaultStoredValue = checks.defaults[ObjectIdentifier(attribute)] ?? .null
    }
    let family = RowFamily(
      entity.selfAndBelow.compactMap { member in layouts[ObjectIdentifier(member)].map { (member, $0) } })
    return FrozenEntity(
      entity, number: layout.entityNumber,
      rootNumber: layouts[ObjectIdentifier(entity.topmost)]?.entityNumber ?? layout.entityNumber,
      properties: properties,
      defaults: properties.map { checks.defaults[ObjectIdentifier($0)] ?? .null },
      layout: layout, versionHash: VersionHash(entity), family: family, bound: bound)
  }
}

extension EntityDescription {
  /// The topmost superentity, or the entity itself.
  @usableFromInline var topmost: EntityDescription {
    var top = self
    while let parent = top.superentity { top = parent }
    return top
  }

  /// The entity and all its subentities at any depth, each before its own subentities.
  package var selfAndBelow: [EntityDescription] {
    var found: [EntityDescription] = []
    var waiting = [self]
    while let entity = waiting.popLast() {
      found.append(entity)
      waiting += entity.subentities.reversed()
    }
    return found
  }

  /// The entity and its superentities, the topmost first.
  package var lineage: [EntityDescription] {
    var upward: [EntityDescription] = []
    var next: EntityDescription? = self
    while let entity = next {
      upward.append(entity)
      next = entity.superentity
    }
    return upward.reversed()
  }
}

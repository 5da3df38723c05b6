extension ManagedObjectModel {
  /// The model that classes declare by `@Attribute` and `@Relationship`: one entity for each class, with the class's
  /// name. A class whose superclass is also among `types` becomes a subentity of the superclass's entity.
  ///
  /// - Parameters:
  ///   - types: The classes.
  ///   - configure: Changes the model before it is frozen, for what classes cannot declare.
  /// - Throws: `.coreData` with a message that names the class and the property, if the declarations are inconsistent,
  ///   and what `configure` throws.
  public convenience init(
    types: [ManagedObject.Type], configure: (ManagedObjectModel) throws(HeartwoodError) -> Void = { _ in }
  ) throws(HeartwoodError) {
    var building = try ModelBuilding(types)
    // If one of the next two steps throws, the model's deinit breaks the reference cycles between the entities.
    self.init(entities: building.entities.map(\.entity))
    try building.run()
    declarationNotes = building.notes
    try configure(self)
    try checkForUse()
  }
}

/// Builds the entities of classes.
private struct ModelBuilding {
  struct Part {
    let record: ClassRecord
    let entity: EntityDescription
    /// The properties that the entity declares itself: those of its class, and of superclasses that have no entity.
    var own: [PropertyRecord] = []
  }

  private(set) var entities: [Part] = []
  /// Declarations that are allowed, and probably not meant.
  private(set) var notes: [String] = []
  private var indexByClass: [ObjectIdentifier: Int] = [:]

  init(_ types: [ManagedObject.Type]) throws(HeartwoodError) {
    for type in types {
      guard type != ManagedObject.self else {
        throw .model("ManagedObject itself is no entity: list the classes that inherit from it")
      }
      guard indexByClass.updateValue(entities.count, forKey: ObjectIdentifier(type)) == nil else {
        throw .model("\(type) is listed twice")
      }
      let entity = EntityDescription(name: String(describing: type), managedObjectClass: type)
      entities.append(Part(record: try ClassRecord.of(type), entity: entity))
    }
  }

  mutating func run() throws(HeartwoodError) {
    for index in entities.indices {
      placeBelowSuperclass(index)
      addProperties(index)
    }
    for part in entities {
      for property in part.own { try connect(property, of: part) }
    }
    for part in entities {
      for property in part.own { try pair(property, of: part) }
    }
    noteForgottenInverses()
  }

  /// Notes relationships without an inverse that lead to each other: they are two, and not the two sides of one. They stay so, as stores
  /// of such classes have two.
  private mutating func noteForgottenInverses() {
    let alone = entities.flatMap { part in
      part.own.compactMap { property -> RelationshipDescription? in
        guard property.relationship?.isAlone == false, let found = description(property, of: part),
          found.inverseRelationship == nil
        else { return nil }
        return found
      }
    }
    for (place, one) in alone.enumerated() {
      for other in alone[(place + 1)...] where one.leadsBack(to: other) {
        notes.append(
          "\(one.displayName) and \(other.displayName) lead to each other and name no inverse, so that they are two relationships, and a "
            + "change of one does not change the other: write @Relationship(inverse: { $0.\(other.name) }) at \(one.displayName), or "
            + "@Relationship(inverse: nil) at one of them if that is meant")
      }
    }
  }

  private func placeBelowSuperclass(_ index: Int) {
    for ancestor in Superclasses(of: entities[index].record.type) {
      guard let parent = indexByClass[ObjectIdentifier(ancestor)] else { continue }
      entities[parent].entity.subentities.append(entities[index].entity)
      return
    }
  }

  private mutating func addProperties(_ index: Int) {
    let type = entities[index].record.type
    let parent = Superclasses(of: type).first { indexByClass[ObjectIdentifier($0)] != nil }
    var inherited: Set<ObjectIdentifier> = []
    if let parent { inherited = Set(([parent] + Superclasses(of: parent)).map { ObjectIdentifier($0) }) }
    entities[index].own = entities[index].record.properties.filter {
      !inherited.contains(ObjectIdentifier($0.declaring))
    }
    let entity = entities[index].entity
    let superclass = Superclasses(of: type).first { _ in true } ?? ManagedObject.self
    if type.renamed != superclass.renamed { entity.renamingIdentifier = type.renamed }
    entity.ownProperties = entities[index].own.map(Self.description)
    let inheritedFetches = Set(parent?.fetchedProperties.map(\.name) ?? [])
    entity.ownProperties += type.fetchedProperties.filter { !inheritedFetches.contains($0.name) }
    if type.uniquenessConstraints != parent?.uniquenessConstraints ?? [] {
      entity.uniquenessConstraints += type.uniquenessConstraints
    }
    if type.compoundIndexes != parent?.compoundIndexes ?? [] {
      addIndexes(type.compoundIndexes, to: entity, "by", .binary)
    }
    if type.rangeIndexes != parent?.rangeIndexes ?? [] {
      addIndexes(type.rangeIndexes, to: entity, "rangesOf", .rTree)
    }
    if type.partialIndexes != parent?.partialIndexes ?? [] {
      for declared in type.partialIndexes {
        let made = addIndex(declared.properties, to: entity, "some", .binary)
        made.setCondition(declared.condition)
      }
    }
    for property in entities[index].own {
      guard let options = property.attribute?.options else { continue }
      if options.contains(.unique) { entity.uniquenessConstraints.append([property.name]) }
      guard let description = entity.propertiesByName[property.name] else { continue }
      if options.contains(.indexed) {
        entity.indexes.append(
          FetchIndexDescription(
            name: "by\(property.name)", elements: [FetchIndexElementDescription(property: description)]))
      }
      if options.contains(.fullText) {
        entity.indexes.append(
          FetchIndexDescription(
            name: "wordsOf\(property.name)",
            elements: [FetchIndexElementDescription(property: description, collationType: .words)]))
      }
    }
  }

  /// - Parameter lists: The names of the properties of each index.
  private func addIndexes(
    _ lists: [[String]], to entity: EntityDescription, _ prefix: String,
    _ collation: FetchIndexElementDescription.CollationType
  ) {
    for names in lists { addIndex(names, to: entity, prefix, collation) }
  }

  @discardableResult
  private func addIndex(
    _ names: [String], to entity: EntityDescription, _ prefix: String,
    _ collation: FetchIndexElementDescription.CollationType
  ) -> FetchIndexDescription {
    let properties = entity.columnsByName
    let name = prefix + names.joined(separator: "And")
    // Several may be of the same properties, for other objects each.
    let others = entity.indexes.filter { $0.name == name || $0.name.hasPrefix(name + " ") }.count
    let index = FetchIndexDescription(
      name: others == 0 ? name : "\(name) \(others + 1)",
      elements: names.map { FetchIndexElementDescription($0, properties, collationType: collation) })
    entity.indexes.append(index)
    return index
  }

  private static func description(_ property: PropertyRecord) -> PropertyDescription {
    switch property.note {
    case .attribute(let record):
      let attribute = description(of: record)
      attribute.name = property.name
      attribute.isOptional = record.valueType._isOptional
      attribute.preservesValueInHistoryOnDeletion = record.options.contains(
        .preservesValueInHistoryOnDeletion)
      attribute.preservesValueInHistoryOnUpdate = record.options.contains(.preservesValueInHistoryOnUpdate)
      attribute.allowsExternalBinaryDataStorage = record.options.contains(.allowsExternalStorage)
      attribute.isTransient = record.options.contains(.transient)
      attribute.renamingIdentifier = record.formerName
      attribute.noteTransformer(of: record.valueType)
      attribute.validationRules = record.rules
      // A default that differs between objects stays in the class; the model cannot represent it.
      if !record.hasChangingDefault, attribute.type != .composite {
        attribute.defaultStoredValue = record.defaultValue
      }
      return attribute
    case .relationship(let record):
      let relationship = RelationshipDescription()
      relationship.name = property.name
      relationship.isOptional = record.count.isOptional
      relationship.minCount = record.shape == .toOne ? 0 : record.count.least
      relationship.maxCount = record.shape == .toOne ? 1 : record.count.greatest
      relationship.isOrdered = record.shape == .ordered
      relationship.deleteRule = record.deleteRule
      relationship.renamingIdentifier = record.formerName
      relationship.isTransient = record.isTransient
      return relationship
    }
  }

  private static func description(of record: AttributeRecord) -> AttributeDescription {
    guard let type = record.valueType.withoutOptional as? any CompositeValue.Type else {
      let derived = record.derivation == nil ? nil : DerivedAttributeDescription()
      derived?.derivationExpression = record.derivation ?? ""
      let attribute = derived ?? AttributeDescription()
      attribute.type = record.valueType.attributeType
      return attribute
    }
    let composite = CompositeAttributeDescription()
    composite.elements = type.makeElements(record.defaultValue)
    composite.defaultStoredValue = record.defaultValue.isNull ? .null : .bool(true)
    composite.attributeValueClassName = String(reflecting: type)
    return composite
  }

  /// Sets the destination of a relationship.
  private func connect(_ property: PropertyRecord, of part: Part) throws(HeartwoodError) {
    guard let record = property.relationship else { return }
    guard let index = indexByClass[ObjectIdentifier(record.destination)] else {
      throw .model(
        "\(part.entity.displayName).\(property.name) leads to \(record.destination), which is not among the "
          + "types of the model: add \(record.destination).self")
    }
    description(property, of: part)?.destinationEntity = entities[index].entity
  }

  /// Sets the inverse of a relationship, and of the inverse too if it names none: naming it on one side is enough.
  private func pair(_ property: PropertyRecord, of part: Part) throws(HeartwoodError) {
    guard let record = property.relationship, let closure = record.inverse,
      let relationship = description(property, of: part)
    else { return }
    let name = "\(part.entity.displayName).\(property.name)"
    let found = try PathResolution.inverse(of: record, name, closure)
    guard let inverse = relationship.destinationEntity.relationshipsByName[found.name] else {
      throw .model("the inverse of \(name), \(found.name), is no relationship of \(record.destination)")
    }
    relationship.inverseRelationship = inverse
    let namesNothing = found.relationship?.inverse == nil
    if namesNothing, inverse.inverseRelationship == nil {
      inverse.inverseRelationship = relationship
      // As with the inverse, saying it on one side is enough.
      if relationship.isTransient { inverse.isTransient = true }
    }
  }

  private func description(_ property: PropertyRecord, of part: Part) -> RelationshipDescription? {
    part.entity.ownProperties.first { $0.name == property.name } as? RelationshipDescription
  }
}

extension RelationshipDescription {
  /// Whether it and another relationship could be the two sides of one.
  fileprivate func leadsBack(to other: RelationshipDescription) -> Bool {
    guard let entity, let otherEntity = other.entity else { return false }
    let (there, back): (EntityDescription, EntityDescription) = (destinationEntity, other.destinationEntity)
    return (there.isKindOf(entity: otherEntity) || otherEntity.isKindOf(entity: there))
      && (back.isKindOf(entity: entity) || entity.isKindOf(entity: back))
  }
}

/// The superclasses of a class up to but without `ManagedObject`, the nearest first.
struct Superclasses: Sequence {
  private let classes: [ManagedObject.Type]

  init(of type: ManagedObject.Type) {
    var classes: [ManagedObject.Type] = []
    var next = _getSuperclass(type) as? ManagedObject.Type
    while let current = next, current != ManagedObject.self {
      classes.append(current)
      next = _getSuperclass(current) as? ManagedObject.Type
    }
    self.classes = classes
  }

  func makeIterator() -> some IteratorProtocol<ManagedObject.Type> { classes.makeIterator() }
}

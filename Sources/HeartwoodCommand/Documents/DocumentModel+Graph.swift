import Heartwood

extension DocumentModel {
  /// The model as a `ManagedObjectModel`. Every entity uses the class `ManagedObject`.
  ///
  /// - Throws: A data failure if a default value does not match its attribute.
  func graphModel() throws(CommandFailure) -> ManagedObjectModel {
    var descriptions: [String: EntityDescription] = [:]
    for entity in entities { descriptions[entity.name] = try entity.description() }
    let below = Dictionary(grouping: entities.filter { $0.superentity != nil }, by: { $0.superentity ?? "" })
    for entity in entities {
      guard let description = descriptions[entity.name] else { continue }
      description.subentities = (below[entity.name] ?? []).compactMap { descriptions[$0.name] }
      for relationship in entity.relationships {
        if let made = relationship.description(descriptions) { description.ownProperties.append(made) }
      }
    }
    for entity in entities { connect(entity, descriptions) }
    for entity in entities { addIndexes(entity, descriptions) }
    let model = try withRest(ManagedObjectModel(entities: entities.compactMap { descriptions[$0.name] }))
    model.keepsBytesWithoutTransformers()
    do {
      try model.checkExpressions()
    } catch {
      throw .data(error.message)
    }
    return model
  }

  private func connect(_ entity: DocumentEntity, _ descriptions: [String: EntityDescription]) {
    let own = descriptions[entity.name]?.ownRelationships ?? [:]
    for relationship in entity.relationships {
      guard let inverse = relationship.inverse else { continue }
      let others = lineage(of: relationship.destination).compactMap { ancestor in
        descriptions[ancestor.name]?.ownRelationships[inverse]
      }
      own[relationship.name]?.inverseRelationship = others.first
    }
  }

  private func addIndexes(_ entity: DocumentEntity, _ descriptions: [String: EntityDescription]) {
    func index(
      _ names: [String], _ prefix: String, _ type: FetchIndexElementDescription.CollationType
    ) -> FetchIndexDescription {
      let properties = descriptions[entity.name]?.columnsByName ?? [:]
      return FetchIndexDescription(
        name: prefix + names.joined(separator: ", "),
        elements: names.map { FetchIndexElementDescription($0, properties, collationType: type) })
    }
    let singles = entity.attributes.filter(\.isIndexed).map { [$0.name] }
    var indexes = (singles + entity.indexes).map { index($0, "by ", .binary) }
    indexes += entity.rangeIndexes.map { index($0, "ranges of ", .rTree) }
    for (number, partial) in entity.partialIndexes.enumerated() {
      let made = index(partial.properties, "some by ", partial.collation)
      made.name += " \(number + 1)"
      made.setCondition(partial.condition)
      indexes.append(made)
    }
    indexes += entity.attributes.flatMap(\.wordedNames).map { index([$0], "words of ", .words) }
    descriptions[entity.name]?.indexes = indexes
  }
}

extension DocumentEntity {
  /// The entity with its attributes. Relationships are added when all entities exist.
  fileprivate func description() throws(CommandFailure) -> EntityDescription {
    let description = EntityDescription()
    description.name = name
    description.renamingIdentifier = renamed
    description.isAbstract = isAbstract
    for attribute in attributes { description.ownProperties.append(try attribute.description(of: name)) }
    description.uniquenessConstraints =
      attributes.filter(\.isUnique).map { [$0.name] } + uniquenessConstraints
    return description
  }
}

extension DocumentAttribute {
  /// The full names of the attribute and of its elements, as far as these have an index of words.
  fileprivate var wordedNames: [String] {
    (hasFullTextIndex ? [name] : []) + elements.flatMap(\.wordedNames).map { "\(name).\($0)" }
  }

  fileprivate func description(of entity: String) throws(CommandFailure) -> AttributeDescription {
    let description = try emptyDescription(of: "\(entity).\(name)")
    description.name = name
    description.renamingIdentifier = renamed
    description.isOptional = isOptional
    description.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    description.preservesValueInHistoryOnUpdate = preservesValueInHistoryOnUpdate
    description.isTransient = isTransient
    description.allowsExternalBinaryDataStorage = allowsExternalStorage
    if let defaultValue {
      let place = JSONPlace(path: "\(entity).\(name).default", value: defaultValue)
      description.defaultValue = try AttributeReading.value(of: place, as: self)
    }
    return description
  }

  private func emptyDescription(of path: String) throws(CommandFailure) -> AttributeDescription {
    guard type == .composite else {
      let derived = derivation == nil ? nil : DerivedAttributeDescription()
      derived?.derivationExpression = derivation ?? ""
      let description = derived ?? AttributeDescription()
      description.type = type.attributeType
      description.valueTransformerName = transformer
      description.attributeValueClassName = valueClass
      return description
    }
    let composite = CompositeAttributeDescription()
    composite.attributeValueClassName = valueClass
    for element in elements { composite.elements.append(try element.description(of: path)) }
    return composite
  }
}

extension DocumentRelationship {
  fileprivate func description(_ entities: [String: EntityDescription]) -> RelationshipDescription? {
    guard let entity = entities[destination] else { return nil }
    let description = RelationshipDescription(
      name: name, destination: entity, isToMany: isToMany, isOrdered: isOrdered,
      deleteRule: deleteRule.graphRule)
    description.renamingIdentifier = renamed
    description.isOptional = isOptional
    description.isTransient = isTransient
    description.minCount = minimumCount
    if isToMany { description.maxCount = maximumCount }
    return description
  }
}

extension EntityDescription {
  fileprivate var ownRelationships: [String: RelationshipDescription] {
    let pairs = ownProperties.compactMap { property in
      (property as? RelationshipDescription).map { ($0.name, $0) }
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }
}

extension DocumentType {
  var attributeType: AttributeDescription.AttributeType {
    switch self {
    case .string: .string
    case .integer16: .integer16
    case .integer32: .integer32
    case .integer64: .integer64
    case .double: .double
    case .float: .float
    case .decimal: .decimal
    case .boolean: .boolean
    case .date: .date
    case .data: .binaryData
    case .uuid: .uuid
    case .uri: .uri
    case .composite: .composite
    case .transformable: .transformable
    case .undefined: .undefined
    }
  }

  init?(_ type: AttributeDescription.AttributeType) {
    guard let match = DocumentType.allCases.first(where: { $0.attributeType == type }) else { return nil }
    self = match
  }
}

extension DocumentDeleteRule {
  var graphRule: DeleteRule {
    switch self {
    case .nullify: .nullifyDeleteRule
    case .cascade: .cascadeDeleteRule
    case .deny: .denyDeleteRule
    case .noAction: .noActionDeleteRule
    }
  }

  init(_ rule: DeleteRule) {
    self = DocumentDeleteRule.allCases.first { $0.graphRule == rule } ?? .nullify
  }
}

/// Makes a model of its stored form.
extension ModelDocument {
  /// Sets the contents of empty entities, one for each encoded entity. Freezing checks the result.
  ///
  /// The entities are in a model already; if this throws, the model's deinit breaks their reference cycles.
  ///
  /// - Throws: `.coreData` if a name is unknown, or a type or a value is invalid.
  package func fill(_ fresh: [EntityDescription]) throws(HeartwoodError) {
    guard formatVersion == 1 else {
      throw .model("it has format version \(formatVersion), which this version does not know")
    }
    let byName = Dictionary(zip(entities.map(\.name), fresh), uniquingKeysWith: { _, last in last })
    for (part, entity) in zip(entities, fresh) { try part.fill(entity) }
    for (part, entity) in zip(entities, fresh) {
      if let parent = part.superentity {
        try found(byName[parent], parent, by: part.name).subentities.append(entity)
      }
      try part.connect(entity, byName)
    }
    for (part, entity) in zip(entities, fresh) { try part.addIndexes(to: entity) }
  }
}

/// - Parameter user: The name of the user, for the message.
private func found<Found>(_ something: Found?, _ name: String, by user: String) throws(HeartwoodError)
  -> Found
{
  guard let something else { throw .model("\(user) names \"\(name)\", which is not in the model") }
  return something
}

extension ModelDocument.Entity {
  fileprivate func fill(_ entity: EntityDescription) throws(HeartwoodError) {
    entity.managedObjectClassName = className
    entity.isAbstract = isAbstract
    entity.renamingIdentifier = renamingIdentifier
    entity.versionHashModifier = versionHashModifier
    entity.userInfo = userInfo
    entity.uniquenessConstraints = uniquenessConstraints
    entity.modelFile = modelFile
    var made: [PropertyDescription] = []
    for property in properties { made.append(try property.makeProperty()) }
    entity.ownProperties = made
  }

  /// Sets the destinations and inverses of relationships.
  fileprivate func connect(
    _ entity: EntityDescription, _ byName: [String: EntityDescription]
  ) throws(HeartwoodError) {
    for (part, property) in zip(properties, entity.ownProperties) {
      guard let written = part.relationship, let relationship = property as? RelationshipDescription else {
        continue
      }
      relationship.destinationEntity = try found(
        byName[written.destination], written.destination, by: property.displayName)
      guard let inverse = written.inverse else { continue }
      guard inverse.count == 2 else {
        throw .model("the inverse of \(property.displayName) is \(inverse)")
      }
      let owner = try found(byName[inverse[0]], inverse[0], by: property.displayName)
      let back = owner.ownProperties.first { $0.name == inverse[1] } as? RelationshipDescription
      relationship.inverseRelationship = try found(
        back, inverse.joined(separator: "."), by: property.displayName)
    }
  }

  fileprivate func addIndexes(to entity: EntityDescription) throws(HeartwoodError) {
    guard !entity.inheritsFromItself else { throw .model("\(name) inherits from itself") }
    let named = entity.columnsByName
    var made: [FetchIndexDescription] = []
    for index in indexes {
      let user = "the index \(index.name) of \(name)"
      guard index.properties.count == index.isAscending.count else {
        throw .model("\(user) is incomplete")
      }
      let collation = index.collation.map(FetchIndexElementDescription.CollationType.init(documentName:))
      guard let collation = collation ?? .binary else {
        throw .model(
          "\(user) is of the kind \(index.collation ?? "?"), which this version does not know"
        )
      }
      var elements: [FetchIndexElementDescription] = []
      let types = index.expressionTypes ?? index.properties.map { _ in "" }
      guard types.count == index.properties.count else {
        throw .model("\(user) is incomplete")
      }
      for (place, (property, isAscending)) in zip(index.properties, index.isAscending).enumerated() {
        if !types[place].isEmpty {
          elements.append(
            FetchIndexElementDescription(
              expressionText: property,
              type: try found(AttributeType(name: types[place]), types[place], by: user),
              collationType: collation, isAscending: isAscending))
          continue
        }
        elements.append(
          FetchIndexElementDescription(
            property: try found(named[property], property, by: user), collationType: collation,
            isAscending: isAscending
          ))
      }
      let description = FetchIndexDescription(name: index.name, elements: elements)
      description.setCondition(index.condition)
      made.append(description)
    }
    entity.indexes = made
  }
}

extension FetchIndexElementDescription.CollationType {
  /// The name in an encoded model; nil for the usual one.
  var documentName: String? {
    switch self {
    case .binary: nil
    case .rTree: "ranges"
    case .words: "words"
    }
  }

  fileprivate init?(documentName: String) {
    switch documentName {
    case "words": self = .words
    case "ranges": self = .rTree
    default: return nil
    }
  }
}

extension ModelDocument.Property {
  fileprivate func makeProperty() throws(HeartwoodError) -> PropertyDescription {
    let property: PropertyDescription
    switch (attribute, relationship, fetched) {
    case (let written?, nil, nil): property = try makeAttribute(written)
    case (nil, let written?, nil): property = try makeRelationship(written)
    case (nil, nil, let written?):
      let made = FetchedPropertyDescription()
      made.template = written
      property = made
    default:
      throw .model("the property \(name) is not one of attribute, relationship and fetched property")
    }
    property.name = name
    property.isOptional = isOptional
    property.isTransient = isTransient ?? false
    property.renamingIdentifier = renamingIdentifier
    property.versionHashModifier = versionHashModifier
    property.userInfo = userInfo
    property.modelFile = modelFile
    return property
  }

  private func makeAttribute(_ written: ModelDocument.Attribute) throws(HeartwoodError)
    -> AttributeDescription
  {
    let composite = written.elements == nil ? nil : CompositeAttributeDescription()
    let derived = written.derivationExpression == nil ? nil : DerivedAttributeDescription()
    derived?.derivationExpression = written.derivationExpression ?? ""
    guard composite == nil || derived == nil else {
      throw .model("\(name) is derived: an attribute of type composite cannot be")
    }
    let attribute = composite ?? derived ?? AttributeDescription()
    try composite?.fill(written.elements ?? [])
    attribute.type = try found(AttributeType(name: written.type), written.type, by: name)
    attribute.preservesValueInHistoryOnDeletion = written.preservesValueInHistoryOnDeletion
    attribute.preservesValueInHistoryOnUpdate = written.preservesValueInHistoryOnUpdate ?? false
    attribute.allowsExternalBinaryDataStorage = written.allowsExternalBinaryDataStorage
    attribute.validationRules = written.validationRules ?? []
    attribute.valueTransformerName = written.valueTransformerName
    attribute.attributeValueClassName = written.valueClassName
    if let text = written.defaultValue {
      guard let value = Value(plainText: text, type: attribute.type) else {
        throw .model("the default value of \(name), \"\(text)\", is no \(attribute.type)")
      }
      attribute.defaultStoredValue = value
    }
    return attribute
  }

  private func makeRelationship(
    _ written: ModelDocument.Relationship
  ) throws(HeartwoodError) -> RelationshipDescription {
    let relationship = RelationshipDescription()
    guard let rule = DeleteRule(rawValue: written.deleteRule) else {
      throw .model("the delete rule of \(name) is \(written.deleteRule)")
    }
    relationship.deleteRule = rule
    relationship.minCount = written.minCount
    relationship.maxCount = written.maxCount
    relationship.isOrdered = written.isOrdered
    return relationship
  }
}

extension CompositeAttributeDescription {
  fileprivate func fill(_ written: [ModelDocument.Property]) throws(HeartwoodError) {
    var made: [AttributeDescription] = []
    for element in written {
      guard let attribute = try element.makeProperty() as? AttributeDescription else {
        throw .model("\(element.name), an element of a composite attribute, is no attribute")
      }
      made.append(attribute)
    }
    elements = made
  }
}

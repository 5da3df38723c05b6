import Heartwood

extension DocumentModel {
  /// Creates the model of a store, to print it or to check a file against it.
  init(_ model: ManagedObjectModel) {
    let byName = model.entitiesByName
    self.init(
      entities: byName.keys.sorted().compactMap { name in byName[name].map { DocumentEntity($0, name: name) }
      })
    takeRest(of: model)
  }
}

extension DocumentEntity {
  fileprivate init(_ entity: EntityDescription, name: String) {
    self.init(name: name)
    renamed = entity.formerName
    superentity = entity.superentity?.name
    isAbstract = entity.isAbstract
    let whole = entity.indexes.filter { $0.condition == nil }
    let groups = whole.filter { $0.collationType == .binary }.map {
      $0.elements.map(\.path)
    }
    let texts = whole.filter { $0.collationType == .words }.compactMap {
      $0.elements.first?.path
    }
    for property in entity.ownProperties {
      if let attribute = property as? AttributeDescription {
        let indexed = groups.contains([attribute.name])
        var made = DocumentAttribute(attribute, isIndexed: indexed, unique: entity.uniquenessConstraints)
        made.noteFullTextIndexes(texts)
        attributes.append(made)
      } else if let relationship = property as? RelationshipDescription {
        relationships.append(DocumentRelationship(relationship))
      }
    }
    let own = Set(attributes.map(\.name))
    rangeIndexes = whole.filter { $0.collationType == .rTree }.map {
      $0.elements.map(\.path)
    }
    partialIndexes = entity.indexes.compactMap { index in
      index.condition.map { condition in
        let kind = DocumentPartialIndex.Kind.allCases.first {
          DocumentPartialIndex(properties: [], condition: "", kind: $0).collation == index.collationType
        }
        return DocumentPartialIndex(
          properties: index.elements.map(\.path), condition: condition, kind: kind ?? .values)
      }
    }
    indexes = groups.filter { $0.count > 1 || !own.isSuperset(of: $0) }
    uniquenessConstraints = entity.uniquenessConstraints.filter { $0.count > 1 || !own.isSuperset(of: $0) }
  }
}

extension DocumentAttribute {
  /// - Parameters:
  ///   - names: The full names of the attributes with an index of words.
  ///   - prefix: The part that the full name has before the attribute's own.
  fileprivate mutating func noteFullTextIndexes(_ names: [String], _ prefix: String = "") {
    hasFullTextIndex = names.contains(prefix + name)
    for place in elements.indices { elements[place].noteFullTextIndexes(names, prefix + name + ".") }
  }

  fileprivate init(_ attribute: AttributeDescription, isIndexed: Bool, unique: [[String]]) {
    self.init(name: attribute.name, type: DocumentType(attribute.type) ?? .string)
    transformer = attribute.valueTransformerName
    valueClass = attribute.attributeValueClassName
    renamed = attribute.formerName
    isOptional = attribute.isOptional
    isUnique = unique.contains([attribute.name])
    self.isIndexed = isIndexed
    preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
    preservesValueInHistoryOnUpdate = attribute.preservesValueInHistoryOnUpdate
    isTransient = attribute.isTransient
    allowsExternalStorage = attribute.allowsExternalBinaryDataStorage
    derivation = attribute.derivation
    elements =
      (attribute as? CompositeAttributeDescription)?.elements.map {
        DocumentAttribute($0, isIndexed: false, unique: [])
      } ?? []
    let value = CellValue(attribute: attribute.defaultValue)
    // That of a composite attribute is made of those of its elements.
    if value != .null, type != .composite { defaultValue = value.json }
  }
}

extension DocumentRelationship {
  fileprivate init(_ relationship: RelationshipDescription) {
    self.init(name: relationship.name, destination: relationship.destinationEntity.name ?? "")
    renamed = relationship.formerName
    isToMany = relationship.isToMany
    isOrdered = relationship.isOrdered
    isOptional = relationship.isOptional
    minimumCount = relationship.minCount
    maximumCount = relationship.isToMany ? relationship.maxCount : 0
    inverse = relationship.inverseRelationship?.name
    deleteRule = DocumentDeleteRule(relationship.deleteRule)
    isTransient = relationship.isTransient
  }
}

import Foundation
import Heartwood

/// The model of a container's graph, and the classes of its entities.
final class ModelRegistry: @unchecked Sendable {
  let schema: Schema
  let model: ManagedObjectModel
  let oneWayRelationships: OneWayRelationships
  private let classes: [ObjectIdentifier: ModelClass]
  private let entities: [ObjectIdentifier: EntityDescription]
  /// The hashes of the names of the relationships with an inverse, by classes.
  private let invertible: [ObjectIdentifier: Set<UInt64>]

  /// - Throws: `SwiftDataError.loadIssueModelContainer`, with what is wrong in the schema.
  convenience init(_ schema: Schema) throws { self.init(schema, try GraphModel(schema).model) }

  /// - Parameter model: One with an entity for each class of the schema.
  init(_ schema: Schema, _ model: ManagedObjectModel) {
    self.schema = schema
    self.model = model
    var classes: [ObjectIdentifier: ModelClass] = [:]
    var entities: [ObjectIdentifier: EntityDescription] = [:]
    var invertible: [ObjectIdentifier: Set<UInt64>] = [:]
    for (name, type) in schema.types {
      guard let entity = model.entitiesByName[name] else { continue }
      classes[ObjectIdentifier(entity)] = ModelClass.of(type)
      entities[ObjectIdentifier(type)] = entity
      invertible[ObjectIdentifier(type)] = Set(
        entity.relationshipsByName.filter { $0.value.inverseRelationship != nil }.keys.map {
          _PropertyHash.of($0)
        })
    }
    self.classes = classes
    self.entities = entities
    self.invertible = invertible
    oneWayRelationships = OneWayRelationships(of: model)
  }

  func modelClass(of entity: EntityDescription) -> ModelClass? { classes[ObjectIdentifier(entity)] }
  func entity(of type: any PersistentModel.Type) -> EntityDescription? { entities[ObjectIdentifier(type)] }

  /// Whether a relationship of a class has an inverse.
  func hasInverse(_ relationship: ModelProperty, of type: any PersistentModel.Type) -> Bool {
    invertible[ObjectIdentifier(type)]?.contains(relationship.hash) == true
  }
}

/// Makes the model of a schema.
struct GraphModel {
  let model = ManagedObjectModel()
  private var made: [String: EntityDescription] = [:]

  /// - Parameter objectClass: The class of the objects of each entity.
  init(_ schema: Schema, objectClass: ManagedObject.Type = _ModelObject.self) throws {
    for entity in schema.entities { made[entity.name] = try Self.entity(entity, objectClass) }
    for entity in schema.entities {
      guard let own = made[entity.name] else { continue }
      own.subentities = schema.entities.filter { $0.superentityName == entity.name }.compactMap {
        made[$0.name]
      }
      try connect(entity, own)
    }
    for entity in schema.entities { Self.addIndexes(entity, made[entity.name]) }
    model.entities = schema.entities.compactMap { made[$0.name] }
    model.versionIdentifiers = [schema.version.description]
  }

  private static func entity(_ entity: Schema.Entity, _ objectClass: ManagedObject.Type) throws
    -> EntityDescription
  {
    let made = EntityDescription()
    made.name = entity.name
    made.useClass(objectClass)
    made.ownProperties = try entity.storedProperties.map { try property($0, entity) }
    return made
  }

  private static func property(_ property: any SchemaProperty, _ entity: Schema.Entity) throws
    -> PropertyDescription
  {
    let made: PropertyDescription
    switch property {
    case let attribute as Schema.Attribute: made = try description(of: attribute, entity)
    case let relationship as Schema.Relationship:
      guard relationship.isToOneRelationship || !relationship.isUnique else {
        throw SwiftDataError(
          .loadIssueModelContainer,
          "\(entity.name).\(relationship.name) leads to several models, which cannot be unique: remove .unique"
        )
      }
      guard relationship.isToOneRelationship || relationship.maximumModelCount != 1 else {
        throw SwiftDataError(
          .loadIssueModelContainer,
          "\(entity.name).\(relationship.name) leads to several models, of which there may be only one: declare it as one optional model, or without maximumModelCount"
        )
      }
      made = description(of: relationship)
    default:
      throw SwiftDataError(
        .loadIssueModelContainer, "\(entity.name).\(property.name) is neither attribute nor relationship")
    }
    made.name = property.name
    made.isOptional = property.isOptional
    made.isTransient = property.isTransient
    if property.originalName != property.name { made.renamingIdentifier = property.originalName }
    return made
  }

  private static func description(
    of attribute: Schema.Attribute, _ entity: Schema.Entity
  ) throws -> AttributeDescription {
    let transformer = attribute.options.first { $0.kind == .transformable }?.transformerName
    guard
      let coding = ValueCodings.coding(
        of: attribute.valueType, transformer: transformer, isEncoded: attribute.has(.codable))
    else {
      throw SwiftDataError(
        .loadIssueModelContainer,
        "\(entity.name).\(attribute.name) is of type \(attribute.valueType), which cannot be stored: \(advice(attribute.valueType))"
      )
    }
    let made: AttributeDescription
    if let elements = coding.elements {
      let composite = CompositeAttributeDescription()
      composite.elements = elements.map { element($0) }
      made = composite
    } else {
      made = AttributeDescription()
      made.type = coding.attributeType
    }
    made.allowsExternalBinaryDataStorage = attribute.has(.externalStorage) && made.type == .binaryData
    made.preservesValueInHistoryOnDeletion = attribute.has(.preserveValueOnDeletion)
    made.versionHashModifier = attribute.hashModifier
    if let value = attribute.defaultValue, let stored = coding.stored(any: value) { setDefault(stored, made) }
    return made
  }

  private static func advice(_ type: any Any.Type) -> String {
    type == AttributedString.self || type == AttributedString?.self
      ? "Foundation of this system does not encode it; store its text, or mark the property with @Transient"
      : "make the type Codable, or mark the property with @Transient"
  }

  private static func setDefault(_ stored: _Value, _ attribute: AttributeDescription) {
    guard let composite = attribute as? CompositeAttributeDescription, case .list(let values) = stored else {
      return attribute.setDefault(stored)
    }
    composite.setDefault(.bool(true))
    for (element, value) in zip(composite.elements, values) { setDefault(value, element) }
  }

  private static func element(_ element: CompositeElementCoding) -> AttributeDescription {
    let made: AttributeDescription
    if let elements = element.coding.elements {
      let composite = CompositeAttributeDescription()
      composite.elements = elements.map { Self.element($0) }
      made = composite
    } else {
      made = AttributeDescription()
      made.type = element.coding.attributeType
    }
    made.name = element.name
    made.isOptional = true
    return made
  }

  private static func description(of relationship: Schema.Relationship) -> RelationshipDescription {
    let made = RelationshipDescription()
    made.deleteRule = relationship.deleteRule.rule
    made.minCount = relationship.minimumModelCount ?? 0
    made.maxCount = relationship.isToOneRelationship ? 1 : relationship.maximumModelCount ?? 0
    made.versionHashModifier = relationship.hashModifier
    return made
  }

  private func connect(_ entity: Schema.Entity, _ own: EntityDescription) throws {
    for case let relationship as Schema.Relationship in entity.storedProperties {
      guard let made = own.relationshipsByName[relationship.name] else { continue }
      guard let destination = self.made[relationship.destination] else {
        throw SwiftDataError(
          .loadIssueModelContainer,
          "\(entity.name).\(relationship.name) leads to \(relationship.destination), which is not in the schema"
        )
      }
      made.destinationEntity = destination
      if let name = relationship.inverseName { made.inverseRelationship = inverse(name, destination) }
    }
  }

  private func inverse(_ name: String, _ destination: EntityDescription) -> RelationshipDescription? {
    for entity in sequence(first: destination, next: \.superentity) {
      if let found = entity.ownProperties.first(where: { $0.name == name }) as? RelationshipDescription {
        return found
      }
    }
    return nil
  }

  private static func addIndexes(_ entity: Schema.Entity, _ made: EntityDescription?) {
    guard let made else { return }
    made.uniquenessConstraints = entity.uniquenessConstraints
    let columns = made.columnsByName
    func elements(_ names: [String], _ type: FetchIndexElementDescription.CollationType)
      -> [FetchIndexElementDescription]
    {
      names.compactMap { columns[$0] }.map {
        FetchIndexElementDescription(property: $0, collationType: type)
      }
    }
    made.indexes =
      entity.indices.map {
        FetchIndexDescription(name: $0.joined(separator: "_"), elements: elements($0, .binary))
      }
      + entity.rangeIndices.map {
        FetchIndexDescription(name: "range_" + $0.joined(separator: "_"), elements: elements($0, .rTree))
      }
  }
}

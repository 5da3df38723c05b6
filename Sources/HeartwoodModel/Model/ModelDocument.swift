import Foundation
import HeartwoodArchives

/// A model as bytes: stored with the data, so that a store can be read without the program's classes.
extension ManagedObjectModel {
  /// The whole model: entities, properties, defaults, indexes, constraints. Equal models have equal bytes.
  ///
  /// - Parameter names: The entities that the form has; nil for all, with the configurations.
  package func encoded(_ names: Set<String>? = nil) throws(HeartwoodError) -> [UInt8] {
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return [UInt8](try encoder.encode(ModelDocument(self).restricted(to: names)))
    } catch {
      throw HeartwoodError(.coreData, "the model cannot be written: \(error)", underlying: error)
    }
  }

  /// The model that `encoded()` wrote, frozen. Its objects are plain `ManagedObject`s, unless `prepare` sets their classes.
  ///
  /// - Throws: `.persistentStoreDamaged` if the bytes are not a model, or not a valid one.
  package convenience init(
    decoding bytes: UnsafeRawBufferPointer, prepare: ((ManagedObjectModel) -> Void)? = nil
  ) throws(HeartwoodError) {
    let document: ModelDocument
    do {
      document = try JSONDecoder().decode(ModelDocument.self, from: Data(bytes))
    } catch {
      throw .damagedModel(DecodingText.text(of: error))
    }
    self.init(entities: document.entities.map { EntityDescription(named: $0.name) })
    isReadFromStore = true
    do {
      try document.fill(entities)
      removeForeignFetchedProperties()
      versionIdentifiers = Set(document.versionIdentifiers)
      fetchRequestTemplates = document.fetchRequests ?? [:]
      entityNamesByConfiguration = document.configurations ?? [:]
      prepare?(self)
      try freeze()
    } catch {
      throw .damagedModel(error.message)
    }
  }

  /// Of the model of a configuration's store: a fetched property may lead to entities of other stores, and has no part in what is stored.
  private func removeForeignFetchedProperties() {
    let names = Set(entities.map(\.displayName))
    for entity in entities {
      entity.ownProperties.removeAll { property in
        (property as? FetchedPropertyDescription)?.template.map { !names.contains($0.entityName) } ?? false
      }
    }
  }

  /// The first difference that affects the rows of the two models, for messages; nil if there is none.
  func firstDifference(from stored: ManagedObjectModel) -> String? {
    let mine = entitiesByName
    let theirs = stored.entitiesByName
    for name in Set(mine.keys).union(theirs.keys).sorted() {
      guard let entity = mine[name] else {
        return "the store has an entity \(name), which the model does not have"
      }
      guard let other = theirs[name] else {
        return "the model has an entity \(name), which the store does not have"
      }
      guard entity.compiled.versionHash != other.compiled.versionHash else { continue }
      return entity.firstDifference(from: other)
    }
    return nil
  }
}

extension EntityDescription {
  fileprivate func firstDifference(from stored: EntityDescription) -> String {
    let mine = Dictionary(ownColumns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let theirs = Dictionary(
      stored.ownColumns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for name in Set(mine.keys).union(theirs.keys).sorted() {
      guard let property = mine[name] else {
        return "\(displayName).\(name) is in the store, but not in the model"
      }
      guard let other = theirs[name] else {
        return "\(displayName).\(name) is in the model, but not in the store"
      }
      if property.shape != other.shape {
        return "\(property.displayName) is \(property.shape) in the model, but \(other.shape) in the store"
      }
    }
    if superentity?.name != stored.superentity?.name {
      return "\(displayName) inherits from \(superentity?.displayName ?? "nothing") in the model, "
        + "but from \(stored.superentity?.displayName ?? "nothing") in the store"
    }
    if Set(uniquenessConstraints) != Set(stored.uniquenessConstraints) {
      return "\(displayName) has other uniqueness constraints in the model than in the store"
    }
    return "\(displayName) differs between model and store"
  }
}

extension PropertyDescription {
  /// The characteristics that affect rows, for messages.
  fileprivate var shape: String {
    let optional = (isTransient ? "transient " : "") + (isOptional ? "optional " : "")
    if let attribute = self as? AttributeDescription { return "\(optional)\(attribute.type)" }
    guard let relationship = self as? RelationshipDescription else { return optional }
    let kind = relationship.isOrdered ? "ordered to-many" : relationship.isToMany ? "to-many" : "to-one"
    let inverse = relationship.inverseRelationship.map { ", inverse \($0.name)" } ?? ", without inverse"
    return "\(optional)\(kind) to \(relationship.destinationEntity.displayName) "
      + "(\(relationship.minCount) to \(relationship.maxCount))\(inverse)"
  }
}

extension HeartwoodError {
  package static func damagedModel(_ message: String) -> HeartwoodError {
    damagedStore("the model in the store cannot be read: \(message)")
  }
}

/// The encoded form of a model: JSON with sorted keys.
package struct ModelDocument: Codable {
  var formatVersion = 1
  package var versionIdentifiers: [String]
  package var entities: [Entity]
  /// Nil if there are none, also in models of earlier versions.
  package var fetchRequests: [String: FetchRequestTemplate]?
  /// The names of the entities of each configuration. Nil if there are none, also in models of earlier versions.
  package var configurations: [String: [String]]?
  /// See `ManagedObjectModel.modelFile`. Not stored.
  package var modelFile: [String: String]?
  /// The same for configurations.
  package var configurationFiles: [String: [String: String]]?

  package init(
    formatVersion: Int = 1, versionIdentifiers: [String], entities: [Entity],
    fetchRequests: [String: FetchRequestTemplate]? = nil, configurations: [String: [String]]? = nil,
    modelFile: [String: String]? = nil, configurationFiles: [String: [String: String]]? = nil
  ) {
    self.formatVersion = formatVersion
    self.versionIdentifiers = versionIdentifiers
    self.entities = entities
    self.fetchRequests = fetchRequests
    self.configurations = configurations
    self.modelFile = modelFile
    self.configurationFiles = configurationFiles
  }

  package struct Entity: Codable {
    package var name: String
    package var className: String
    var isAbstract: Bool
    var superentity: String?
    var renamingIdentifier: String?
    var versionHashModifier: String?
    var userInfo: [String: String]
    var properties: [Property]
    var uniquenessConstraints: [[String]]
    var indexes: [Index]
    /// See `EntityDescription.modelFile`. Not stored.
    var modelFile: [String: String]?
  }

  struct Property: Codable {
    var name: String
    var isOptional: Bool
    /// Nil if it is stored, also in models of earlier versions.
    var isTransient: Bool?
    var renamingIdentifier: String?
    var versionHashModifier: String?
    var userInfo: [String: String]
    var attribute: ModelDocument.Attribute?
    var relationship: ModelDocument.Relationship?
    /// The request of a fetched property.
    var fetched: FetchRequestTemplate?
    /// See `PropertyDescription.modelFile`. Not stored.
    var modelFile: [String: String]?
  }

  struct Attribute: Codable {
    var type: String
    var defaultValue: String?
    var preservesValueInHistoryOnDeletion: Bool
    /// Nil if it does not, also in models of earlier versions.
    var preservesValueInHistoryOnUpdate: Bool?
    var allowsExternalBinaryDataStorage: Bool
    /// Nil if there are none, also in models of earlier versions.
    var validationRules: [ValidationRule]?
    var valueTransformerName: String?
    var valueClassName: String?
    var elements: [Property]?
    /// The expression of a derived attribute.
    var derivationExpression: String?
  }

  struct Relationship: Codable {
    var destination: String
    /// The name of the entity that declares the inverse, and the inverse's name.
    var inverse: [String]?
    var deleteRule: Int
    var minCount: Int
    var maxCount: Int
    var isOrdered: Bool
  }

  struct Index: Codable, Equatable {
    var name: String
    var properties: [String]
    var isAscending: [Bool]
    /// Nil if values are in their order, also in models of earlier versions.
    var collation: String?
    /// The types of expressions among the properties, empty for others. Nil if there are none, also in models of earlier versions.
    var expressionTypes: [String]?
    /// Which objects it has. Nil for all, also in models of earlier versions.
    var condition: String?
  }
}

// MARK: Writing

extension ModelDocument {
  /// - Parameter keepingModelFile: Whether what a model file says for other tools is kept.
  package init(_ model: ManagedObjectModel, keepingModelFile: Bool = false) throws(HeartwoodError) {
    versionIdentifiers = model.versionIdentifiers.sorted()
    fetchRequests = model.fetchRequestTemplates.isEmpty ? nil : model.fetchRequestTemplates
    configurations = model.entityNamesByConfiguration.isEmpty ? nil : model.entityNamesByConfiguration
    entities = []
    if keepingModelFile { (modelFile, configurationFiles) = (model.modelFile, model.configurationFiles) }
    for entity in model.entities.sorted(by: { $0.displayName < $1.displayName }) {
      var written = Entity(entity)
      if keepingModelFile {
        written.modelFile = entity.modelFile
        for (index, property) in entity.ownProperties.enumerated() {
          written.properties[index].keepModelFile(of: property)
        }
      }
      entities.append(written)
    }
  }

  /// The part of a model that a store of some of its entities has.
  fileprivate func restricted(to names: Set<String>?) -> ModelDocument {
    guard let names else { return self }
    var part = self
    part.entities = entities.filter { names.contains($0.name) }
    part.fetchRequests = fetchRequests?.filter { names.contains($0.value.entityName) }
    part.configurations = nil
    return part
  }
}

extension ModelDocument.Entity {
  init(_ entity: EntityDescription) {
    name = entity.displayName
    className = entity.managedObjectClassName
    isAbstract = entity.isAbstract
    superentity = entity.superentity?.name
    renamingIdentifier = entity.formerName
    versionHashModifier = entity.versionHashModifier
    userInfo = entity.userInfo
    properties = entity.ownProperties.map { ModelDocument.Property($0) }
    uniquenessConstraints = entity.uniquenessConstraints
    indexes = entity.indexes.map { index in
      let types = index.elements.map { $0.expression == nil ? "" : $0.property.expressionType.name }
      return ModelDocument.Index(
        name: index.name, properties: index.elements.map(\.path),
        isAscending: index.elements.map(\.isAscending), collation: index.collationType.documentName,
        expressionTypes: types.allSatisfy(\.isEmpty) ? nil : types, condition: index.condition)
    }
  }
}

extension ModelDocument.Property {
  /// Takes what a model file says of a property for other tools, and of its elements.
  fileprivate mutating func keepModelFile(of property: PropertyDescription) {
    modelFile = property.modelFile
    for (place, element) in ((property as? CompositeAttributeDescription)?.elements ?? []).enumerated() {
      attribute?.elements?[place].keepModelFile(of: element)
    }
  }

  init(_ property: PropertyDescription) {
    name = property.name
    isOptional = property.isOptional
    isTransient = property.isTransient ? true : nil
    renamingIdentifier = property.formerName
    versionHashModifier = property.versionHashModifier
    userInfo = property.userInfo
    fetched = (property as? FetchedPropertyDescription)?.template
    if let attribute = property as? AttributeDescription {
      self.attribute = ModelDocument.Attribute(
        type: attribute.type.name, defaultValue: attribute.convertedDefault.plainText,
        preservesValueInHistoryOnDeletion: attribute.preservesValueInHistoryOnDeletion,
        preservesValueInHistoryOnUpdate: attribute.preservesValueInHistoryOnUpdate ? true : nil,
        allowsExternalBinaryDataStorage: attribute.allowsExternalBinaryDataStorage,
        validationRules: attribute.validationRules.isEmpty ? nil : attribute.validationRules,
        valueTransformerName: attribute.valueTransformerName,
        valueClassName: attribute.attributeValueClassName,
        elements: (attribute as? CompositeAttributeDescription)?.elements.map { ModelDocument.Property($0) },
        derivationExpression: attribute.derivation)
    }
    if let relationship = property as? RelationshipDescription {
      let inverse = relationship.inverseRelationship
      self.relationship = ModelDocument.Relationship(
        destination: relationship.destinationEntity.displayName,
        inverse: inverse.map { [$0.entity?.displayName ?? "?", $0.name] },
        deleteRule: relationship.deleteRule.rawValue, minCount: relationship.minCount,
        maxCount: relationship.maxCount, isOrdered: relationship.isOrdered)
    }
  }
}

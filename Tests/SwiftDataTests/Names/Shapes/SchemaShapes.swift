import Foundation
import SwiftData

private func schemas() {
  let _: Schema.Version = Schema.schemaEncodingVersion
  _ = Schema(Book.self, Author.self)
  _ = Schema(Book.self, version: Schema.Version(2, 0, 0))
  _ = Schema([Book.self], version: Schema.Version(2, 0, 0))
  _ = Schema()
  object(Schema.self)
  sent(Schema.self)
}

private func entities(_ attribute: Schema.Attribute, _ relationship: Schema.Relationship) {
  _ = Schema.Entity("Book", properties: attribute, relationship)
  _ = Schema.Entity("Book", subentities: Schema.Entity("Novel"), properties: attribute)
  write(\Schema.Entity.name, String.self)
  write(\Schema.Entity.superentity, Schema.Entity?.self)
  write(\Schema.Entity.superentityName, String?.self)
  write(\Schema.Entity.subentities, Set<Schema.Entity>.self)
  write(\Schema.Entity.storedProperties, [any SchemaProperty].self)
  write(\Schema.Entity.uniquenessConstraints, [[String]].self)
  write(\Schema.Entity.indices, [[String]].self)
  write(\Schema.Entity.attributes, Set<Schema.Attribute>.self)
  write(\Schema.Entity.attributesByName, [String: Schema.Attribute].self)
  write(\Schema.Entity.relationships, Set<Schema.Relationship>.self)
  write(\Schema.Entity.relationshipsByName, [String: Schema.Relationship].self)
  write(\Schema.Entity.inheritedProperties, [any SchemaProperty].self)
  write(\Schema.Entity.inheritedPropertiesByName, [String: any SchemaProperty].self)
  write(\Schema.Entity.storedPropertiesByName, [String: any SchemaProperty].self)
}

private func traits() {
  let unique: any SchemaProperty = Schema.Unique<Book>([\.title], [\.year, \.title])
  let index: any SchemaProperty = Schema.Index<Book>([\.title])
  _ = (unique, index, Schema.Index<Book>(.binary([\.title]), .rtree([\.year, \.pages])))
  object(Schema.Unique<Book>.self)
  object(Schema.Index<Book>.self)
  coded(Schema.Unique<Book>.self)
  described(Schema.Index<Book>.self)
  read(\Schema.Unique<Book>.constraints, [[PartialKeyPath<Book>]].self)
  read(\Schema.Index<Book>.indices, [Schema.Index<Book>.Types<Book>].self)
  write(\Schema.Unique<Book>.name, String.self)
  write(\Schema.Index<Book>.originalName, String.self)
  write(\Schema.Index<Book>.valueType, Any.Type.self)
  let _: Schema.Unique<Book>.CodingKeys = .constraints
  let _: Schema.Index<Book>.CodingKeys = .indices
}

private func attributes() {
  write(\Schema.Attribute.options, [Schema.Attribute.Option].self)
  write(\Schema.Attribute.hashModifier, String?.self)
  write(\Schema.Attribute.isOptional, Bool.self)
  write(\Schema.CompositeAttribute.properties, [Schema.Attribute].self)
  _ = Schema.CompositeAttribute(name: "size", options: [], valueType: Int.self)
  described(Schema.Attribute.Option.self)
}

private func relationships() {
  write(\Schema.Relationship.options, [Schema.Relationship.Option].self)
  write(\Schema.Relationship.destination, String.self)
  write(\Schema.Relationship.keypath, AnyKeyPath?.self)
  write(\Schema.Relationship.inverseName, String?.self)
  write(\Schema.Relationship.inverseKeyPath, AnyKeyPath?.self)
  write(\Schema.Relationship.minimumModelCount, Int?.self)
  write(\Schema.Relationship.maximumModelCount, Int?.self)
  write(\Schema.Relationship.hashModifier, String?.self)
  described(Schema.Relationship.Option.self)
}

private func models<Backing: BackingData, Models: RelationshipCollection>(
  _ backing: Backing, _ models: Models
) {
  let _: Any = backing.metadata
  let book: KeyPath<Backing.Model, String>? = nil
  if let book {
    backing.setValue(forKey: book, to: backing.getValue(forKey: book))
    backing.setTransformableValue(forKey: book, to: backing.getTransformableValue(forKey: book))
  }
  func isModel<Model: PersistentModel>(_ type: Model.Type) {}
  isModel(Models.PersistentElement.self)
}

private func configurations() {
  read(\ModelConfiguration.groupContainer, ModelConfiguration.GroupContainer.self)
  read(\ModelConfiguration.cloudKitDatabase, ModelConfiguration.CloudKitDatabase.self)
}

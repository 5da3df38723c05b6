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
  func isModel<Model: PersistentModel>(_ type: Model.Type) {}
  isModel(Models.PersistentElement.self)
}

private func configurations() {
  read(\ModelConfiguration.groupContainer, ModelConfiguration.GroupContainer.self)
  read(\ModelConfiguration.cloudKitDatabase, ModelConfiguration.CloudKitDatabase.self)
}

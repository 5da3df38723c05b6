import CoreData

// Apple's declarations of models and their parts: see `ObjectShapes.swift`.

private func models() {
  typealias Model = NSManagedObjectModel
  object(Model.self)
  let _: () -> Model = Model.init
  let _: (URL) -> Model? = Model.init(contentsOf:)
  let _: ([Bundle]?) -> Model? = Model.mergedModel(from:)
  let _: ([Model]?) -> Model? = Model.init(byMerging:)
  let _: ([Bundle]?, [String: Any]) -> Model? = Model.mergedModel(from:forStoreMetadata:)
  let _: ([Model], [String: Any]) -> Model? = Model.init(byMerging:forStoreMetadata:)
  read(\Model.entitiesByName, [String: NSEntityDescription].self)
  write(\Model.entities, [NSEntityDescription].self)
  read(\Model.configurations, [String].self)
  write(\Model.versionIdentifiers, Set<AnyHashable>.self)
  write(\Model.localizationDictionary, [String: String]?.self)
  read(\Model.fetchRequestTemplatesByName, [String: NSFetchRequest<any NSFetchRequestResult>].self)
  read(\Model.entityVersionHashesByName, [String: Data].self)
  read(\Model.versionChecksum, String.self)
  let _: (Model) -> (String?) -> [NSEntityDescription]? = Model.entities(forConfigurationName:)
  let _: (Model) -> ([NSEntityDescription], String) -> Void = Model.setEntities(_:forConfigurationName:)
  let _: (Model) -> (NSFetchRequest<any NSFetchRequestResult>?, String) -> Void =
    Model.setFetchRequestTemplate(_:forName:)
  let _: (Model) -> (String) -> NSFetchRequest<any NSFetchRequestResult>? = Model.fetchRequestTemplate(
    forName:)
  let _: (Model) -> (String, [String: Any]) -> NSFetchRequest<any NSFetchRequestResult>? =
    Model.fetchRequestFromTemplate(withName:substitutionVariables:)
  let _: (Model) -> (String?, [String: Any]) -> Bool = Model.isConfiguration(
    withName:compatibleWithStoreMetadata:)
  let _: (Model) -> () -> Any = Model.copy
  let _: any NSCopying.Type = Model.self
}

private func entities() {
  typealias Entity = NSEntityDescription
  object(Entity.self)
  let _: any NSCopying.Type = Entity.self
  let _: (String, NSManagedObjectContext) -> Entity? = Entity.entity(forEntityName:in:)
  let _: (String, NSManagedObjectContext) -> NSManagedObject = Entity.insertNewObject(forEntityName:into:)
  read(\Entity.managedObjectModel, NSManagedObjectModel.self)
  write(\Entity.managedObjectClassName, String?.self)
  write(\Entity.name, String?.self)
  write(\Entity.isAbstract, Bool.self)
  read(\Entity.subentitiesByName, [String: Entity].self)
  write(\Entity.subentities, [Entity].self)
  read(\Entity.superentity, Entity?.self)
  read(\Entity.propertiesByName, [String: NSPropertyDescription].self)
  write(\Entity.properties, [NSPropertyDescription].self)
  write(\Entity.userInfo, [AnyHashable: Any]?.self)
  read(\Entity.attributesByName, [String: NSAttributeDescription].self)
  read(\Entity.relationshipsByName, [String: NSRelationshipDescription].self)
  let _: (Entity) -> (Entity) -> [NSRelationshipDescription] = Entity.relationships(forDestination:)
  let _: (Entity) -> (Entity) -> Bool = Entity.isKindOf(entity:)
  read(\Entity.versionHash, Data.self)
  write(\Entity.versionHashModifier, String?.self)
  write(\Entity.renamingIdentifier, String?.self)
  write(\Entity.indexes, [NSFetchIndexDescription].self)
  write(\Entity.uniquenessConstraints, [[Any]].self)
  write(\Entity.compoundIndexes, [[Any]].self)
}

private func properties() {
  typealias Property = NSPropertyDescription
  object(Property.self)
  let _: any NSCopying.Type = Property.self
  read(\Property.entity, NSEntityDescription.self)
  write(\Property.name, String.self)
  write(\Property.isOptional, Bool.self)
  write(\Property.isTransient, Bool.self)
  read(\Property.validationPredicates, [NSPredicate].self)
  read(\Property.validationWarnings, [Any].self)
  let _: (Property) -> ([NSPredicate]?, [String]?) -> Void =
    Property.setValidationPredicates(_:withValidationWarnings:)
  write(\Property.userInfo, [AnyHashable: Any]?.self)
  write(\Property.isIndexed, Bool.self)
  read(\Property.versionHash, Data.self)
  write(\Property.versionHashModifier, String?.self)
  write(\Property.renamingIdentifier, String?.self)

  typealias Attribute = NSAttributeDescription
  let _: () -> Attribute = Attribute.init
  write(\Attribute.attributeType, NSAttributeType.self)
  write(\Attribute.type, Attribute.AttributeType.self)
  write(\Attribute.attributeValueClassName, String?.self)
  write(\Attribute.defaultValue, Any?.self)
  write(\Attribute.valueTransformerName, String?.self)
  write(\Attribute.allowsExternalBinaryDataStorage, Bool.self)
  write(\Attribute.preservesValueInHistoryOnDeletion, Bool.self)
  let _: NSAttributeType? = NSAttributeType(rawValue: 700 as UInt)

  typealias Relationship = NSRelationshipDescription
  let _: () -> Relationship = Relationship.init
  write(\Relationship.destinationEntity, NSEntityDescription?.self)
  write(\Relationship.inverseRelationship, Relationship?.self)
  write(\Relationship.maxCount, Int.self)
  write(\Relationship.minCount, Int.self)
  write(\Relationship.deleteRule, NSDeleteRule.self)
  read(\Relationship.isToMany, Bool.self)
  write(\Relationship.isOrdered, Bool.self)
  let _: NSDeleteRule? = NSDeleteRule(rawValue: 2 as UInt)

  write(\NSFetchedPropertyDescription.fetchRequest, NSFetchRequest<any NSFetchRequestResult>?.self)
  write(\NSExpressionDescription.expression, NSExpression?.self)
  write(\NSExpressionDescription.expressionResultType, NSAttributeType.self)
  write(\NSDerivedAttributeDescription.derivationExpression, NSExpression?.self)
  write(\NSCompositeAttributeDescription.elements, [NSAttributeDescription].self)
}

private func indexes() {
  typealias Index = NSFetchIndexDescription
  object(Index.self)
  let _: (String, [NSFetchIndexElementDescription]?) -> Index = Index.init(name:elements:)
  let _: () -> Index = Index.init
  write(\Index.name, String.self)
  write(\Index.elements, [NSFetchIndexElementDescription].self)
  read(\Index.entity, NSEntityDescription?.self)
  write(\Index.partialIndexPredicate, NSPredicate?.self)

  typealias Element = NSFetchIndexElementDescription
  object(Element.self)
  let _: (NSPropertyDescription, NSFetchIndexElementType) -> Element = Element.init(property:collationType:)
  read(\Element.property, NSPropertyDescription?.self)
  read(\Element.propertyName, String?.self)
  write(\Element.collationType, NSFetchIndexElementType.self)
  write(\Element.isAscending, Bool.self)
  read(\Element.indexDescription, Index?.self)
  let _: NSFetchIndexElementType? = NSFetchIndexElementType(rawValue: 1 as UInt)
}

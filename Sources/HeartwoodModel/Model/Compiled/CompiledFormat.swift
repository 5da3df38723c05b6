/// The treatment of each key of a compiled model, by the classes of the objects in its archive. The guide on models of Xcode has the same table.
enum CompiledFormat {
  enum Treatment: String {
    /// It is part of the model.
    case read
    /// It has no meaning for a store, or repeats another one.
    case dropped
  }

  /// Others are named in notes.
  static let fields: [String: [String: Treatment]] = [
    "NSManagedObjectModel": [
      "NSEntities": .read, "NSConfigurations": .read, "NSFetchRequestTemplates": .read,
      "NSVersionIdentifiers": .read, "CDMCompilerToolVersion": .dropped, "CDMCompilerXcodeVersion": .dropped,
    ],
    "NSEntityDescription": [
      "NSEntityName": .read, "NSClassNameForEntity": .read, "NSIsAbstract": .read, "NSSuperentity": .read,
      "NSSubentities": .read, "NSProperties": .read, "NSUniqueTuples": .read,
      "NSFetchIndexDescriptions": .read, "NSCompoundIndexes": .read, "NSRenamingIdentifier": .read,
      "NSVersionHashModifier": .read, "NSUserInfo": .read, "NSManagedObjectModel": .dropped,
    ],
    "NSPropertyDescription": [
      "NSPropertyName": .read, "NSIsOptional": .read, "NSIsTransient": .read, "NSIsIndexed": .read,
      "NSRenamingIdentifier": .read, "NSVersionHashModifier": .read, "NSUserInfo": .read,
      "NSValidationPredicates": .read, "NSValidationWarnings": .read, "NSEntity": .read,
      "NSIsReadOnly": .dropped, "_P": .dropped,
    ],
    "NSAttributeDescription": [
      "NSAttributeType": .read, "NSAttributeValueClassName": .read, "NSDefaultValue": .read,
      "NSValueTransformerName": .read, "NSFlagsKey": .read,
    ],
    "NSDerivedAttributeDescription": ["NSDerivationExpression": .read, "NSFilteringPredicate": .read],
    "NSCompositeAttributeDescription": ["NSCompositeElements": .read],
    "NSRelationshipDescription": [
      "NSDestinationEntity": .read, "_NSDestinationEntityName": .read, "NSInverseRelationship": .read,
      "_NSInverseRelationshipName": .read, "NSDeleteRule": .read, "NSMinCount": .read, "NSMaxCount": .read,
      "NSIsOrdered": .read,
    ],
    "NSFetchedPropertyDescription": ["NSFetchRequest": .read, "_NSFetchRequestEntityName": .read],
    "NSFetchRequest": [
      "NSEntity": .read, "NSEntityName": .read, "NSPredicate": .read, "NSSortDescriptors": .read,
      "NSFetchLimit": .read, "NSFetchOffset": .read, "NSBatchSize": .read,
      "NSRelationshipKeyPathsForPrefetching": .read, "NSFetchRequestFlags": .read, "NSResultType": .dropped,
      "NSValuesToFetch": .read, "NSValuesToGroupBy": .read, "NSHavingPredicate": .read,
      "NSHasFetchRequestFlags": .dropped, "NSAllocationType": .dropped,
    ],
    "NSSortDescriptor": [
      "NSKey": .read, "NSAscending": .read, "NSSelector": .read, "NSReverseNullOrder": .dropped,
    ],
    "NSFetchIndexDescription": [
      "NSIndexName": .read, "NSIndexElements": .read, "NSPartialIndexPredicate": .read, "NSEntity": .read,
    ],
    "NSFetchIndexElementDescription": [
      "NSPropertyName": .read, "NSAscending": .read, "NSFetchIndexElementType": .read,
      "NSFetchIndexDescription": .dropped,
    ],
    "NSEntityMapping": [
      "NSMappingName": .read, "NSMappingType": .read, "NSSourceEntityName": .read,
      "NSDestinationEntityName": .read, "NSSourceExpression": .read, "NSAttributeMappings": .read,
      "NSRelationshipMappings": .read, "NSEntityMigrationPolicyClassName": .read, "NSUserInfo": .read,
      "NSSourceEntityVersionHash": .dropped, "NSDestinationEntityVersionHash": .dropped,
    ],
    "NSPropertyMapping": [
      "NSDestinationPropertyName": .read, "NSValueExpression": .read, "NSUserInfo": .read,
      "NSPropertyTransforms": .dropped,
    ],
  ]

  /// Nil if none of an object's classes is known to have the key.
  static func treatment(of key: String, _ classNames: [String]) -> Treatment? {
    for name in classNames { if let treatment = fields[name]?[key] { return treatment } }
    return nil
  }
}

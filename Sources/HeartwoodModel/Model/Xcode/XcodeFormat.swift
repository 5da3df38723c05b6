/// The treatment of each attribute of Xcode's format when a model is read. The guide on models of Xcode has the same table.
enum XcodeFormat {
  enum Treatment: String {
    /// It is part of the model.
    case read
    /// It has no meaning for a store: it is in the file when the model is written again.
    case kept
    /// It has no effect, and is not in the file when the model is written again.
    case dropped
  }

  /// By the names of elements and their attributes. Others are named in notes, and kept where they are those of a model, a configuration,
  /// an entity or a property.
  static let fields: [String: [String: Treatment]] = [
    "model": [
      "userDefinedModelVersionIdentifier": .read, "type": .kept, "documentVersion": .kept,
      "lastSavedToolsVersion": .kept, "systemVersion": .kept, "minimumToolsVersion": .kept,
      "sourceLanguage": .kept, "usedWithCloudKit": .kept, "usedWithSwiftData": .kept, "macOSVersion": .kept,
      "iOSVersion": .kept, "name": .kept,
    ],
    "configuration": ["name": .read, "usedWithCloudKit": .kept, "usedWithSwiftData": .kept],
    "memberEntity": ["name": .read],
    "entity": [
      "name": .read, "representedClassName": .read, "parentEntity": .read, "isAbstract": .read,
      "elementID": .read, "versionHashModifier": .read, "syncable": .kept, "codeGenerationType": .kept,
      "coreSpotlightDisplayNameExpression": .kept, "spotlightIndexingEnabled": .kept, "color": .kept,
      "icon": .kept,
    ],
    "attribute": [
      "name": .read, "optional": .read, "transient": .read, "attributeType": .read, "elementID": .read,
      "versionHashModifier": .read, "indexed": .read, "defaultValueString": .read,
      "defaultDateTimeInterval": .read, XcodeModel.defaultData: .read, "minValueString": .read,
      "maxValueString": .read, "minDateTimeInterval": .read, "maxDateTimeInterval": .read,
      "regularExpressionString": .read, "valueTransformerName": .read, "customClassName": .read,
      "allowsExternalBinaryDataStorage": .read, "preserveAfterDeletion": .read, "derived": .read,
      "derivationExpression": .read, "composite": .read, "compositeAttributeName": .read,
      "compositeName": .read, "elementName": .read, "syncable": .kept, "usesScalarValueType": .kept,
      "spotlightIndexingEnabled": .kept, "storedInTruthFile": .kept, "allowsCloudEncryption": .kept,
      "storedInExternalRecord": .kept,
    ],
    "relationship": [
      "name": .read, "optional": .read, "transient": .read, "elementID": .read, "versionHashModifier": .read,
      "toMany": .read, "minCount": .read, "maxCount": .read, "ordered": .read, "deletionRule": .read,
      "destinationEntity": .read, "inverseName": .read, "inverseEntity": .read, "indexed": .kept,
      "syncable": .kept, "spotlightIndexingEnabled": .kept, "storedInTruthFile": .kept,
    ],
    "fetchedProperty": [
      "name": .read, "optional": .read, "elementID": .read, "versionHashModifier": .read, "transient": .kept,
      "syncable": .kept, "spotlightIndexingEnabled": .kept, "storedInTruthFile": .kept, "indexed": .kept,
    ],
    "fetchRequest": [
      "name": .read, "entity": .read, "predicateString": .read, "fetchLimit": .read, "fetchBatchSize": .read,
      "includesSubentities": .read, "includeSubentities": .read, "includesPendingChanges": .read,
      "includePendingChanges": .read, "returnsObjectsAsFaults": .read, "returnObjectsAsFaults": .read,
      "includesPropertyValues": .read, "includePropertyValues": .read, "returnDistinctResults": .read,
      "resultType": .dropped,
    ],
    "fetchIndex": ["name": .read],
    "fetchIndexElement": [
      "property": .read, "expression": .read, "expressionType": .read, "type": .read, "order": .read,
    ],
    "constraint": ["value": .read], "index": ["value": .read], "entry": ["key": .read, "value": .read],
    "composite": ["name": .read], "compositeAttribute": ["name": .read],
    "element": [
      "name": .dropped, "positionX": .dropped, "positionY": .dropped, "width": .dropped, "height": .dropped,
    ],
  ]

  /// The elements that each element may have. Others are left out, with a note.
  private static let elements: [String: Set<String>] = [
    "model": ["entity", "fetchRequest", "configuration", "composite", "compositeAttribute", "elements"],
    "entity": [
      "attribute", "relationship", "fetchedProperty", "fetchIndex", "uniquenessConstraints",
      "compoundIndexes", "userInfo",
    ],
    "attribute": ["userInfo"], "relationship": ["userInfo"],
    "fetchedProperty": ["fetchRequest", "userInfo"], "userInfo": ["entry"],
    "fetchIndex": ["fetchIndexElement"], "uniquenessConstraints": ["uniquenessConstraint"],
    "uniquenessConstraint": ["constraint"], "compoundIndexes": ["compoundIndex"],
    "compoundIndex": ["index"], "configuration": ["memberEntity"], "composite": ["attribute"],
    "compositeAttribute": ["attribute"], "elements": ["element"],
  ]

  /// Nil if the attribute is not known.
  static func treatment(of attribute: String, in element: String) -> Treatment? {
    fields[element]?[attribute]
  }

  static func isKnown(_ child: String, in element: String) -> Bool {
    elements[element]?.contains(child) == true
  }
}

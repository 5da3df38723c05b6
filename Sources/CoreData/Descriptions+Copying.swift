import Foundation
import Heartwood
import HeartwoodBytes

extension EntityDescription: NSCopying {
  /// An entity with copies of the entity's own properties, which is in no model. The destinations and inverses of relationships are looked
  /// up by their names when a model with the copy is first used.
  public func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSEntityDescription()
    copy.name = name
    copy.managedObjectClassName = managedObjectClassName
    copy.isAbstract = isAbstract
    copy.userInfo = userInfo
    copy.renamingIdentifier = formerName
    copy.versionHashModifier = versionHashModifier
    copy.properties = ownProperties.compactMap { $0.copy(with: zone) as? NSPropertyDescription }
    copy.uniquenessConstraints = uniquenessConstraints.map { group in
      group.map { ($0 as? NSPropertyDescription)?.name ?? $0 }
    }
    copy.indexes = indexes.compactMap { $0.copy(with: zone) as? NSFetchIndexDescription }
    return copy
  }
}

extension PropertyDescription: NSCopying {
  /// A property with the same settings, which is in no entity. The destination and the inverse of a relationship are looked up by
  /// their names when a model with the copy is first used; an inverse that does not lead back is none.
  public func copy(with zone: NSZone? = nil) -> Any {
    let copy = emptyCopy()
    copy.name = name
    copy.isOptional = isOptional
    copy.isTransient = isTransient
    copy.userInfo = userInfo
    copy.renamingIdentifier = formerName
    copy.versionHashModifier = versionHashModifier
    copy.wantsIndex = wantsIndex
    copy.isIndexedBySpotlight = isIndexedBySpotlight
    copy.isStoredInExternalRecord = isStoredInExternalRecord
    if let attribute = self as? NSAttributeDescription, let other = copy as? NSAttributeDescription {
      other.take(attribute)
    }
    return copy
  }

  /// A property of the same kind, with what only that kind has.
  private func emptyCopy() -> NSPropertyDescription {
    switch self {
    case let composite as NSCompositeAttributeDescription:
      let copy = NSCompositeAttributeDescription()
      copy.elements = composite.elements.compactMap { $0.copy(with: nil) as? NSAttributeDescription }
      return copy
    case let derived as NSDerivedAttributeDescription:
      let copy = NSDerivedAttributeDescription()
      copy.derivationExpression = derived.derivationExpression
      return copy
    case is NSAttributeDescription: return NSAttributeDescription()
    case let relationship as NSRelationshipDescription:
      let copy = NSRelationshipDescription()
      copy.destinationEntity = relationship.destinationEntity
      copy.inverseRelationship = relationship.inverseRelationship
      copy.refersByName = true
      copy.minCount = relationship.minCount
      copy.maxCount = relationship.maxCount
      copy.deleteRule = relationship.deleteRule
      copy.isOrdered = relationship.isOrdered
      return copy
    case let fetched as NSFetchedPropertyDescription:
      let copy = NSFetchedPropertyDescription()
      copy.fetchRequest = fetched.fetchRequest
      return copy
    case let expression as NSExpressionDescription:
      let copy = NSExpressionDescription()
      copy.expression = expression.expression
      copy.expressionResultType = expression.expressionResultType
      return copy
    default: programError("\(type(of: self)) cannot be copied")
    }
  }
}

extension AttributeDescription {
  fileprivate final func take(_ other: AttributeDescription) {
    type = other.type
    preservesValueInHistoryOnDeletion = other.preservesValueInHistoryOnDeletion
    preservesValueInHistoryOnUpdate = other.preservesValueInHistoryOnUpdate
    allowsExternalBinaryDataStorage = other.allowsExternalBinaryDataStorage
    valueTransformerName = other.valueTransformerName
    if let name = other.givenValueClassName { attributeValueClassName = name }
    validationRules = other.validationRules
    if type != .composite { defaultValue = other.defaultValue }
  }
}

extension FetchIndexDescription: NSCopying {
  /// An index with copies of the elements, which is in no entity.
  public func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchIndexDescription(
      name: name, elements: elements.map { $0.copy(with: zone) as? NSFetchIndexElementDescription ?? $0 })
    copy.partialIndexPredicate = partialIndexPredicate
    return copy
  }
}

extension FetchIndexElementDescription: NSCopying {
  /// An element with the same settings, which is in no index.
  public func copy(with zone: NSZone? = nil) -> Any {
    NSFetchIndexElementDescription(
      property: anyProperty, collationType: collationType, isAscending: isAscending)
  }
}

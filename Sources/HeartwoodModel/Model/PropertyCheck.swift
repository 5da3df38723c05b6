/// The check of one property at a save, computed once for each entity.
package struct PropertyCheck {
  package enum Kind {
    case attribute(name: String)
    case toOne
    /// A to-many relationship with a minimum or maximum count.
    case count(RelationshipDescription)
  }

  package let slot: Int
  package let kind: Kind
  package let isMandatory: Bool
  /// Whether it is an element of a composite attribute.
  package let isElement: Bool
  package var rules: [ValidationRule]
  /// The type of an attribute that the hook is given in the attribute type's own Swift type; nil for others.
  package let plainType: AttributeType?

  /// Nil for a property that needs no check.
  ///
  /// - Parameter converted: The type that the class declares for the property, if it is not the attribute type's own Swift type.
  init?(_ property: PropertyDescription, slot: Int, converted: (any AttributeValue.Type)?) {
    if property.isTransient, property is RelationshipDescription { return nil }
    self.slot = slot
    plainType = (property as? AttributeDescription)?.plainType(converted)
    // The store gives a derived attribute its value after the check.
    isMandatory = !property.isOptional && !property.isTransient && property.derivation == nil
    isElement = property.name.contains(".")
    rules = property.derivation == nil ? (property as? AttributeDescription)?.validationRules ?? [] : []
    if let attribute = property as? AttributeDescription, attribute.type != .composite {
      kind = .attribute(name: attribute.name)
    } else if let relationship = property as? RelationshipDescription, relationship.isToMany {
      guard relationship.minCount > 0 || relationship.maxCount > 0 else { return nil }
      kind = .count(relationship)
    } else {
      guard isMandatory else { return nil }
      kind = .toOne
    }
  }
}

extension AttributeDescription {
  fileprivate func plainType(_ converted: (any AttributeValue.Type)?) -> AttributeType? {
    converted == nil && type.swiftType != nil ? type : nil
  }
}

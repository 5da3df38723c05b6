/// The check of one property at a save, computed once for each entity.
struct PropertyCheck {
  enum Kind {
    case attribute(name: String)
    case toOne
    /// A to-many relationship with a minimum or maximum count.
    case count(RelationshipDescription)
  }

  let slot: Int
  let kind: Kind
  let isMandatory: Bool
  /// Whether it is an element of a composite attribute.
  let isElement: Bool
  let rules: [ValidationRule]

  /// Nil for a property that needs no check.
  init?(_ property: PropertyDescription, slot: Int) {
    self.slot = slot
    // The store gives a derived attribute its value after the check.
    isMandatory = !property.isOptional && !property.isTransient && property.derivation == nil
    isElement = property.name.contains(".")
    rules = property.derivation == nil ? (property as? AttributeDescription)?.validationRules ?? [] : []
    if let attribute = property as? AttributeDescription, attribute.type != .composite {
      kind = .attribute(name: attribute.name)
    } else if let relationship = property as? RelationshipDescription, relationship.isToMany {
      guard relationship.minCount > 0 || relationship.maxCount > 0 || !relationship.isOptional else {
        return nil
      }
      kind = .count(relationship)
    } else {
      guard isMandatory else { return nil }
      kind = .toOne
    }
  }
}

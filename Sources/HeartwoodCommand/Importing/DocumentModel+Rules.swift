import Heartwood

extension DocumentModel {
  /// Whether there are rules that one object by itself does not show: how many destinations a relationship has, conditions, deletions that
  /// are denied, unique values that the store computes.
  var hasRulesBetweenObjects: Bool {
    let unique = Set(entities.lazy.flatMap(\.uniquenessConstraints).joined())
    return entities.contains { entity in
      entity.relationships.contains(where: \.hasRules)
        || entity.attributes.contains { attribute in
          attribute.derivation != nil && (attribute.isUnique || unique.contains(attribute.name))
            || attribute.hasConditions
        }
    }
  }
}

extension DocumentRelationship {
  fileprivate var hasRules: Bool {
    !isTransient && (!isOptional || isToMany && (minimumCount > 0 || maximumCount > 0) || deleteRule == .deny)
  }
}

extension DocumentAttribute {
  /// Whether the attribute, or an element of it, has rules whose conditions may lead to other objects.
  fileprivate var hasConditions: Bool {
    rest.written.contains { $0.0 == "validationRules" } || elements.contains(where: \.hasConditions)
  }
}

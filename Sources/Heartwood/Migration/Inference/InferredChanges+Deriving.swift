/// Which derived attributes have to be computed again: another expression, or one that reads what changes.
extension InferredChanges {
  /// By the numbers of entities, the slots.
  func derivedSlotsToCompute(below root: EntityDescription) -> [UInt16: Set<Int>] {
    var found: [UInt16: Set<Int>] = [:]
    for entity in root.selfAndBelow where source(of: entity) != nil {
      let slots = entity.slots.filter { isComputed($0, of: entity) }
      if !slots.isEmpty { found[entity.number] = Set(slots) }
    }
    return found
  }

  /// Whether an attribute is derived and may get another value.
  func isComputed(_ slot: Int, of entity: EntityDescription) -> Bool {
    guard let attribute = entity.attribute(at: slot), let derivation = attribute.derivation else {
      return false
    }
    guard let former = sourceProperty(at: slot, of: entity), former.derivation == derivation,
      former.columnKind == attribute.columnKind,
      let sources = try? Derivation(attribute, of: entity).sources
    else { return true }
    return !sources.allSatisfy { isKept($0, from: entity) }
  }

  /// Whether all objects read the same from a source of a derived attribute as before.
  private func isKept(_ source: Derivation.Source, from entity: EntityDescription) -> Bool {
    guard source.route.allSatisfy(hasSameLinks) else { return false }
    guard let slot = source.slot else { return true }
    let end = source.route.last?.destinationEntity ?? entity
    return end.selfAndBelow.allSatisfy { hasSameValues(slot, of: $0) }
  }

  /// Whether the objects of an entity have the values that they had, in a property that is called the same.
  private func hasSameValues(_ slot: Int, of entity: EntityDescription) -> Bool {
    guard source(of: entity) != nil else { return true }
    let property = entity.property(at: slot)
    guard let former = sourceProperty(at: slot, of: entity), former.name == property.name,
      former.columnKind == property.columnKind
    else { return false }
    if let relationship = property as? RelationshipDescription { return hasSameLinks(relationship) }
    return fill(slot, of: entity).isNull
  }

  /// Whether a relationship has the destinations that it had, and is called the same.
  private func hasSameLinks(_ relationship: RelationshipDescription) -> Bool {
    let known = formers(of: relationship)
    guard known.count == 1, let former = known.first, former.name == relationship.name,
      former.isToMany == relationship.isToMany, !isJoined(relationship),
      !mayLose(former, relationship), !mayLoseSources(former, relationship)
    else { return false }
    guard let inverse = relationship.inverseRelationship else { return true }
    return formers(of: inverse) == [former.inverseRelationship].compactMap { $0 }
  }
}

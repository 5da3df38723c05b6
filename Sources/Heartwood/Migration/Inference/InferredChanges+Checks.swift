/// Reasons why changes cannot be inferred.
extension InferredChanges {
  func checkHierarchy(of entity: EntityDescription) {
    guard entity.superentity == nil else { return }
    let roots = formerRoots(of: entity)
    if roots.count > 1 {
      let names = roots.map(\.displayName).joined(separator: " and ")
      refuse(
        entity, nil,
        "has entities of the hierarchies of \(names), whose objects have the same numbers: hierarchies without a common parent "
          + "cannot be joined: map them, or keep one of them out of the hierarchy")
    }
  }

  /// The root entities of the source whose hierarchies have objects that a root entity of the destination gets.
  func formerRoots(of root: EntityDescription) -> [EntityDescription] {
    var roots: [EntityDescription] = []
    for entity in root.selfAndBelow {
      guard let former = source(of: entity)?.rootEntity, !roots.contains(former) else { continue }
      roots.append(former)
    }
    return roots
  }

  func checkProperties(of entity: EntityDescription) {
    guard let former = source(of: entity) else { return }
    for slot in entity.slots {
      let property = entity.property(at: slot)
      if let match = sourceSlot(slot, of: entity) { check(property, former.property(at: match), entity) }
    }
  }

  private func check(_ new: PropertyDescription, _ old: PropertyDescription, _ entity: EntityDescription) {
    switch (new, old) {
    case (let new as AttributeDescription, let old as AttributeDescription):
      check(attribute: new, old, entity)
    case (let new as RelationshipDescription, let old as RelationshipDescription):
      check(relationship: new, old, entity)
    default:
      refuse(
        entity, new,
        "is \(new.kindText), and \(old.displayName) of the source is \(old.kindText): give it another name, or map it"
      )
    }
  }

  private func check(
    attribute new: AttributeDescription, _ old: AttributeDescription, _ entity: EntityDescription
  ) {
    guard new.canHaveValues(of: old) else {
      return refuse(
        entity, new,
        "is of type \(new.type), and \(old.displayName) of the source is of type \(old.type): values could be lost; "
          + "map it, or give the attribute another name")
    }
  }

  private func check(
    relationship new: RelationshipDescription, _ old: RelationshipDescription, _ entity: EntityDescription
  ) {
    if old.isToMany, !new.isToMany {
      return refuse(
        entity, new,
        "is to-one, and \(old.displayName) of the source is to-many: which destination stays is not known; map it, or give the relationship another name"
      )
    }
    guard let destination = new.destinationEntity, let formerDestination = old.destinationEntity else {
      return
    }
    let kept = formerDestination.selfAndBelow.compactMap(destinationIfAny)
    guard kept.isEmpty || kept.contains(where: { $0.isKindOf(entity: destination) }) else {
      return refuse(
        entity, new,
        "leads to \(destination.displayName), and \(old.displayName) of the source leads to \(formerDestination.displayName): map it, or "
          + "give the relationship another name"
      )
    }
    // Without inverses, the two say what they can of the same links. Two that had others were about other links.
    guard let inverse = new.inverseRelationship, let match = formerInverse(inverse),
      match !== old.inverseRelationship, match !== old,
      old.inverseRelationship != nil || match.inverseRelationship != nil
    else { return }
    refuse(
      entity, new,
      "has the inverse \(inverse.displayName), and their sources \(old.displayName) and \(match.displayName) had other "
        + "inverses: they may contradict each other; map them, or give one of them another name")
  }

  private func destinationIfAny(_ entity: EntityDescription) -> EntityDescription? { destination(of: entity) }

  /// The sources of a relationship, in its own entity and in subentities.
  func formers(of relationship: RelationshipDescription) -> [RelationshipDescription] {
    var found: [RelationshipDescription] = []
    for entity in relationship.entity?.selfAndBelow ?? [] {
      guard
        let former = sourceProperty(at: relationship.slot, of: entity) as? RelationshipDescription,
        !found.contains(former)
      else { continue }
      found.append(former)
    }
    return found
  }

  /// Whether a relationship of the source may have destinations that it cannot have in the destination model.
  func mayLose(_ former: RelationshipDescription, _ relationship: RelationshipDescription) -> Bool {
    former.destinationEntity.selfAndBelow.contains { entity in
      !entity.isAbstract && !isKept(entity, in: relationship.destinationEntity)
    }
  }

  /// Whether objects that had a relationship of the source may not have it any more.
  func mayLoseSources(_ former: RelationshipDescription, _ relationship: RelationshipDescription) -> Bool {
    guard let owner = former.entity, let entity = relationship.entity else { return false }
    return owner.selfAndBelow.contains { !$0.isAbstract && !isKept($0, in: entity) }
  }

  /// Whether the objects of an entity of the source are of an entity of the destination, or of a subentity.
  func isKept(_ former: EntityDescription, in destination: EntityDescription) -> Bool {
    self.destination(of: former)?.isKindOf(entity: destination) ?? false
  }

  /// Whether a relationship gets links, or a to-one relationship its values, from an inverse that it did not have before.
  func isJoined(_ relationship: RelationshipDescription) -> Bool {
    guard !relationship.isTransient, let inverse = relationship.inverseRelationship else { return false }
    let own = formers(of: relationship)
    if inverse === relationship { return own.contains { $0.inverseRelationship !== $0 } }
    let others = formers(of: inverse)
    guard !others.isEmpty else { return false }
    if own.isEmpty { return !relationship.isToMany }
    return !own.allSatisfy { former in others.contains { $0 === former.inverseRelationship } }
  }

  /// The relationships whose links are put together from both sides.
  var joinedRelationships: [RelationshipDescription] {
    sorted(destination).flatMap { entity in
      entity.ownColumns.compactMap { $0 as? RelationshipDescription }.filter(isJoined)
    }
  }

  /// The source of a relationship, as its own entity or a subentity has it.
  func formerInverse(_ relationship: RelationshipDescription) -> RelationshipDescription? {
    guard let owner = relationship.entity else { return nil }
    for entity in owner.selfAndBelow {
      if let found = sourceProperty(at: relationship.slot, of: entity) as? RelationshipDescription {
        return found
      }
    }
    return nil
  }
}

extension PropertyDescription {
  var kindText: String {
    if self is AttributeDescription { return "an attribute" }
    guard let relationship = self as? RelationshipDescription else { return "a property" }
    return relationship.isOrdered && relationship.isToMany
      ? "an ordered to-many relationship"
      : relationship.isToMany ? "a to-many relationship" : "a to-one relationship"
  }
}

extension AttributeDescription {
  /// Whether values of another attribute are values of this, or can be converted; those that would lose something are refused one by one.
  func canHaveValues(of other: AttributeDescription) -> Bool {
    if type == other.type { return true }
    return !type.isOpaque && !other.type.isOpaque && other.columnKind.mayWiden(to: columnKind)
  }
}

extension AttributeType {
  /// Whether only the program knows what the bytes of a value mean.
  fileprivate var isOpaque: Bool {
    self == .transformable || self == .binaryData || self == .composite || self == .undefined
  }
}

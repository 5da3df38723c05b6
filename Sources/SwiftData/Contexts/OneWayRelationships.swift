import Heartwood

/// The relationships of models that do not lead back, but those to one model that must be there. Delete rules follow inverse relationships, so that a
/// deleted model would stay in them.
struct OneWayRelationships {
  private struct Reference {
    let owner: EntityDescription
    let name: String
    let isToMany: Bool
    let destination: EntityDescription
  }

  private let references: [Reference]

  init(of model: ManagedObjectModel) {
    references = model.entities.flatMap { entity in
      entity.ownProperties.compactMap { property in
        guard let relationship = property as? RelationshipDescription,
          relationship.isToMany || relationship.isOptional, relationship.inverseRelationship == nil,
          let destination = relationship.destinationEntity
        else { return nil }
        return Reference(
          owner: entity, name: relationship.name, isToMany: relationship.isToMany, destination: destination)
      }
    }
  }

  /// Removes objects that the save deletes from the relationships that have them, stored ones and those of the context.
  ///
  /// - Throws: The error of a store.
  /// - Complexity: Reads the links of each list to objects of the class of a deleted one, and the objects of the classes that may refer to one, but
  ///   where an index has these references.
  func remove(_ deleted: some Sequence<ManagedObject>, in context: ModelObjectContext) throws {
    guard !references.isEmpty else { return }
    let stored = deleted.filter { !$0.objectID.isTemporaryID }
    for reference in references {
      let members = stored.filter { $0.entity.isKindOf(entity: reference.destination) }
      if !members.isEmpty { try remove(members, from: reference, in: context) }
    }
  }

  private func remove(
    _ members: [ManagedObject], from reference: Reference, in context: ModelObjectContext
  ) throws {
    let request = FetchRequest<ManagedObject>(entityName: reference.owner.name ?? "")
    request.predicate = ReferenceCondition(
      name: reference.name, isToMany: reference.isToMany, members: members.map(\.objectID))
    for owner in try context.fetch(request) where !owner.isDeleted {
      guard reference.isToMany else {
        owner.setValue(nil, forKey: reference.name)
        continue
      }
      let related = owner.relatedObjects(forKey: reference.name)
      for member in members { related.remove(member) }
    }
  }
}

/// The condition to refer to one of some objects.
private struct ReferenceCondition: FetchPredicate {
  let name: String
  let isToMany: Bool
  let members: [ManagedObjectID]

  func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition {
    try FormatPredicate(isToMany ? "ANY %K IN %@" : "%K IN %@", name, members).conditionTree(for: entity)
  }
}

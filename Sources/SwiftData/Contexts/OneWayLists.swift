import Heartwood

/// The lists of models that do not lead back. Delete rules follow inverse relationships, so that a deleted model would stay in them.
struct OneWayLists {
  private struct List {
    let owner: EntityDescription
    let name: String
    let destination: EntityDescription
  }

  private let lists: [List]

  init(of model: ManagedObjectModel) {
    lists = model.entities.flatMap { entity in
      entity.ownProperties.compactMap { property in
        guard let relationship = property as? RelationshipDescription, relationship.isToMany,
          relationship.inverseRelationship == nil, let destination = relationship.destinationEntity
        else { return nil }
        return List(owner: entity, name: relationship.name, destination: destination)
      }
    }
  }

  /// Removes objects that the save deletes from the lists that have them, stored ones and those of the context.
  ///
  /// - Throws: The error of a store.
  /// - Complexity: Reads the links of each list to objects of the class of a deleted one.
  func remove(_ deleted: some Sequence<ManagedObject>, in context: ModelObjectContext) throws {
    guard !lists.isEmpty else { return }
    let stored = deleted.filter { !$0.objectID.isTemporaryID }
    for list in lists {
      let members = stored.filter { $0.entity.isKindOf(entity: list.destination) }
      if !members.isEmpty { try remove(members, from: list, in: context) }
    }
  }

  private func remove(_ members: [ManagedObject], from list: List, in context: ModelObjectContext) throws {
    let request = FetchRequest<ManagedObject>(entityName: list.owner.name ?? "")
    request.predicate = ListCondition(name: list.name, members: members.map(\.objectID))
    for owner in try context.fetch(request) where !owner.isDeleted {
      let related = owner.relatedObjects(forKey: list.name)
      for member in members { related.remove(member) }
    }
  }
}

/// The condition to have one of some objects in a list.
private struct ListCondition: FetchPredicate {
  let name: String
  let members: [ManagedObjectID]

  func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition {
    try FormatPredicate("ANY %K IN %@", name, members).conditionTree(for: entity)
  }
}

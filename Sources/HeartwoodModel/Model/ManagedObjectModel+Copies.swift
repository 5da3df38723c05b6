/// Relationships that were copied from others, in other entities or other models.
extension ManagedObjectModel {
  /// Gives copied relationships the destinations and inverses of the same names in this model.
  func adoptCopiedRelationships() {
    let copies = entities.flatMap(\.ownProperties).compactMap { $0 as? RelationshipDescription }
      .filter(\.refersByName)
    guard !copies.isEmpty else { return }
    let entities = entitiesByName
    for copy in copies {
      guard let destination = copy.destinationEntity, destination.model !== self,
        let own = entities[destination.displayName]
      else { continue }
      copy.destinationEntity = own
    }
    let inverses = copies.map(\.inverseByName)
    for (copy, inverse) in zip(copies, inverses) {
      copy.inverseRelationship = inverse
      copy.refersByName = false
    }
  }
}

extension RelationshipDescription {
  /// The relationship of the destination with the name of the inverse; nil if it does not lead back.
  fileprivate var inverseByName: RelationshipDescription? {
    guard let name = inverseRelationship?.name,
      let found = destinationEntity?.relationshipsByName[name], let back = found.inverseRelationship,
      found.refersByName ? back.name == self.name : back === self,
      let entity, let end = found.destinationEntity, entity.isKindOf(entity: end)
    else { return nil }
    return found
  }
}

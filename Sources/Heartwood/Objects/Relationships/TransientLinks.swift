/// Relationships that are not stored: their destinations are in the objects of the context, on both sides.
///
/// An object that has some is kept, as its values are nowhere else; otherwise the other side would lead to an object that does not know
/// of it any more.
struct TransientLinks {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Keeps an object as long as it has destinations in such relationships, or stops keeping it.
  func keepForTransientLinks(_ object: ManagedObject) {
    guard !object.entity.compiled.transientRelationships.isEmpty else { return }
    if object.hasTransientLinks {
      context.transientOwners.insert(object)
    } else {
      context.transientOwners.remove(object)
    }
  }

  /// Takes an object that loses its values out of the other sides of such relationships. That is no change of theirs.
  func dropTransientLinks(of object: ManagedObject) {
    let relationships = object.entity.compiled.transientRelationships
    guard !relationships.isEmpty, object.pending != nil else { return }
    context.transientOwners.remove(object)
    for relationship in relationships {
      guard let inverse = relationship.inverseRelationship else { continue }
      for key in object.transientLinks(relationship) {
        guard let other = context.registered(relationship.destinationEntity.rootEntity, key), other !== object
        else {
          continue
        }
        other.dropTransientLink(to: object, inverse)
        keepForTransientLinks(other)
      }
    }
  }

  /// Replaces temporary keys of objects that a save has named.
  func renameTransientLinks() {
    guard !context.transientOwners.isEmpty else { return }
    for object in context.transientOwners {
      object.forEachRelationshipState { if $0.isTransient { $0.rename(context.permanentKeys.permanent) } }
      for relationship in object.entity.compiled.transientRelationships where !relationship.isToMany {
        guard case .object(let id)? = object.pending?.header.transients[relationship.slot], id.isTemporaryID
        else {
          continue
        }
        let key = context.permanentKeys.permanent(id.key)
        let named = context.registered(relationship.destinationEntity.rootEntity, key)?.identifier
        object.pending?.header.transients[relationship.slot] = .object(
          named ?? context.identifier(id.entity, key))
      }
    }
  }
}

extension ManagedObject {
  fileprivate final var hasTransientLinks: Bool {
    entity.compiled.transientRelationships.contains { !transientLinks($0).isEmpty }
  }

  /// The keys of the destinations before and after unsaved changes.
  fileprivate final func transientLinks(_ relationship: RelationshipDescription) -> [UInt64] {
    guard let pending else { return [] }
    if relationship.isToMany {
      return relationshipState(at: relationship.slot).map { $0.keys() + Array($0.removed) } ?? []
    }
    return [pending.edit(relationship.slot), pending.header.transients[relationship.slot]].compactMap {
      if case .object(let id)? = $0 { return id.key }
      return nil
    }
  }

  fileprivate final func dropTransientLink(to object: ManagedObject, _ relationship: RelationshipDescription)
  {
    let slot = relationship.slot
    if relationship.isToMany {
      relationshipState(at: slot)?.drop(object.identifier.key)
      return
    }
    guard let pending else { return }
    func leads(_ value: Value?) -> Bool {
      if case .object(let id)? = value { return id.key == object.identifier.key }
      return false
    }
    if leads(pending.edit(slot)) { changeValue(slot) { pending.dropEdit(slot) } }
    if leads(pending.header.transients[slot]) {
      changeValue(slot) { pending.header.transients[slot] = nil }
    }
    exposeRow()
  }
}

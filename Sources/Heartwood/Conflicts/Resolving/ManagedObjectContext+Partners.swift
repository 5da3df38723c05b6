/// One-to-one relationships after conflicts.
///
/// Each side is a value of its own row. A context changes both at once, but a merge policy that takes over the newest row of one
/// side, or lets an unsaved value win over it, must see to the other.
extension ManagedObjectContext {
  /// Makes the other side of a one-to-one relationship agree with the object; where the store wins, the object with the other
  /// side.
  ///
  /// - Parameter key: The key of the object at the other side.
  func rejoin(_ object: ManagedObject, _ slot: Int, _ key: UInt64, by type: MergePolicyType) {
    let relationship = object.entity.relationship(at: slot)
    guard let inverse = relationship.inverseRelationship else { return }
    view.held = nil
    let partner = self.object(relationship.destinationEntity, key)
    refreshPartner(relationship, .object(partner.identifier))
    if type.storeWins {
      restoreInverses(of: object, slot: slot)
      object.dropEdit(slot)
    } else if object.value(at: slot) == .object(partner.identifier) {
      addInverse(of: relationship, at: partner, of: object)
    } else {
      forget(object, in: inverse, of: partner)
    }
  }

  /// Refreshes the former and the newest partners of an object whose newest row has others than the former row.
  ///
  /// - Parameter former: The partners in the former row.
  func refreshPartners(of object: ManagedObject, _ former: [(RelationshipDescription, Value)]) {
    for (relationship, partner) in former {
      let newest = object.committedValue(at: relationship.slot)
      guard newest != partner else { continue }
      refreshPartner(relationship, partner)
      refreshPartner(relationship, newest)
    }
  }

  /// Takes over the newest row of a partner that was read before. Its unsaved values stay.
  func refreshPartner(_ relationship: RelationshipDescription, _ partner: Value) {
    if case .object(let id) = partner { refreshPartner(relationship, id.key) }
  }

  /// The same for the destination with a key.
  func refreshPartner(_ relationship: RelationshipDescription, _ key: UInt64) {
    guard let partner = registered(relationship.destinationEntity.rootEntity, key), partner.isRealised,
      partner.state.isDisjoint(with: [.deleted, .inserted])
    else { return }
    view.held = nil
    refreshKeepingChanges(partner, surfacingConflicts: true)
  }
}

extension ManagedObject {
  /// The one-to-one relationships, with the partners in the row.
  final var committedPairs: [(RelationshipDescription, Value)] {
    entity.compiled.pairs.map { ($0, committedValue(at: $0.slot)) }
  }
}

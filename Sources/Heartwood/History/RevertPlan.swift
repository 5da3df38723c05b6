/// The changes that the revert of a transaction is going to make.
struct RevertPlan {
  /// The changes of one object that are reverted.
  struct Update {
    let object: ManagedObject
    let difference: ObjectDifference
    /// The columns whose former values come back.
    var slots: [Int]
    /// The ordered relationships whose former orders come back.
    let orders: [String]
  }

  /// Deleted objects, which come back.
  var returning: [ObjectDifference] = []
  var updates: [Update] = []
  /// Inserted objects, which are deleted.
  var removals: [ManagedObject] = []

  /// Keeps the inserted objects to which references remain. Only those by relationships without an inverse are given: the objects have
  /// the others among their own values.
  ///
  /// - Returns: Why they are kept.
  mutating func refuseReferredTo(_ references: [ReferenceSearch.Reference]) -> [RevertConflict] {
    let going = Set(removals.map(\.objectID))
    let updates = Dictionary(
      updates.map { ($0.object.objectID, $0) }, uniquingKeysWith: { first, _ in first })
    var remaining: [ManagedObjectID: ManagedObjectID] = [:]
    for reference in references
    where !going.contains(reference.source.objectID)
      && updates[reference.source.objectID]?.takesBack(reference) != true
    {
      remaining[reference.destination] = remaining[reference.destination] ?? reference.source.objectID
    }
    let refused = removals.compactMap { object -> RevertConflict? in
      remaining[object.objectID].map {
        RevertConflict(objectID: object.objectID, property: nil, reason: .isReferredTo, other: $0)
      }
    }
    removals.removeAll { remaining[$0.objectID] != nil }
    return refused
  }
}

extension RevertPlan.Update {
  /// Whether a reference of the object is among what is taken back.
  fileprivate func takesBack(_ reference: ReferenceSearch.Reference) -> Bool {
    let relationship = reference.relationship
    guard relationship.isToMany else { return slots.contains(relationship.slot) }
    return difference.addedObjects[relationship.name]?.contains(reference.destination) == true
  }
}

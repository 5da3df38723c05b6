/// Making two objects with the same unique values one.
extension ChangeSetApplying {
  /// Deletes one of two objects with the same unique values: with `mine` the set's, with `theirs` the store's, otherwise the later one, in each copy the
  /// same. References to it lead to the other then.
  mutating func unite(_ conflicts: [ConstraintConflict]) throws {
    var kept: [ManagedObject: ManagedObject] = [:]
    var losers: [ManagedObject] = []
    for conflict in conflicts {
      let all = conflict.conflictingObjects + [conflict.databaseObject].compactMap(\.self)
      let candidates = all.filter { !$0.isDeleted && $0.managedObjectContext != nil && kept[$0] == nil }
      let ranked = try candidates.map { ($0, try rank(of: $0)) }.sorted { $0.1 < $1.1 }
      guard let first = ranked.first?.0 else { continue }
      for (loser, _) in ranked.dropFirst() where loser !== first {
        kept[loser] = first
        losers.append(loser)
      }
    }
    for loser in losers {
      while let other = kept[loser].flatMap({ kept[$0] }) { kept[loser] = other }
    }
    for reference in try ReferenceSearch(context).references(to: losers) {
      if let kept = kept[context.object(with: reference.destination)] { redirect(reference, to: kept) }
    }
    for loser in losers { kept[loser].map { unite(loser, with: $0) } }
    noteSideEffects()
  }

  /// Moves a reference by a relationship without an inverse.
  private mutating func redirect(_ reference: ReferenceSearch.Reference, to kept: ManagedObject) {
    let (source, relationship) = (reference.source, reference.relationship)
    let (slot, former) = (relationship.slot, reference.destination.key)
    let isFit = kept.entity.isKindOf(entity: relationship.destinationEntity as EntityDescription)
    if !relationship.isToMany {
      context.setToOne(source, slot, isFit ? kept : nil)
      setOwn(StampKey(address: RowAddress(source.objectID), property: view.schema.number(of: relationship)))
    } else {
      let state = context.loadedState(source, slot)
      context.willEdit(source)
      if isFit { state.substitute(former, by: kept.objectID.key) } else { state.remove(former) }
      setOwnLink(source, relationship, former, isDeleted: true)
      if isFit { setOwnLink(source, relationship, kept.objectID.key) }
    }
    report.changedObjectIDs.insert(source.objectID)
  }

  private mutating func setOwnLink(
    _ object: ManagedObject, _ relationship: RelationshipDescription, _ target: UInt64,
    isDeleted: Bool = false
  ) {
    let address = RowAddress(object.objectID)
    for key in linkKeys(address, relationship, target) { setOwn(key, isDeleted: isDeleted) }
    guard relationship.isOrdered else { return }
    setOwn(StampKey(address: address, property: view.schema.number(of: relationship)))
  }

  private mutating func unite(_ loser: ManagedObject, with kept: ManagedObject) {
    if loser.entity.rootEntity === kept.entity.rootEntity {
      for relationship in loser.entity.relationshipsBySlot
      where relationship.isToMany && !relationship.isTransient {
        guard kept.entity.slot(named: relationship.name) == relationship.slot else { continue }
        for destination in context.destinations(of: loser, relationship)
        where !context.containsRelated(kept, relationship.slot, destination) {
          context.insertRelated(kept, relationship.slot, destination, at: nil)
          setOwnLink(kept, relationship, destination.objectID.key)
        }
      }
    }
    report.unitedObjectIDs.append(loser.objectID)
    report.changedObjectIDs.insert(loser.objectID)
    // It is deleted by this store, also where it was never saved here.
    setOwn(StampKey(address: RowAddress(loser.objectID)), isDeleted: true)
    context.delete(loser)
  }

  /// The order of objects by the policy, then by when they were inserted, then by where.
  private func rank(of object: ManagedObject) throws -> (
    place: Int, time: Int64, lineage: String, key: UInt64
  ) {
    // The context has inserted what the set brings.
    let place = policy == .newest || object.isInserted == (policy == .theirs) ? 0 : 1
    let address = RowAddress(object.objectID)
    let key = StampKey(address: address)
    let stamp = try applied.stamps[key]?.stamp ?? stored(key)?.stamp
    let origin = try applied.origins[address] ?? view.origin(of: address, replica)
    return (place, stamp?.nanoseconds ?? .min, origin.lineage.uuidString, origin.key)
  }
}

import HeartwoodBytes

/// Resolving conflicts with rows that others have changed or deleted since they were read.
extension RowConflictResolution {
  /// Changes the conflicting object so that a save on the newest row can succeed.
  ///
  /// - Parameter conflicting: All objects with conflicts.
  func resolve(_ conflict: MergeConflict, by type: MergePolicyType, _ conflicting: Set<ObjectIdentifier>) {
    let object = conflict.sourceObject
    guard object.managedObjectContext === context else { return }
    context.note(object)
    context.editCount &+= 1
    switch conflict.cause {
    case .row(let newest?) where object.state.contains(.inserted): resolveInserted(object, newest, by: type)
    case .row(let newest?): resolve(object, newest, by: type, conflicting)
    case .row(nil): resolveDeleted(object, by: type)
    case .order(let slot): resolveOrder(of: object, slot, by: type)
    case .dangling(let slot, let key): dropReference(of: object, slot, key)
    case .partner(let slot, let key): rejoin(object, slot, key, by: type)
    case .referenced: applyDeleteRules(of: object)
    }
    if object.managedObjectContext != nil { object.awake(fromSnapshotEvents: .mergePolicy) }
  }

  // MARK: Changed rows

  private func resolve(
    _ object: ManagedObject, _ newest: [UInt8], by type: MergePolicyType, _ conflicting: Set<ObjectIdentifier>
  ) {
    if object.state.contains(.deleted) {
      // Edits made before the delete go with it.
      if type.storeWins {
        takeBackEdits(of: object)
      }
      take(newest, by: object)
      if type.storeWins {
        context.undelete(object)
        RelationshipRestoring(context).rejoinPartners(of: object)
      }
      return
    }
    if type != .error, type != .overwrite { object.dropEqualEdits() }
    switch type {
    case .error: return
    case .mergeByPropertyStoreTrump:
      dropEdits(of: object, equalTo: newest)
      dropEdits(of: object, changedIn: newest)
    case .mergeByPropertyObjectTrump: break
    case .overwrite: Uniting(context).editEverything(of: object)
    case .rollback:
      dropEdits(of: object, equalTo: newest)
      takeBackOwnChanges(of: object, over: newest, conflicting)
      if !object.hasUnsavedValues {
        context.changes.updated.remove(object)
        object.state.remove(.updated)
      }
    }
    take(newest, by: object)
    if type.storeWins { leaveTakenPartners(of: object) }
  }

  /// Where the store wins, leaves the partners of one-to-one relationships that have another one by their own unsaved values.
  func leaveTakenPartners(of object: ManagedObject) {
    for relationship in object.entity.compiled.pairs where object.pending?.edit(relationship.slot) == nil {
      guard let inverse = relationship.inverseRelationship,
        case .object(let id) = object.committedValue(at: relationship.slot),
        let partner = context.registered(relationship.destinationEntity.rootEntity, id.key),
        !partner.state.contains(.deleted), let edit = partner.pending?.edit(inverse.slot),
        edit != .object(object.identifier)
      else { continue }
      context.willEdit(object)
      object.setEdit(relationship.slot, .null)
    }
  }

  private func take(_ newest: [UInt8], by object: ManagedObject) {
    let former = object.state.contains(.deleted) ? [] : object.committedPartners
    let owners = object.state.contains(.deleted) ? [] : object.committedOwners
    let pairs = object.committedPairs
    object.conflictBase = nil
    do {
      try newest.withUnsafeBytes { try object.adopt(row: $0) }
      context.reloadRelationships(of: object)
      refreshPartners(of: object, pairs)
      RelationshipRestoring(context).leaveNewPartners(of: object, former)
      RelationshipRestoring(context).stayWithOwners(of: object)
      RelationshipRestoring(context).unloadOwners(of: object, owners)
    } catch {
      context.noteUnreadable(error, object)
    }
  }

  /// Drops the unsaved values of properties that the newest row has changed, too.
  private func dropEdits(of object: ManagedObject, changedIn newest: [UInt8]) {
    forEachEdit(of: object, over: newest) { slot, value in
      guard value != object.baseValue(at: slot) else { return }
      RelationshipRestoring(context).restoreInverses(of: object, slot: slot)
      object.dropEdit(slot)
    }
  }

  /// Drops the unsaved values that the newest row has, too: the other sides of relationships stay as they are.
  private func dropEdits(of object: ManagedObject, equalTo newest: [UInt8]) {
    forEachEdit(of: object, over: newest) { slot, value in
      if object.pending?.edit(slot)?.isStored(as: value) == true { object.dropEdit(slot) }
    }
  }

  /// Calls `body` with the slot of each unsaved value, and the property's value in the newest row.
  private func forEachEdit(of object: ManagedObject, over newest: [UInt8], _ body: (Int, Value) -> Void) {
    let layout = object.entity.layout
    newest.withUnsafeBytes { bytes in
      guard let row = try? RowView(validating: bytes, layout: layout) else { return }
      for slot in object.editedSlots {
        body(slot, row.value(layout.columns[slot], layout: layout, store: object.identifier.store))
      }
    }
  }

  /// Drops all unsaved values and differences of relationships, also at the other sides.
  private func takeBackEdits(of object: ManagedObject) {
    RelationshipRestoring(context).restoreInverses(of: object)
    object.dropEdits()
    object.forEachRelationshipState { $0.forgetDifferences() }
  }

  // MARK: Deleted rows

  private func resolveDeleted(_ object: ManagedObject, by type: MergePolicyType) {
    guard !object.state.contains(.deleted) else { return }
    guard !type.storeWins else {
      takeStored(insteadOf: object)
      RelationshipRestoring(context).restoreInverses(of: object)
      RelationshipRestoring(context).unloadPartners(of: object)
      context.view.held = nil
      return context.markInaccessible(object)
    }
    insertAgain(object)
  }

  /// Makes an object whose row is gone a new one under the same identifier.
  func insertAgain(_ object: ManagedObject) {
    Uniting(context).editEverything(of: object)
    object.conflictBase = nil
    object.dropRow()
    // The links went with the row.
    for relationship in object.entity.relationshipsBySlot where relationship.isToMany {
      guard let state = object.relationshipState(at: relationship.slot) else { continue }
      let keys = state.isLoaded ? state.keys() : Array(state.added)
      let new = RelationshipState(of: object, relationship)
      new.load([])
      for key in keys { new.add(key) }
      object.setRelationshipState(new, at: relationship.slot)
    }
    context.changes.updated.remove(object)
    object.state.remove(.updated)
    object.state.insert(.inserted)
    context.changes.inserted.append(object)
    RelationshipRestoring(context).joinRelationships(with: object)
  }

  // MARK: Inserted rows

  /// Makes an object that others have inserted under the same identifier, too, one of their row: both have taken back its delete.
  private func resolveInserted(_ object: ManagedObject, _ newest: [UInt8], by type: MergePolicyType) {
    if type == .overwrite { Uniting(context).editEverything(of: object) }
    context.changes.inserted.remove(object)
    object.state.remove(.inserted)
    object.state.insert(.updated)
    context.changes.updated.append(object)
    take(newest, by: object)
    object.forEachRelationshipState { $0.unload() }
    guard type.storeWins else { return Uniting(context).leaveFormerDestinations(object) }
    takeBackEdits(of: object)
  }

  // MARK: Relationships

  private func resolveOrder(of object: ManagedObject, _ slot: Int, by type: MergePolicyType) {
    guard let state = object.relationshipState(at: slot) else { return }
    if type.storeWins { state.forgetOrder() }
    context.reloadRelationships(of: object)
  }

  /// Gives a to-one relationship that leads to an object whose row is gone what the store has now, where that is another one.
  private func takeStored(
    _ relationship: RelationshipDescription, of object: ManagedObject, insteadOf key: UInt64
  ) {
    object.dropEdit(relationship.slot)
    if case .object(let id) = object.value(at: relationship.slot), id.key != key {
      refreshPartner(relationship, id.key)
    } else {
      object.setEdit(relationship.slot, .null)
    }
  }

  /// The same for all objects that have been related here to one whose row is gone.
  private func takeStored(insteadOf object: ManagedObject) {
    for relationship in object.entity.relationshipsBySlot {
      guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { continue }
      var keys = Array(object.relationshipState(at: relationship.slot)?.added ?? [])
      if case .object(let id)? = object.pending?.edit(relationship.slot) { keys.append(id.key) }
      for key in keys {
        guard let partner = context.registered(relationship.destinationEntity.rootEntity, key),
          partner.value(at: inverse.slot) == .object(object.identifier)
        else { continue }
        takeStored(inverse, of: partner, insteadOf: object.identifier.key)
      }
    }
  }

  /// Drops a reference to an object whose row is gone.
  private func dropReference(of object: ManagedObject, _ slot: Int, _ key: UInt64) {
    let relationship = object.entity.relationship(at: slot)
    if relationship.isToMany {
      if let state = object.relationshipState(at: slot), state.contains(key) { state.remove(key) }
    } else {
      takeStored(relationship, of: object, insteadOf: key)
    }
    if let destination = context.registered(relationship.destinationEntity.rootEntity, key),
      destination.state.isDisjoint(with: [.deleted, .inserted])
    {
      context.markInaccessible(destination)
    }
  }

  /// Applies the delete rules of an object again, which others reference since they were applied.
  func applyDeleteRules(of object: ManagedObject) {
    context.view.held = nil
    for relationship in object.entity.relationshipsBySlot where relationship.isToMany {
      // The destinations in the store count: an object that left it with its own delete may have been kept.
      if let state = object.relationshipState(at: relationship.slot) {
        let left = state.removed.filter { hasLeft($0, relationship, of: object) }
        state.forgetDifferences()
        state.unload()
        left.forEach(state.remove)
      }
      guard relationship.inverseRelationship?.isToMany == false else { continue }
      for key in context.relatedKeys(object, relationship.slot) { refreshPartner(relationship, key) }
    }
    // The partners are those of the newest row.
    for (relationship, partner) in object.committedPairs {
      if case .object(let id) = partner, hasLeft(id.key, relationship, of: object) { continue }
      object.dropEdit(relationship.slot)
      refreshPartner(relationship, partner)
    }
    context.changes.unpropagatedDeletes.append(object)
    context.propagateDeletes()
  }

  /// Whether the program has taken an object out of a relationship, and not the delete of the object.
  private func hasLeft(_ key: UInt64, _ relationship: RelationshipDescription, of object: ManagedObject)
    -> Bool
  {
    guard let partner = context.registered(relationship.destinationEntity.rootEntity, key),
      !partner.state.contains(.deleted)
    else { return false }
    guard let inverse = relationship.inverseRelationship else { return true }
    if inverse.isToMany {
      return partner.relationshipState(at: inverse.slot)?.removed.contains(object.identifier.key) == true
    }
    return partner.isSet(inverse.slot) && partner.value(at: inverse.slot) != .object(object.identifier)
  }
}

/// One-to-one relationships after conflicts.
///
/// Each side is a value of its own row. A context changes both at once, but a merge policy that takes over the newest row of one
/// side, or lets an unsaved value win over it, must see to the other.
extension RowConflictResolution {
  /// Makes the other side of a one-to-one relationship agree with the object; where the store wins, the object with the other
  /// side.
  ///
  /// - Parameter key: The key of the object at the other side.
  func rejoin(_ object: ManagedObject, _ slot: Int, _ key: UInt64, by type: MergePolicyType) {
    let relationship = object.entity.relationship(at: slot)
    guard let inverse = relationship.inverseRelationship else { return }
    context.view.held = nil
    let partner = context.object(relationship.destinationEntity, key)
    refreshPartner(relationship, .object(partner.identifier))
    if type.storeWins {
      RelationshipRestoring(context).restoreInverses(of: object, slot: slot)
      object.dropEdit(slot)
    } else if object.value(at: slot) == .object(partner.identifier) {
      context.addInverse(of: relationship, at: partner, of: object)
    } else {
      context.forget(object, in: inverse, of: partner)
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
    guard let partner = context.registered(relationship.destinationEntity.rootEntity, key),
      partner.isRealised,
      partner.state.isDisjoint(with: [.deleted, .inserted])
    else { return }
    context.view.held = nil
    context.refreshKeepingChanges(partner, surfacingConflicts: true)
  }
}

extension ManagedObject {
  /// The one-to-one relationships, with the partners in the row.
  final var committedPairs: [(RelationshipDescription, Value)] {
    entity.compiled.pairs.map { ($0, committedValue(at: $0.slot)) }
  }
}

/// Dropping the changes of objects in conflict, and of no others.
///
/// A relationship is changed at both sides. A to-one value belongs to the object that has it, and so does the order of a to-many
/// relationship; its destinations belong to their own to-one values. A link, and a pair of one-to-one values, belong to both objects:
/// they stay if one of the two has no conflict.
struct RowConflictResolution {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Drops what an object in conflict has changed, also at the other sides of its relationships.
  ///
  /// - Parameters:
  ///   - newest: The newest row; nil if it is the one that the object has.
  ///   - conflicting: All objects with conflicts.
  func takeBackOwnChanges(
    of object: ManagedObject, over newest: [UInt8]?, _ conflicting: Set<ObjectIdentifier>
  ) {
    let kept = keptPairs(of: object, over: newest, conflicting)
    for slot in object.editedSlots where !kept.contains(slot) {
      RelationshipRestoring(context).restoreInverses(of: object, slot: slot)
      object.dropEdit(slot)
    }
    for relationship in object.entity.relationshipsBySlot where relationship.isToMany {
      guard let state = object.relationshipState(at: relationship.slot) else { continue }
      if relationship.ownsLinks { takeBackLinks(of: object, relationship, state, conflicting) }
      if relationship.isOrdered { state.forgetOrder() }
    }
    object.exposeRow()
  }

  private func takeBackLinks(
    of object: ManagedObject, _ relationship: RelationshipDescription, _ state: RelationshipState,
    _ conflicting: Set<ObjectIdentifier>
  ) {
    let root: EntityDescription = relationship.destinationEntity.rootEntity
    for key in Array(state.added) + state.removed.sorted() {
      guard let inverse = relationship.inverseRelationship else {
        state.forgetDifference(of: key)
        continue
      }
      guard let partner = context.registered(root, key), !partner.state.contains(.deleted),
        conflicting.contains(ObjectIdentifier(partner))
      else { continue }
      state.forgetDifference(of: key)
      partner.relationshipState(at: inverse.slot)?.forgetDifference(of: object.identifier.key)
    }
  }

  /// The one-to-one relationships whose unsaved values are those of a partner without a conflict, too, and that others have not changed.
  private func keptPairs(
    of object: ManagedObject, over newest: [UInt8]?, _ conflicting: Set<ObjectIdentifier>
  ) -> Set<Int> {
    var kept: Set<Int> = []
    for relationship in object.entity.compiled.pairs {
      let slot = relationship.slot
      guard let inverse = relationship.inverseRelationship, let edit = object.pending?.edit(slot),
        !isChanged(slot, of: object, in: newest)
      else { continue }
      let former = object.baseValue(at: slot)
      guard edit != former else { continue }
      let partners = [edit, former].compactMap { value -> ManagedObject? in
        guard case .object(let id) = value else { return nil }
        return context.registered(relationship.destinationEntity.rootEntity, id.key)
      }
      let isOfOthers = partners.contains { partner in
        !conflicting.contains(ObjectIdentifier(partner)) && partner !== object
          && !partner.state.contains(.deleted) && partner.pending?.edit(inverse.slot) != nil
      }
      if isOfOthers { kept.insert(slot) }
    }
    return kept
  }

  /// Whether others have changed a property of an object.
  private func isChanged(_ slot: Int, of object: ManagedObject, in newest: [UInt8]?) -> Bool {
    guard let newest else { return false }
    let layout = object.entity.layout
    return newest.withUnsafeBytes { bytes in
      guard let row = try? RowView(validating: bytes, layout: layout) else { return true }
      return row.value(layout.columns[slot], layout: layout, store: object.identifier.store)
        != object.baseValue(at: slot)
    }
  }
}

import HeartwoodBytes

/// Making one object of two that have the same unique values.
struct Uniting {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Makes a new object the object of a stored row that the program does not use.
  func become(
    _ object: ManagedObject, _ stored: ManagedObjectID, _ row: UnsafeRawBufferPointer,
    _ resolution: UniqueResolution, _ united: inout UnitedObjects
  ) {
    context.note(object)
    if resolution.type == .overwrite { editEverything(of: object) }
    if resolution.replaces { united.replaceDestinations(of: object, by: destinationsSet(object)) }
    context.changes.inserted.remove(object)
    object.state.remove(.inserted)
    united.add(object, object)
    context.rename(object, to: ManagedObjectID(entity: object.entity, key: stored.key, store: stored.store))
    object.adopt(checkedRow: row)
    if resolution.type != .overwrite {
      for slot in object.editedSlots where !object.isSet(slot) { object.dropEdit(slot) }
    }
    object.forEachRelationshipState { $0.unload() }
    object.state.insert(.updated)
    context.changes.updated.append(object)
    leaveFormerDestinations(object)
    object.awake(fromSnapshotEvents: .mergePolicy)
  }

  /// Removes an object from the inverses of the to-one values that its unsaved ones replace.
  func leaveFormerDestinations(_ object: ManagedObject) {
    for relationship in object.entity.relationshipsBySlot where !relationship.isToMany {
      guard let inverse = relationship.inverseRelationship,
        let edit = object.pending?.edit(relationship.slot),
        case .object(let former) = object.committedValue(at: relationship.slot), edit != .object(former)
      else { continue }
      context.forget(object, in: inverse, of: context.object(relationship.destinationEntity, former.key))
    }
  }

  /// Moves what a new object has to another object, and drops it.
  func unite(
    _ object: ManagedObject, with survivor: ManagedObject, _ resolution: UniqueResolution,
    _ united: inout UnitedObjects
  ) {
    context.note(object)
    if resolution.replaces { united.replaceDestinations(of: survivor, by: destinationsSet(object)) }
    for slot in object.entity.slots where survivor.entity.slots.contains(slot) {
      if let relationship = object.entity.compiled.relationshipBySlot[slot] {
        move(relationship, from: object, to: survivor, resolution.taking(slot, of: object))
      } else if resolution.taking(slot, of: object) {
        context.willEdit(survivor)
        survivor.setEdit(slot, object.value(at: slot))
      }
    }
    context.changes.inserted.remove(object)
    object.state = [.inserted, .deleted, .noted]
    context.endEvent()
    object.state = []
    context.forget(object)
    united.add(object, survivor)
    object.standFor(survivor, in: context)
    survivor.awake(fromSnapshotEvents: .mergePolicy)
  }

  /// Makes every value of the object an unsaved one.
  func editEverything(of object: ManagedObject) {
    for slot in object.entity.slots where object.entity.compiled.relationshipBySlot[slot]?.isToMany != true {
      object.setEdit(slot, object.value(at: slot))
    }
  }

  // MARK: Relationships

  /// Moves the destinations of a relationship, and the places at their other sides.
  ///
  /// - Parameter takes: Whether a to-one value is moved. Destinations of a to-many relationship are.
  private func move(
    _ relationship: RelationshipDescription, from object: ManagedObject, to survivor: ManagedObject,
    _ takes: Bool
  ) {
    let slot = relationship.slot
    let destinations =
      relationship.isToMany ? context.related(object, slot) : [context.toOne(object, slot)].compactMap(\.self)
    for destination in destinations where destination !== object {
      if relationship.isToMany {
        addDestination(destination, to: survivor, slot)
      } else if takes {
        setOwnSide(survivor, relationship, destination)
      }
      leave(destination, relationship, object, survivor)
    }
    let leadsToItself = destinations.contains { $0 === object }
    if relationship.isToMany {
      if leadsToItself { context.insertRelated(survivor, slot, survivor, at: nil) }
      if let former = object.relationshipState(at: slot) {
        context.state(survivor, slot).noteSetting(former.differences)
      }
    } else if takes, leadsToItself || destinations.isEmpty {
      context.setToOne(survivor, slot, leadsToItself ? survivor : nil)
    }
  }

  private func addDestination(_ destination: ManagedObject, to survivor: ManagedObject, _ slot: Int) {
    guard !context.containsRelated(survivor, slot, destination) else { return }
    context.willEdit(survivor)
    context.add(destination.identifier.key, to: context.state(survivor, slot), survivor, slot)
  }

  /// Sets a to-one value, and takes the object out of its former destination.
  private func setOwnSide(
    _ object: ManagedObject, _ relationship: RelationshipDescription, _ destination: ManagedObject
  ) {
    let former = context.toOne(object, relationship.slot)
    context.willEdit(object)
    object.setEdit(relationship.slot, .object(destination.identifier))
    if let former, former !== destination { context.dropInverse(of: relationship, at: former, of: object) }
  }

  /// Puts the survivor at the place of an object at a destination, if it leads there, and otherwise takes the object out.
  private func leave(
    _ destination: ManagedObject, _ relationship: RelationshipDescription, _ object: ManagedObject,
    _ survivor: ManagedObject
  ) {
    guard let inverse = relationship.inverseRelationship, !destination.state.contains(.deleted) else {
      return
    }
    let leads =
      relationship.isToMany || survivor.value(at: relationship.slot) == .object(destination.identifier)
    guard inverse.isToMany else {
      guard context.toOne(destination, inverse.slot) === object else { return }
      context.willEdit(destination)
      return destination.setEdit(inverse.slot, leads ? .object(survivor.identifier) : .null)
    }
    let state =
      inverse.isOrdered
      ? context.loadedState(destination, inverse.slot) : context.state(destination, inverse.slot)
    let key = object.identifier.key
    guard state.isLoaded ? state.contains(key) : state.added.contains(key) else { return }
    context.willEdit(destination)
    if leads { state.substitute(key, by: survivor.identifier.key) } else { state.remove(key) }
  }

  // MARK: Replacing

  /// The to-many relationships of a new object that were set on its own side, with their destinations.
  private func destinationsSet(_ object: ManagedObject) -> [(RelationshipDescription, [ManagedObject])] {
    object.entity.relationshipsBySlot.compactMap { relationship in
      guard relationship.isToMany, object.relationshipState(at: relationship.slot)?.isSet == true else {
        return nil
      }
      return (relationship, context.related(object, relationship.slot))
    }
  }

  /// Takes other destinations than the wanted ones out of a relationship, and deletes them if they belong to the object.
  private func replaceDestinations(
    of object: ManagedObject, _ relationship: RelationshipDescription, by wanted: [ManagedObject]
  ) {
    let slot = relationship.slot
    let kept = Set(wanted.map(\.identifier.key))
    let state = context.loadedState(object, slot)
    for destination in context.related(object, slot) {
      let key = destination.identifier.key
      guard !kept.contains(key), state.isReplaceable(key) else { continue }
      if relationship.deleteRule == .cascadeDeleteRule {
        context.markDeleted(destination)
      } else {
        context.removeRelated(object, slot, destination)
      }
    }
    guard relationship.isOrdered else { return }
    let order = wanted.map(\.identifier.key).filter(state.contains)
    if order.count == state.count, order != state.keys() { state.setOrder(order) }
  }

  // MARK: References

  /// Completes what the resolution of conflicts has begun: references to objects that have become others lead to these, and destinations are
  /// replaced.
  ///
  /// - Complexity: Linear in the number of registered objects.
  func finish(_ united: UnitedObjects) {
    guard !united.isEmpty else { return }
    let keys = united.newKeys
    context.identities.forEach { redirect($0, keys) }
    for (object, relationship, destinations) in united.replacements {
      let (object, destinations) = (united.survivor(of: object), destinations.map(united.survivor))
      guard object.managedObjectContext === context else { continue }
      replaceDestinations(
        of: object, relationship,
        by: destinations.filter { $0.managedObjectContext === context && !$0.isDeleted })
    }
    context.unitedInSave += united.all
  }

  /// Replaces the keys of objects that have become others in the unsaved values of one object.
  func redirect(_ object: ManagedObject, _ keys: UnitedObjects.NewKeys) {
    for slot in object.editedSlots {
      guard case .object(let id)? = object.pending?.edit(slot), let key = keys[id.entity.rootEntity, id.key]
      else { continue }
      let destination: EntityDescription = object.entity.relationship(at: slot).destinationEntity
      object.setEdit(slot, .object(context.identifier(destination, key)))
    }
    for relationship in object.entity.relationshipsBySlot where relationship.isToMany {
      guard let newKeys = keys.of(relationship.destinationEntity.rootEntity) else { continue }
      object.relationshipState(at: relationship.slot)?.replaceKeys(newKeys)
    }
  }
}

extension UniqueResolution {
  /// Whether the value of a property is that of the unsaved object.
  fileprivate func taking(_ slot: Int, of object: ManagedObject) -> Bool {
    !type.storeWins && (type == .overwrite || object.isSet(slot))
  }
}

/// Taking back, in a context, what one transaction of the store has changed.
struct Revert {
  private let context: ManagedObjectContext
  /// The store before and after the transaction, as contexts read it.
  private let (before, after): (ManagedObjectContext, ManagedObjectContext)
  private let generations: GenerationPair
  private var conflicts: [RevertConflict] = []

  init(_ context: ManagedObjectContext, _ number: UInt64, of coordinator: PersistentStoreCoordinator) throws {
    func past(_ number: UInt64) throws -> ManagedObjectContext {
      let past = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      try past.performAndWait {
        try past.setQueryGenerationFrom(coordinator.queryGenerationToken(forGeneration: number))
      }
      return past
    }
    self.context = context
    generations = try coordinator.historyStore(nil).pastViews(at: number - 1, and: number)
    before = try past(number - 1)
    after = try past(number)
  }

  /// Changes the context, and returns what could not be changed.
  ///
  /// Conflicts are found before anything is changed: the two sides of a relationship change together.
  mutating func run() throws -> [RevertConflict] {
    var plan = RevertPlan()
    for difference in try generations.objectDifferences() {
      switch difference.kind {
      case .deleted:
        if canReturn(difference) { plan.returning.append(difference) }
      case .updated: if let update = try update(difference) { plan.updates.append(update) }
      case .inserted: if let object = try removable(difference) { plan.removals.append(object) }
      }
    }
    try refuseWhatIsInTheWay(&plan)
    // Objects come back before values that refer to them, and go after them.
    let updates = plan.returning.map(whole) + plan.updates
    for update in updates { try apply(update) }
    for update in updates { for name in update.orders { try restoreOrder(name, of: update.object) } }
    for object in plan.removals { context.delete(object) }
    return conflicts
  }

  /// Takes out of a plan what objects that stay need. What stays may need more, so this ends when it finds nothing.
  private mutating func refuseWhatIsInTheWay(_ plan: inout RevertPlan) throws {
    let references = try ReferenceSearch(context).references(to: plan.removals).filter { !wasThere($0) }
    var count = -1
    while count < conflicts.count {
      count = conflicts.count
      refuseRemovals(&plan.removals)
      conflicts += plan.refuseReferredTo(references)
      conflicts += try RevertUniqueness(context, before).refuseTaken(&plan)
    }
  }

  /// Whether a reference was there before the transaction, when it led to no object.
  private func wasThere(_ reference: ReferenceSearch.Reference) -> Bool {
    before.performAndWait {
      guard let then: ManagedObject = try? before.existingObject(with: reference.source.objectID) else {
        return false
      }
      return ReferenceSearch(before).destinations(of: then, reference.relationship).contains(
        reference.destination.key)
    }
  }

  /// Keeps the objects whose deletion would delete others that stay.
  private mutating func refuseRemovals(_ removals: inout [ManagedObject]) {
    let staying = Set(conflicts.map(\.objectID))
    let refused = removals.compactMap { object -> RevertConflict? in
      let cascades = object.entity.relationshipsBySlot.filter { $0.deleteRule == .cascadeDeleteRule }
      let first = cascades.first { relationship in
        context.destinations(of: object, relationship).contains { staying.contains($0.objectID) }
      }
      return first.map { RevertConflict(objectID: object.objectID, property: $0.name, reason: .wasChanged) }
    }
    conflicts += refused
    let kept = Set(refused.map(\.objectID))
    removals.removeAll { kept.contains($0.objectID) }
  }

  private mutating func refuse(
    _ difference: ObjectDifference, _ property: String?, _ reason: RevertConflict.Reason
  ) {
    conflicts.append(RevertConflict(objectID: difference.objectID, property: property, reason: reason))
  }

  /// The object as it is in the context; nil if it does not exist any more.
  private func present(_ identifier: ManagedObjectID) -> ManagedObject? {
    let object: ManagedObject? = try? context.existingObject(with: identifier)
    return object?.isDeleted == false ? object : nil
  }

  /// Whether an object that was deleted is still gone.
  private mutating func canReturn(_ difference: ObjectDifference) -> Bool {
    guard present(difference.objectID) != nil else { return true }
    refuse(difference, nil, .existsAgain)
    return false
  }

  /// An object that was deleted, as a new one under its identifier, and all of its values.
  private func whole(_ difference: ObjectDifference) -> RevertPlan.Update {
    let object = returned(difference.objectID)
    let orders = object.entity.relationshipsBySlot.filter {
      $0.isOrdered && difference.changesDestinations(of: $0.name)
    }
    return RevertPlan.Update(
      object: object, difference: difference, slots: changedParts(of: difference), orders: orders.map(\.name))
  }

  private func returned(_ identifier: ManagedObjectID) -> ManagedObject {
    let (root, key) = (identifier.entity.rootEntity, identifier.key)
    if let known = context.registered(root, key) {
      // Its delete is not saved yet.
      guard !context.changes.deleted.contains(known) else {
        context.insert(known)
        return known
      }
      context.forget(known)
    }
    let object = identifier.entity.factory.makeObject()
    context.adoptReturning(object, as: context.identifier(identifier.entity, key))
    return object
  }

  private mutating func update(_ difference: ObjectDifference) throws -> RevertPlan.Update? {
    guard let object = present(difference.objectID) else {
      refuse(difference, nil, .isDeleted)
      return nil
    }
    var slots: [Int] = []
    for slot in changedParts(of: difference) {
      if try isAsAfter(slot, of: object) {
        slots.append(slot)
      } else {
        refuse(difference, object.entity.property(at: slot).name, .wasChanged)
      }
    }
    var orders: [String] = []
    for relationship in object.entity.relationshipsBySlot
    where relationship.isOrdered && difference.changesDestinations(of: relationship.name) {
      if try isAsAfter(relationship.slot, of: object) {
        orders.append(relationship.name)
      } else {
        refuse(difference, relationship.name, .isReordered)
      }
    }
    return RevertPlan.Update(object: object, difference: difference, slots: slots, orders: orders)
  }

  /// The columns that the transaction has changed. A composite attribute that has got its value or lost it is one, and otherwise each of its
  /// elements is one. What is derived follows from the others.
  private func changedParts(of difference: ObjectDifference) -> [Int] {
    let (entity, changed) = (difference.objectID.entity, Set(difference.changedSlots))
    let parts = changed.filter { slot in
      !(entity.property(at: slot) is DerivedAttributeDescription)
        && entity.compositeSlots(around: slot).allSatisfy { !changed.contains($0) }
    }
    return parts.sorted { entity.property(at: $0).name < entity.property(at: $1).name }
  }

  /// An object that the transaction has inserted; nil if it is gone, or if something has changed it or refers to it since.
  private mutating func removable(_ difference: ObjectDifference) throws -> ManagedObject? {
    guard let object = present(difference.objectID) else { return nil }
    let entity = object.entity
    for slot in entity.slots where !entity.isElement(slot) {
      let property = entity.property(at: slot)
      guard !property.isTransient, !(property is DerivedAttributeDescription),
        try !isAsAfter(slot, of: object)
      else { continue }
      refuse(difference, property.name, .wasChanged)
      return nil
    }
    return object
  }

  private mutating func apply(_ update: RevertPlan.Update) throws {
    let (object, difference) = (update.object, update.difference)
    for slot in update.slots { try set(slot, of: object, difference) }
    for (name, destinations) in difference.removedObjects.sorted(by: { $0.key < $1.key }) {
      guard let slot = linkSlot(name, of: object) else { continue }
      for identifier in destinations {
        guard let destination = present(identifier) else {
          if misses(identifier, object, slot) { refuse(difference, name, .destinationIsDeleted) }
          continue
        }
        if !context.containsRelated(object, slot, destination) {
          context.insertRelated(object, slot, destination, at: nil)
        }
      }
    }
    for (name, destinations) in difference.addedObjects.sorted(by: { $0.key < $1.key }) {
      guard let slot = linkSlot(name, of: object) else { continue }
      for destination in destinations {
        if let destination = present(destination), context.containsRelated(object, slot, destination) {
          context.removeRelated(object, slot, destination)
        }
      }
    }
  }

  /// Gives the destinations of an ordered relationship the order that they had; others stay behind them.
  private func restoreOrder(_ name: String, of object: ManagedObject) throws {
    guard let slot = object.entity.slot(named: name) else { return }
    let former = try before.performAndWait {
      before.relatedKeys(try before.existingObject(with: object.objectID) as ManagedObject, slot)
    }
    let state = context.loadedState(object, slot)
    let (present, known) = (state.keys(), Set(former))
    let order = former.filter(state.contains) + present.filter { !known.contains($0) }
    guard order != present else { return }
    context.willEdit(object)
    state.setOrder(order)
  }

  /// The slot of a to-many relationship whose links are its own: where the inverse is to-one, its values decide.
  private func linkSlot(_ name: String, of object: ManagedObject) -> Int? {
    guard let slot = object.entity.slot(named: name),
      object.entity.relationship(at: slot).inverseRelationship?.isToMany != false
    else { return nil }
    return slot
  }

  /// Whether a value is still what the transaction has made it.
  private func isAsAfter(_ slot: Int, of object: ManagedObject) throws -> Bool {
    let entity = object.entity
    if let relationship = entity.compiled.relationshipBySlot[slot], relationship.isToMany {
      let keys = context.relatedKeys(object, slot)
      let former = try after.performAndWait {
        try after.relatedKeys(after.existingObject(with: object.objectID) as ManagedObject, slot)
      }
      return relationship.isOrdered ? former == keys : Set(former) == Set(keys)
    }
    // An element of a composite attribute that has no value any more has none either.
    guard entity.compositeSlots(around: slot).allSatisfy({ !object.value(at: $0).isNull }) else {
      return false
    }
    let value = object.wholeValue(at: slot)
    return try after.performAndWait {
      let then: ManagedObject = try after.existingObject(with: object.objectID)
      return value.isStored(as: then.wholeValue(at: slot))
    }
  }

  /// Sets an attribute or a to-one relationship to what it was before the transaction.
  private mutating func set(_ slot: Int, of object: ManagedObject, _ difference: ObjectDifference) throws {
    let former = try before.performAndWait {
      let then: ManagedObject = try before.existingObject(with: difference.objectID)
      return then.wholeValue(at: slot)
    }
    guard let relationship = object.entity.compiled.relationshipBySlot[slot] else {
      context.willEdit(object)
      return object.setWhole(slot, former)
    }
    guard case .object(let identifier) = former else { return context.setToOne(object, slot, nil) }
    guard let destination = present(identifier) else {
      guard existed(identifier) else { return context.setToOne(object, slot, nil) }
      return refuse(difference, relationship.name, .destinationIsDeleted)
    }
    // A destination that the other side of a one-to-one relationship has got since stays.
    if let inverse = relationship.inverseRelationship, !inverse.isToMany,
      conflicts.contains(where: { $0.objectID == destination.objectID && $0.property == inverse.name })
    {
      return refuse(difference, relationship.name, .wasChanged)
    }
    context.setToOne(object, slot, destination)
  }

  /// Whether a destination that is gone cannot come back, and no difference of its own says so.
  private func misses(_ destination: ManagedObjectID, _ object: ManagedObject, _ slot: Int) -> Bool {
    object.entity.relationship(at: slot).inverseRelationship == nil && existed(destination)
  }

  /// Whether there was an object before the transaction.
  private func existed(_ identifier: ManagedObjectID) -> Bool {
    before.performAndWait { (try? before.existingObject(with: identifier) as ManagedObject) != nil }
  }
}

/// A part of a transaction that was not taken back, because something has changed since.
public struct RevertConflict: Sendable, Hashable {
  /// Why it was not.
  public enum Reason: String, Sendable, Hashable {
    /// A later transaction, or an unsaved change, has given the property another value. Of an inserted object: it stays.
    case wasChanged
    /// The changed object was deleted later.
    case isDeleted
    /// An object that the transaction has deleted exists again.
    case existsAgain
    /// The property referred to an object that does not exist any more.
    case destinationIsDeleted
    /// `other` refers to an object that the transaction has inserted, by a relationship without an inverse.
    case isReferredTo
    /// `other` has the values that must be unique.
    case isTaken
    /// The destinations of an ordered relationship, or their order, were changed since: they stay in the order that they have.
    case isReordered
  }

  /// The object.
  public let objectID: ManagedObjectID
  /// The property; nil for the whole object.
  public let property: String?
  /// Why.
  public let reason: Reason
  /// The object that is in the way, of the reasons that have one.
  public internal(set) var other: ManagedObjectID?
}

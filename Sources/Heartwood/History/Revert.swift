/// Taking back, in a context, what one transaction of the store has changed.
struct Revert {
  private let context: ManagedObjectContext
  /// The store before and after the transaction, as contexts read it.
  private let (before, after): (ManagedObjectContext, ManagedObjectContext)
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
    before = try past(number - 1)
    after = try past(number)
  }

  /// Changes the context, and returns what could not be changed.
  mutating func run(_ differences: [ObjectDifference]) throws -> [RevertConflict] {
    // Objects come back before values that refer to them, and go after them.
    for difference in differences where difference.kind == .deleted { try restore(difference) }
    for difference in differences where difference.kind == .updated { try takeBack(difference) }
    for difference in differences where difference.kind == .inserted { try remove(difference) }
    return conflicts
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

  private mutating func restore(_ difference: ObjectDifference) throws {
    let identifier = difference.objectID
    guard present(identifier) == nil else { return refuse(difference, nil, .existsAgain) }
    let (root, key) = (identifier.entity.rootEntity, identifier.key)
    if let known = context.registered(root, key) {
      if known.isDeleted, known.managedObjectContext === context {
        context.insert(known)
      } else {
        context.forget(known)
      }
    }
    let object: ManagedObject
    if let known = context.registered(root, key) {
      object = known
    } else {
      object = identifier.entity.factory.makeObject()
      context.adoptInserted(object, as: context.identifier(identifier.entity, key))
    }
    for name in difference.changedValues { try set(name, of: object, difference) }
    for (name, destinations) in difference.removedObjects { add(destinations, to: name, of: object) }
  }

  private mutating func takeBack(_ difference: ObjectDifference) throws {
    guard let object = present(difference.objectID) else { return refuse(difference, nil, .isDeleted) }
    for name in difference.changedValues.sorted() {
      if try isAsAfter(name, of: object) {
        try set(name, of: object, difference)
      } else {
        refuse(difference, name, .wasChanged)
      }
    }
    for (name, destinations) in difference.removedObjects { add(destinations, to: name, of: object) }
    for (name, destinations) in difference.addedObjects {
      guard let slot = object.entity.slot(named: name) else { continue }
      for destination in destinations {
        if let destination = present(destination), context.containsRelated(object, slot, destination) {
          context.removeRelated(object, slot, destination)
        }
      }
    }
    for name in difference.reorderedRelationships.sorted() { refuse(difference, name, .isReordered) }
  }

  private mutating func remove(_ difference: ObjectDifference) throws {
    guard let object = present(difference.objectID) else { return }
    for slot in object.entity.slots where object.entity.compiled.relationshipBySlot[slot] == nil {
      let name = object.entity.property(at: slot).name
      guard !object.entity.isElement(slot), try !isAsAfter(name, of: object) else { continue }
      return refuse(difference, name, .wasChanged)
    }
    context.delete(object)
  }

  /// Whether a value is still what the transaction has made it.
  private func isAsAfter(_ name: String, of object: ManagedObject) throws -> Bool {
    guard let slot = object.entity.slot(named: name) else { return false }
    let value = object.wholeValue(at: slot)
    return try after.performAndWait {
      let then: ManagedObject = try after.existingObject(with: object.objectID)
      return value.isStored(as: then.wholeValue(at: slot))
    }
  }

  /// Sets an attribute or a to-one relationship to what it was before the transaction.
  private mutating func set(_ name: String, of object: ManagedObject, _ difference: ObjectDifference) throws {
    guard let slot = object.entity.slot(named: name) else { return }
    let former = try before.performAndWait {
      let then: ManagedObject = try before.existingObject(with: difference.objectID)
      return then.wholeValue(at: slot)
    }
    guard object.entity.compiled.relationshipBySlot[slot] != nil else {
      context.willEdit(object)
      return object.setWhole(slot, former)
    }
    guard case .object(let identifier) = former else { return context.setToOne(object, slot, nil) }
    guard let destination = present(identifier) else {
      return refuse(difference, name, .destinationIsDeleted)
    }
    context.setToOne(object, slot, destination)
  }

  /// Adds the destinations that still exist.
  private func add(_ destinations: [ManagedObjectID], to name: String, of object: ManagedObject) {
    guard let slot = object.entity.slot(named: name) else { return }
    for destination in destinations {
      if let destination = present(destination), !context.containsRelated(object, slot, destination) {
        context.insertRelated(object, slot, destination, at: nil)
      }
    }
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
    /// The order of the destinations was changed, which is not taken back.
    case isReordered
  }

  /// The object.
  public let objectID: ManagedObjectID
  /// The property; nil for the whole object.
  public let property: String?
  /// Why.
  public let reason: Reason
}

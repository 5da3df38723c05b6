extension SaveChangesRequest {
  /// The values of `EntityDescription.storedProperties` that an object of the save has, in their order.
  public func storedValues(of object: ManagedObject) -> [StoredValue] {
    slots.of(object.entity).map { storedValue(at: $0, of: object) }
  }

  /// The value of an attribute or to-one relationship that an object of the save has.
  public func storedValue(_ property: PropertyDescription, of object: ManagedObject) -> StoredValue {
    storedValue(at: property.slot, of: object)
  }

  private func storedValue(at slot: Int, of object: ManagedObject) -> StoredValue {
    let value = object.value(at: slot)
    guard case .object(let id) = value else { return StoredValue(value) }
    guard id.isTemporaryID, let context = object.managedObjectContext else { return .object(id) }
    let key = context.permanentKeys.permanent(id.key)
    return .object(
      context.registered(id.entity.rootEntity, key)?.identifier
        ?? ManagedObjectID(entity: id.entity, key: key, store: context.storeIdentity))
  }
}

/// The slots of stored properties, found once for each entity.
final class StoredSlots {
  private var known: [ObjectIdentifier: [Int]] = [:]

  func of(_ entity: EntityDescription) -> [Int] {
    if let slots = known[ObjectIdentifier(entity)] { return slots }
    let slots = entity.storedSlots
    known[ObjectIdentifier(entity)] = slots
    return slots
  }
}

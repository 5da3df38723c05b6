/// Identifiers of destinations, which have the object's own entity.
extension ManagedObjectContext {
  /// The identifier of a destination.
  ///
  /// A relationship stores keys only. If its destination entity has subentities, the registered object or the row tells the
  /// object's own entity; if neither exists, it is the destination entity.
  func identifier(_ destination: EntityDescription, _ key: UInt64) -> ManagedObjectID {
    let factory = destination.factory
    let key = permanentKeys.permanent(key)
    guard factory.hasSubentities else { return factory.identifier(key, in: storeIdentity) }
    if let object = registered(destination.rootEntity, key) { return object.objectID }
    let number = try? readingView().withRow(destination.rootEntity, key) { $0?.entityNumber }
    guard let number, let own = try? destination.rootEntity.entity(numbered: number)
    else { return factory.identifier(key, in: storeIdentity) }
    return own.factory.identifier(key, in: storeIdentity)
  }
}

extension ManagedObject {
  /// The value, with its own entity if it is an identifier.
  final func withOwnEntity(_ value: Value) -> Value {
    guard case .object(let id) = value, let context = managedObjectContext else { return value }
    return .object(context.identifier(id.entity, id.key))
  }
}

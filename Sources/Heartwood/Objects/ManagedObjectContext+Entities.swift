import HeartwoodBytes

/// The entities of a context's model.
extension ManagedObjectContext {
  /// The entity of a class, in the model of the context's coordinator.
  ///
  /// - Precondition: The model has exactly one entity with this class.
  func entity(of type: ManagedObject.Type) -> EntityDescription {
    guard let model = persistentStoreCoordinator?.managedObjectModel else { return type.entity() }
    guard let entity = model.entity(of: type) else {
      programError(
        "\(type) is not the class of exactly one entity of the model, which has "
          + ModelChecks.list(model.entitiesByName.keys))
    }
    return entity
  }
}

extension EntityDescription {
  /// A new object of the entity with this name in the context's model.
  ///
  /// - Precondition: The model has such an entity, and it is not abstract.
  @_disfavoredOverload public static func insertNewObject(
    forEntityName name: String, into context: ManagedObjectContext
  ) -> ManagedObject {
    guard let entity = entity(forEntityName: name, in: context) else {
      programError("the context's model has no entity called \"\(name)\"")
    }
    return ObjectMaking.make(entity.factory.objectClass, entity, insertInto: context)
  }

  /// The entity with this name in the context's model; nil if there is none.
  public static func entity(
    forEntityName name: String, in context: ManagedObjectContext
  ) -> EntityDescription? {
    context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name]
  }
}

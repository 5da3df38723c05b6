import Heartwood

extension ManagedObjectContext {
  package func entity(_ name: String) throws -> EntityDescription {
    guard let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[name] else {
      throw HeartwoodError(.coreData, "no entity \(name)")
    }
    return entity
  }
}

import CoreData

// Apple's declarations of requests, controllers, conflicts and migrations: see `ObjectShapes.swift`.

private func requests() {
  object(NSPersistentStoreRequest.self)
  write(\NSPersistentStoreRequest.affectedStores, [NSPersistentStore]?.self)
  read(\NSPersistentStoreRequest.requestType, NSPersistentStoreRequestType.self)

  typealias Request = NSFetchRequest<NSManagedObject>
  let _: any NSCopying.Type = Request.self
  let _: () -> Request = Request.init
  let _: (String) -> Request = Request.init(entityName:)
  let _: (Request) -> () throws -> [NSManagedObject] = Request.execute
  write(\Request.entity, NSEntityDescription?.self)
  read(\Request.entityName, String?.self)
  write(\Request.predicate, NSPredicate?.self)
  write(\Request.sortDescriptors, [NSSortDescriptor]?.self)
  write(\Request.fetchLimit, Int.self)
  write(\Request.resultType, NSFetchRequestResultType.self)
  write(\Request.includesSubentities, Bool.self)
  write(\Request.includesPropertyValues, Bool.self)
  write(\Request.returnsObjectsAsFaults, Bool.self)
  write(\Request.relationshipKeyPathsForPrefetching, [String]?.self)
  write(\Request.includesPendingChanges, Bool.self)
  write(\Request.returnsDistinctResults, Bool.self)
  write(\Request.propertiesToFetch, [Any]?.self)
  write(\Request.fetchOffset, Int.self)
  write(\Request.fetchBatchSize, Int.self)
  write(\Request.shouldRefreshRefetchedObjects, Bool.self)
  write(\Request.propertiesToGroupBy, [Any]?.self)
  write(\Request.havingPredicate, NSPredicate?.self)
  let _: UInt = NSFetchRequestResultType.countResultType.rawValue

  typealias Asynchronous = NSAsynchronousFetchRequest<NSManagedObject>
  let _: (Request, ((NSAsynchronousFetchResult<NSManagedObject>) -> Void)?) -> Asynchronous =
    Asynchronous.init(fetchRequest:completionBlock:)
  read(\Asynchronous.fetchRequest, Request.self)
  write(\Asynchronous.estimatedResultCount, Int.self)
  read(\NSAsynchronousFetchResult<NSManagedObject>.fetchRequest, Asynchronous.self)
  read(\NSAsynchronousFetchResult<NSManagedObject>.finalResult, [NSManagedObject]?.self)
  read(\NSPersistentStoreAsynchronousResult.managedObjectContext, NSManagedObjectContext.self)
  read(\NSPersistentStoreAsynchronousResult.operationError, (any Error)?.self)
  read(\NSPersistentStoreAsynchronousResult.progress, Progress?.self)
  let _: (NSPersistentStoreAsynchronousResult) -> () -> Void = NSPersistentStoreAsynchronousResult.cancel
}

private func batches() {
  typealias Insert = NSBatchInsertRequest
  let _: (String, [[String: Any]]) -> Insert = Insert.init(entityName:objects:)
  let _: (NSEntityDescription, [[String: Any]]) -> Insert = Insert.init(entity:objects:)
  let _: (String, @escaping (NSMutableDictionary) -> Bool) -> Insert = Insert.init(
    entityName:dictionaryHandler:)
  let _: (NSEntityDescription, @escaping (NSManagedObject) -> Bool) -> Insert =
    Insert.init(entity:managedObjectHandler:)
  read(\Insert.entityName, String.self)
  read(\Insert.entity, NSEntityDescription?.self)
  write(\Insert.objectsToInsert, [[String: Any]]?.self)
  write(\Insert.resultType, NSBatchInsertRequestResultType.self)
  read(\NSBatchInsertResult.result, Any?.self)
  read(\NSBatchInsertResult.resultType, NSBatchInsertRequestResultType.self)

  typealias Update = NSBatchUpdateRequest
  let _: (String) -> Update = Update.init(entityName:)
  let _: (NSEntityDescription) -> Update = Update.init(entity:)
  read(\Update.entityName, String.self)
  read(\Update.entity, NSEntityDescription.self)
  write(\Update.predicate, NSPredicate?.self)
  write(\Update.includesSubentities, Bool.self)
  write(\Update.resultType, NSBatchUpdateRequestResultType.self)
  write(\Update.propertiesToUpdate, [AnyHashable: Any]?.self)
  read(\NSBatchUpdateResult.result, Any?.self)

  typealias Delete = NSBatchDeleteRequest
  let _: (NSFetchRequest<any NSFetchRequestResult>) -> Delete = Delete.init(fetchRequest:)
  let _: ([NSManagedObjectID]) -> Delete = Delete.init(objectIDs:)
  write(\Delete.resultType, NSBatchDeleteRequestResultType.self)
  read(\Delete.fetchRequest, NSFetchRequest<any NSFetchRequestResult>.self)
  read(\NSBatchDeleteResult.result, Any?.self)

  typealias Save = NSSaveChangesRequest
  typealias Objects = Set<NSManagedObject>?
  let _: (Objects, Objects, Objects, Objects) -> Save = Save.init(inserted:updated:deleted:locked:)
  read(\Save.insertedObjects, Set<NSManagedObject>?.self)
}

private func controllers() {
  typealias Controller = NSFetchedResultsController<NSManagedObject>
  object(Controller.self)
  let _: (NSFetchRequest<NSManagedObject>, NSManagedObjectContext, String?, String?) -> Controller =
    Controller.init(fetchRequest:managedObjectContext:sectionNameKeyPath:cacheName:)
  let _: (Controller) -> () throws -> Void = Controller.performFetch
  let _: () -> Controller = Controller.init
  read(\Controller.fetchRequest, NSFetchRequest<NSManagedObject>.self)
  read(\Controller.managedObjectContext, NSManagedObjectContext.self)
  read(\Controller.sectionNameKeyPath, String?.self)
  read(\Controller.cacheName, String?.self)
  write(\Controller.delegate, (any NSFetchedResultsControllerDelegate)?.self)
  let _: (String?) -> Void = Controller.deleteCache(withName:)
  read(\Controller.fetchedObjects, [NSManagedObject]?.self)
  let _: (Controller) -> (IndexPath) -> NSManagedObject = Controller.object(at:)
  let _: (Controller) -> (NSManagedObject) -> IndexPath? = Controller.indexPath(forObject:)
  let _: (Controller) -> (String) -> String? = Controller.sectionIndexTitle(forSectionName:)
  read(\Controller.sectionIndexTitles, [String].self)
  read(\Controller.sections, [any NSFetchedResultsSectionInfo]?.self)
  let _: (Controller) -> (String, Int) -> Int = Controller.section(forSectionIndexTitle:at:)
  let _: UInt = NSFetchedResultsChangeType.insert.rawValue
}

private func conflicts() {
  typealias Policy = NSMergePolicy
  object(Policy.self)
  let _: (NSMergePolicyType) -> Policy = Policy.init(merge:)
  read(\Policy.mergeType, NSMergePolicyType.self)
  let _: (Policy) -> ([Any]) throws -> Void = Policy.resolve(mergeConflicts:)
  let _: (Policy) -> ([NSMergeConflict]) throws -> Void = Policy.resolve(optimisticLockingConflicts:)
  let _: (Policy) -> ([NSConstraintConflict]) throws -> Void = Policy.resolve(constraintConflicts:)
  let _: [Any] = [
    NSErrorMergePolicy, NSMergeByPropertyStoreTrumpMergePolicy, NSMergeByPropertyObjectTrumpMergePolicy,
    NSOverwriteMergePolicy, NSRollbackMergePolicy,
  ]
  let _: UInt = NSMergePolicyType.errorMergePolicyType.rawValue
  read(\NSMergeConflict.sourceObject, NSManagedObject.self)
  read(\NSMergeConflict.objectSnapshot, [String: Any]?.self)
  read(\NSMergeConflict.cachedSnapshot, [String: Any]?.self)
  read(\NSMergeConflict.persistedSnapshot, [String: Any]?.self)
  read(\NSMergeConflict.newVersionNumber, Int.self)
  read(\NSMergeConflict.oldVersionNumber, Int.self)
  read(\NSConstraintConflict.constraint, [String].self)
  read(\NSConstraintConflict.constraintValues, [String: Any].self)
  read(\NSConstraintConflict.databaseObject, NSManagedObject?.self)
  read(\NSConstraintConflict.databaseSnapshot, [String: Any]?.self)
  read(\NSConstraintConflict.conflictingObjects, [NSManagedObject].self)
  read(\NSConstraintConflict.conflictingSnapshots, [[AnyHashable: Any]].self)
}

private final class EveryPolicy: NSMergePolicy, @unchecked Sendable {
  override func resolve(mergeConflicts list: [Any]) throws { try super.resolve(mergeConflicts: list) }
  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {}
  override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {}
}

private func migrations() {
  typealias Mapping = NSMappingModel
  object(Mapping.self)
  let _: ([Bundle]?, NSManagedObjectModel?, NSManagedObjectModel?) -> Mapping? =
    Mapping.init(from:forSourceModel:destinationModel:)
  let _: (NSManagedObjectModel, NSManagedObjectModel) throws -> Mapping =
    Mapping.inferredMappingModel(forSourceModel:destinationModel:)
  let _: (URL?) -> Mapping? = Mapping.init(contentsOf:)
  write(\Mapping.entityMappings, [NSEntityMapping]?.self)
  read(\Mapping.entityMappingsByName, [String: NSEntityMapping].self)

  typealias Entity = NSEntityMapping
  object(Entity.self)
  let _: () -> Entity = Entity.init
  write(\Entity.name, String?.self)
  write(\Entity.mappingType, NSEntityMappingType.self)
  write(\Entity.sourceEntityName, String?.self)
  write(\Entity.sourceEntityVersionHash, Data?.self)
  write(\Entity.destinationEntityName, String?.self)
  write(\Entity.destinationEntityVersionHash, Data?.self)
  write(\Entity.attributeMappings, [NSPropertyMapping]?.self)
  write(\Entity.relationshipMappings, [NSPropertyMapping]?.self)
  write(\Entity.userInfo, [AnyHashable: Any]?.self)
  write(\Entity.entityMigrationPolicyClassName, String?.self)
  let _: () -> NSPropertyMapping = NSPropertyMapping.init
  write(\NSPropertyMapping.name, String?.self)
  write(\NSPropertyMapping.valueExpression, NSExpression?.self)
  write(\NSPropertyMapping.userInfo, [AnyHashable: Any]?.self)

  typealias Manager = NSMigrationManager
  object(Manager.self)
  let _: (NSManagedObjectModel, NSManagedObjectModel) -> Manager = Manager.init(sourceModel:destinationModel:)
  read(\Manager.mappingModel, Mapping.self)
  read(\Manager.sourceModel, NSManagedObjectModel.self)
  read(\Manager.sourceContext, NSManagedObjectContext.self)
  read(\Manager.currentEntityMapping, Entity.self)
  read(\Manager.migrationProgress, Float.self)
  write(\Manager.usesStoreSpecificMigrationManager, Bool.self)
  write(\Manager.userInfo, [AnyHashable: Any]?.self)
  let _: (Manager) -> (any Error) -> Void = Manager.cancelMigrationWithError
  let _: (Manager) -> (Entity) -> NSEntityDescription? = Manager.sourceEntity(for:)
  let _: (Manager) -> (NSManagedObject, NSManagedObject, Entity) -> Void =
    Manager.associate(sourceInstance:withDestinationInstance:for:)
  let _: (Manager) -> (String, [NSManagedObject]?) -> [NSManagedObject] =
    Manager.destinationInstances(forEntityMappingName:sourceInstances:)

  object(NSStagedMigrationManager.self)
  let _: ([NSMigrationStage]) -> NSStagedMigrationManager = NSStagedMigrationManager.init(_:)
  read(\NSStagedMigrationManager.stages, [NSMigrationStage].self)
  read(\NSStagedMigrationManager.container, NSPersistentContainer?.self)
  write(\NSMigrationStage.label, String?.self)
  let _: ([String]) -> NSLightweightMigrationStage = NSLightweightMigrationStage.init(_:)
  read(\NSLightweightMigrationStage.versionChecksums, [String].self)
  let _: (NSManagedObjectModelReference, NSManagedObjectModelReference) -> NSCustomMigrationStage =
    NSCustomMigrationStage.init(migratingFrom:to:)
  let _: (NSManagedObjectModel, String) -> NSManagedObjectModelReference =
    NSManagedObjectModelReference.init(model:versionChecksum:)
  read(\NSManagedObjectModelReference.versionChecksum, String.self)
}

private final class EveryMigrationPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}
  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
  }
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}
  override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager)
    throws
  {}
  override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager)
    throws
  {}
  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
}

import CoreData

// Apple's declarations of stores, coordinators and containers: see `ObjectShapes.swift`.

private func stores() {
  typealias Store = NSPersistentStore
  object(Store.self)
  read(\Store.persistentStoreCoordinator, NSPersistentStoreCoordinator?.self)
  read(\Store.configurationName, String.self)
  read(\Store.options, [AnyHashable: Any]?.self)
  write(\Store.url, URL?.self)
  read(\Store.identifier, String?.self)
  read(\Store.type, String.self)
  read(\Store.isReadOnly, Bool.self)
  write(\Store.metadata, [String: Any]?.self)
  let _: (Store) -> () throws -> Void = Store.loadMetadata
  let _: (Store) -> (NSPersistentStoreCoordinator) -> Void = Store.didAdd(to:)
  let _: (Store) -> (NSPersistentStoreCoordinator?) -> Void = Store.willRemove(from:)
  let _: [Store.StoreType] = [.sqlite, .binary, .inMemory, .xml]
}

private func coordinators() {
  typealias Coordinator = NSPersistentStoreCoordinator
  typealias Options = [AnyHashable: Any]?
  object(Coordinator.self)
  sent(Coordinator.self)
  let _: (NSManagedObjectModel) -> Coordinator = Coordinator.init(managedObjectModel:)
  let _: () -> Coordinator = Coordinator.init
  read(\Coordinator.managedObjectModel, NSManagedObjectModel.self)
  read(\Coordinator.persistentStores, [NSPersistentStore].self)
  write(\Coordinator.name, String?.self)
  let _: (Coordinator) -> (URL) -> NSPersistentStore? = Coordinator.persistentStore(for:)
  let _: (Coordinator) -> (NSPersistentStore) -> URL = Coordinator.url(for:)
  let _: (Coordinator) -> (URL, NSPersistentStore) -> Bool = Coordinator.setURL(_:for:)
  let _: (Coordinator) -> (String, String?, URL?, Options) throws -> NSPersistentStore =
    Coordinator.addPersistentStore(ofType:configurationName:at:options:)
  let _:
    (Coordinator) -> (
      NSPersistentStoreDescription, @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    )
      -> Void = Coordinator.addPersistentStore(with:completionHandler:)
  let _: (Coordinator) -> (NSPersistentStore) throws -> Void = Coordinator.remove
  let _: (Coordinator) -> ([String: Any]?, NSPersistentStore) -> Void = Coordinator.setMetadata(_:for:)
  let _: (Coordinator) -> (NSPersistentStore) -> [String: Any] = Coordinator.metadata(for:)
  let _: (Coordinator) -> (URL) -> NSManagedObjectID? = Coordinator.managedObjectID(forURIRepresentation:)
  let _: (Coordinator) -> (NSPersistentStoreRequest, NSManagedObjectContext) throws -> Any =
    Coordinator.execute(_:with:)
  let _: (AnyClass?, String) -> Void = Coordinator.registerStoreClass(_:forStoreType:)
  let _: (String, URL, Options) throws -> [String: Any] =
    Coordinator.metadataForPersistentStore(ofType:at:options:)
  let _: ([String: Any]?, String, URL, Options) throws -> Void =
    Coordinator.setMetadata(_:forPersistentStoreOfType:at:options:)
  let _: (Coordinator) -> (NSPersistentStore, URL, Options, String) throws -> NSPersistentStore =
    Coordinator.migratePersistentStore(_:to:options:withType:)
  let _: (Coordinator) -> (URL, String, Options) throws -> Void =
    Coordinator.destroyPersistentStore(at:ofType:options:)
  let _: (Coordinator) -> (URL, Options, URL, Options, String) throws -> Void =
    Coordinator.replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:ofType:)
  let _: (Coordinator) -> (@escaping () -> Void) -> Void = Coordinator.perform
  let _: (Coordinator) -> (() -> Void) -> Void = Coordinator.performAndWait
  let _: (Coordinator) -> ([Any]?) -> NSPersistentHistoryToken? =
    Coordinator.currentPersistentHistoryToken(fromStores:)
  let _: (Coordinator) -> () throws -> Void = Coordinator.finishDeferredLightweightMigration
  // Also says whether work remains.
  let _: (Coordinator) -> () throws -> Bool = Coordinator.finishDeferredLightweightMigrationTask
}

private func typed(_ coordinator: NSPersistentStoreCoordinator, _ store: NSPersistentStore, _ url: URL) throws
{
  let options: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true]
  let _: NSPersistentStore = try coordinator.addPersistentStore(
    type: .sqlite, configuration: nil, at: url, options: options)
  let _: NSPersistentStore = try coordinator.addPersistentStore(type: .sqlite, at: url)
  let _: NSPersistentStore = try coordinator.migratePersistentStore(
    store, to: url, options: options, type: .sqlite)
  try coordinator.destroyPersistentStore(at: url, type: .sqlite, options: options)
  try coordinator.replacePersistentStore(
    at: url, destinationOptions: options, withPersistentStoreFrom: url, sourceOptions: options, type: .sqlite)
  let _: [String: Any] = try NSPersistentStoreCoordinator.metadataForPersistentStore(
    type: .sqlite, at: url, options: options)
  try NSPersistentStoreCoordinator.setMetadata([:], type: .sqlite, at: url, options: options)
  let _: Int = coordinator.performAndWait { 1 }
  NSPersistentStoreCoordinator.registerStoreClass(
    EveryStore.self, type: NSPersistentStore.StoreType(rawValue: "Every"))
}

private func containers() {
  typealias Container = NSPersistentContainer
  object(Container.self)
  sent(Container.self)
  let _: (String) -> Container = Container.init(name:)
  let _: (String, NSManagedObjectModel) -> Container = Container.init(name:managedObjectModel:)
  let _: () -> URL = Container.defaultDirectoryURL
  read(\Container.name, String.self)
  read(\Container.viewContext, NSManagedObjectContext.self)
  read(\Container.managedObjectModel, NSManagedObjectModel.self)
  read(\Container.persistentStoreCoordinator, NSPersistentStoreCoordinator.self)
  write(\Container.persistentStoreDescriptions, [NSPersistentStoreDescription].self)
  let _: (Container) -> (@escaping (NSPersistentStoreDescription, (any Error)?) -> Void) -> Void =
    Container.loadPersistentStores(completionHandler:)
  let _: (Container) -> () -> NSManagedObjectContext = Container.newBackgroundContext
  let _: (Container) -> (@escaping (NSManagedObjectContext) -> Void) -> Void = Container.performBackgroundTask

  typealias Description = NSPersistentStoreDescription
  object(Description.self)
  let _: any NSCopying.Type = Description.self
  let _: (URL) -> Description = Description.init(url:)
  write(\Description.type, String.self)
  write(\Description.configuration, String?.self)
  write(\Description.url, URL?.self)
  read(\Description.options, [String: NSObject].self)
  write(\Description.isReadOnly, Bool.self)
  write(\Description.timeout, TimeInterval.self)
  read(\Description.sqlitePragmas, [String: NSObject].self)
  write(\Description.shouldAddStoreAsynchronously, Bool.self)
  write(\Description.shouldMigrateStoreAutomatically, Bool.self)
  write(\Description.shouldInferMappingModelAutomatically, Bool.self)
  let _: (Description) -> (NSObject?, String) -> Void = Description.setOption(_:forKey:)
  let _: (Description) -> (NSObject?, String) -> Void = Description.setValue(_:forPragmaNamed:)
  Description().setOption(
    NSStagedMigrationManager([]), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
}

private final class EveryContainer: NSPersistentContainer, @unchecked Sendable {
  override class func defaultDirectoryURL() -> URL { super.defaultDirectoryURL() }
  override func newBackgroundContext() -> NSManagedObjectContext { super.newBackgroundContext() }
  override func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
    super.performBackgroundTask(block)
  }
  override func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) { super.loadPersistentStores(completionHandler: block) }
}

private final class EveryStore: NSIncrementalStore, @unchecked Sendable {
  override var type: String { "Every" }
  override var metadata: [String: Any]! {
    get { super.metadata }
    set { super.metadata = newValue }
  }
  override func loadMetadata() throws {}
  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws
    -> Any
  { [] }
  override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext)
    throws
    -> NSIncrementalStoreNode
  { NSIncrementalStoreNode(objectID: objectID, withValues: [:], version: 1) }
  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any { [] }
  override class func identifierForNewStore(at storeURL: URL) -> Any { "" }
  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] { [] }
  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}
  override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}
  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] { [:] }
  override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {}
  override class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }
}

private final class EveryAtomicStore: NSAtomicStore, @unchecked Sendable {
  override init(
    persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, configurationName: String?,
    at url: URL,
    options: [AnyHashable: Any]? = nil
  ) {
    super.init(
      persistentStoreCoordinator: coordinator, configurationName: configurationName, at: url, options: options
    )
  }
  override func load() throws {}
  override func save() throws {}
  override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    super.newCacheNode(for: managedObject)
  }
  override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {}
  override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}
  override func newReferenceObject(for managedObject: NSManagedObject) -> Any { "" }
}

private func nodes() {
  typealias Store = NSAtomicStore
  let _: (Store) -> () -> Set<NSAtomicStoreCacheNode> = Store.cacheNodes
  let _: (Store) -> (Set<NSAtomicStoreCacheNode>) -> Void = Store.addCacheNodes
  let _: (Store) -> (NSManagedObjectID) -> NSAtomicStoreCacheNode? = Store.cacheNode(for:)
  let _: (Store) -> (NSEntityDescription, Any) -> NSManagedObjectID = Store.objectID(for:withReferenceObject:)
  let _: (Store) -> (NSManagedObjectID) -> Any = Store.referenceObject(for:)
  object(NSAtomicStoreCacheNode.self)
  read(\NSAtomicStoreCacheNode.objectID, NSManagedObjectID.self)
  write(\NSAtomicStoreCacheNode.propertyCache, NSMutableDictionary?.self)
  object(NSIncrementalStoreNode.self)
  let _: (NSManagedObjectID, [String: Any], UInt64) -> NSIncrementalStoreNode =
    NSIncrementalStoreNode.init(objectID:withValues:version:)
  let _: (NSIncrementalStoreNode) -> ([String: Any], UInt64) -> Void =
    NSIncrementalStoreNode.update(withValues:version:)
  read(\NSIncrementalStoreNode.objectID, NSManagedObjectID.self)
  read(\NSIncrementalStoreNode.version, UInt64.self)
  let _: (NSIncrementalStoreNode) -> (NSPropertyDescription) -> Any? = NSIncrementalStoreNode.value(for:)
}

private func history() {
  typealias Request = NSPersistentHistoryChangeRequest
  let _: (Date) -> Request = Request.fetchHistory(after:)
  let _: (NSPersistentHistoryToken?) -> Request = Request.fetchHistory(after:)
  let _: (NSPersistentHistoryTransaction?) -> Request = Request.fetchHistory(after:)
  let _: (NSFetchRequest<any NSFetchRequestResult>) -> Request = Request.fetchHistory(withFetch:)
  let _: (Date) -> Request = Request.deleteHistory(before:)
  let _: (NSPersistentHistoryToken?) -> Request = Request.deleteHistory(before:)
  let _: (NSPersistentHistoryTransaction?) -> Request = Request.deleteHistory(before:)
  write(\Request.resultType, NSPersistentHistoryResultType.self)
  read(\Request.token, NSPersistentHistoryToken?.self)
  write(\Request.fetchRequest, NSFetchRequest<any NSFetchRequestResult>?.self)
  read(\NSPersistentHistoryResult.result, Any?.self)
  read(\NSPersistentHistoryResult.resultType, NSPersistentHistoryResultType.self)

  typealias Transaction = NSPersistentHistoryTransaction
  let _: NSEntityDescription? = Transaction.entityDescription
  let _: (NSManagedObjectContext) -> NSEntityDescription? = Transaction.entityDescription(with:)
  let _: NSFetchRequest<any NSFetchRequestResult>? = Transaction.fetchRequest
  read(\Transaction.timestamp, Date.self)
  read(\Transaction.changes, [NSPersistentHistoryChange]?.self)
  read(\Transaction.transactionNumber, Int64.self)
  read(\Transaction.storeID, String.self)
  read(\Transaction.bundleID, String.self)
  read(\Transaction.processID, String.self)
  read(\Transaction.contextName, String?.self)
  read(\Transaction.author, String?.self)
  read(\Transaction.token, NSPersistentHistoryToken.self)
  let _: (Transaction) -> () -> Notification = Transaction.objectIDNotification

  typealias Change = NSPersistentHistoryChange
  let _: NSEntityDescription? = Change.entityDescription
  let _: NSFetchRequest<any NSFetchRequestResult>? = Change.fetchRequest
  read(\Change.changeID, Int64.self)
  read(\Change.changedObjectID, NSManagedObjectID.self)
  read(\Change.changeType, NSPersistentHistoryChangeType.self)
  read(\Change.tombstone, [AnyHashable: Any]?.self)
  read(\Change.transaction, Transaction?.self)
  read(\Change.updatedProperties, Set<NSPropertyDescription>?.self)
  let _: Int = NSPersistentHistoryChangeType.insert.rawValue
}

private class EveryController: NSFetchedResultsController<NSManagedObject> {
  override init(
    fetchRequest: NSFetchRequest<NSManagedObject>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    super.init(
      fetchRequest: fetchRequest, managedObjectContext: context, sectionNameKeyPath: sectionNameKeyPath,
      cacheName: name)
  }
  override func performFetch() throws { try super.performFetch() }
  override var fetchedObjects: [NSManagedObject]? { super.fetchedObjects }
  override var sections: [any NSFetchedResultsSectionInfo]? { super.sections }
  override var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { super.delegate }
    set { super.delegate = newValue }
  }
  override func object(at indexPath: IndexPath) -> NSManagedObject { super.object(at: indexPath) }
  override func indexPath(forObject object: NSManagedObject) -> IndexPath? {
    super.indexPath(forObject: object)
  }
  override var sectionIndexTitles: [String] { super.sectionIndexTitles }
  override func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    super.sectionIndexTitle(forSectionName: sectionName)
  }
  override func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    super.section(forSectionIndexTitle: title, at: sectionIndex)
  }
  override class func deleteCache(withName name: String?) { super.deleteCache(withName: name) }
}

/// A context's class with every member that it may override here: see the guide for the rest.
private final class EveryContext: NSManagedObjectContext, @unchecked Sendable {
  override init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
    super.init(concurrencyType: ct)
  }
  override var hasChanges: Bool { super.hasChanges }
  override func save() throws { try super.save() }
  override func perform(_ block: @escaping () -> Void) { super.perform(block) }
  override func performAndWait(_ block: () -> Void) { super.performAndWait(block) }
  override func processPendingChanges() { super.processPendingChanges() }
  override func undo() { super.undo() }
  override func redo() { super.redo() }
  override func reset() { super.reset() }
  override func rollback() { super.rollback() }
  override func refreshAllObjects() { super.refreshAllObjects() }
}

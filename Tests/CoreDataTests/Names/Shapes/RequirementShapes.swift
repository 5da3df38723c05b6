import CoreData

// Apple's members as requirements of protocols, which only members of exactly their types meet, and as values: see `ObjectShapes.swift`.

private typealias AnyRequest = NSFetchRequest<any NSFetchRequestResult>

private protocol Editing {
  func insert(_ object: NSManagedObject)
  func delete(_ object: NSManagedObject)
  func refresh(_ object: NSManagedObject, mergeChanges flag: Bool)
  func detectConflicts(for object: NSManagedObject)
  func obtainPermanentIDs(for objects: [NSManagedObject]) throws
  func assign(_ object: Any, to store: NSPersistentStore)
  func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
  ) -> Bool
  var insertedObjects: Set<NSManagedObject> { get }
  var mergePolicy: Any { get set }
  var undoManager: UndoManager? { get set }
}
extension NSManagedObjectContext: Editing {}

private protocol Reading {
  func object(with objectID: NSManagedObjectID) -> NSManagedObject
  func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject
  func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject?
  func fetch(_ request: AnyRequest) throws -> [Any]
  func fetch<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>) throws -> [T]
  func count<T: NSFetchRequestResult>(for request: NSFetchRequest<T>) throws -> Int
  func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult
  func performAndWait(_ block: () -> Void)
  func perform<T>(
    schedule: NSManagedObjectContext.ScheduledTaskType, _ block: @escaping () throws -> T
  ) async rethrows -> T
}
extension NSManagedObjectContext: Reading {}

private protocol Coordinating {
  func perform(_ block: @escaping () -> Void)
  func perform<T>(_ block: @escaping () throws -> T) async rethrows -> T
  func performAndWait<T>(_ block: () throws -> T) rethrows -> T
  func finishDeferredLightweightMigrationTask() throws
  func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String?, at storeURL: URL, options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore
  static func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType)
  static func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String: Any]
}
extension NSPersistentStoreCoordinator: Coordinating {}

private protocol Containing {
  func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void)
  func performBackgroundTask<T>(
    _ block: @escaping (NSManagedObjectContext) throws -> T
  ) async rethrows -> T
}
extension NSPersistentContainer: Containing {}

private protocol Remembering {
  static func fetchHistory(after token: NSPersistentHistoryToken?) -> Self
  static func fetchHistory(withFetch fetchRequest: AnyRequest) -> Self
  static func deleteHistory(before date: Date) -> Self
}
extension NSPersistentHistoryChangeRequest: Remembering {}

private protocol Described {
  static var entityDescription: NSEntityDescription? { get }
  static var fetchRequest: AnyRequest? { get }
}
extension NSPersistentHistoryTransaction: Described {}
extension NSPersistentHistoryChange: Described {}

private protocol Leading { var destinationEntity: NSEntityDescription? { get set } }
extension NSRelationshipDescription: Leading {}

private protocol Mapping { var sourceExpression: CoreData.NSExpression? { get set } }
extension NSEntityMapping: Mapping {}

private protocol Staging {
  var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)? { get set }
  var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)? { get set }
}
extension NSCustomMigrationStage: Staging {}

private protocol Resolving { var resolvedModel: NSManagedObjectModel { get } }
extension NSManagedObjectModelReference: Resolving {}

private protocol Conflicting { var conflictingSnapshots: [[AnyHashable: Any]] { get } }
extension NSConstraintConflict: Conflicting {}

private protocol Keyed {
  static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String>
  static func automaticallyNotifiesObservers(forKey key: String) -> Bool
}
extension NSManagedObject: Keyed {}

private func values<Object: NSManagedObject>(_ context: NSManagedObjectContext, _ objects: [Object]) throws {
  objects.forEach(context.insert)
  objects.forEach(context.detectConflicts)
  objects.forEach(context.delete)
  objects.forEach { context.delete($0) }
  try context.obtainPermanentIDs(for: objects)
  let _: [NSManagedObject] = objects.map(\.objectID).map(context.object)
  let _: [NSManagedObject] = objects.map(\.objectID).compactMap(context.registeredObject)
  let found = try context.fetch(AnyRequest(entityName: "Any"))
  let _: [any NSFetchRequestResult] = found
}

private func numbers() {
  let attribute = NSAttributeType.stringAttributeType.rawValue
  let _: [UInt] = [
    attribute, NSDeleteRule.denyDeleteRule.rawValue, NSFetchIndexElementType.rTree.rawValue,
    NSEntityMappingType.addEntityMappingType.rawValue, NSPersistentStoreRequestType.saveRequestType.rawValue,
  ]
  let _: NSAttributeDescription.AttributeType = .objectID
}

private func errors(_ error: CocoaError) {
  let _: [CocoaError.Code] = [CocoaError.managedObjectMerge, CocoaError.validationMultipleErrors]
  let _: (String?, Any?, Any?) = (error.validationKey, error.validationObject, error.validationValue)
  let _: NSPredicate? = error.validationPredicate
  let _: ([AnyObject]?, [AnyObject]?) = (error.affectedStores, error.affectedObjects)
  let _: [NSMergeConflict]? = error.persistentStoreSaveConflicts
}

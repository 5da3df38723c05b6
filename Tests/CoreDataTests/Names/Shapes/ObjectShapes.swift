import CoreData

// Apple's declarations of objects, contexts and identifiers, each used in its exact shape: type, optionality, whether it can be set, throws, waits,
// is static. What is not here as Apple has it is in `CoreDataNames.md`, with the reason.

/// A property that can be read.
func read<Root, Value>(_ path: KeyPath<Root, Value>, _ type: Value.Type) {}
/// A property that can be set.
func write<Root, Value>(_ path: ReferenceWritableKeyPath<Root, Value>, _ type: Value.Type) {}
/// A type that threads may share.
func sent<Value: Sendable>(_ type: Value.Type) {}
/// A subclass of `NSObject`.
func object<Value: NSObject>(_ type: Value.Type) {}
/// A type with equality and hash.
func hashed<Value: Hashable>(_ type: Value.Type) {}

private func managedObjects() {
  typealias Object = NSManagedObject
  hashed(Object.self)
  let _: (NSEntityDescription, NSManagedObjectContext?) -> Object = Object.init(entity:insertInto:)
  let _: (NSManagedObjectContext) -> Object = Object.init(context:)
  let _: () -> Object = Object.init
  let _: () -> NSEntityDescription = Object.entity
  let _: () -> NSFetchRequest<any NSFetchRequestResult> = Object.fetchRequest
  let _: Bool = Object.contextShouldIgnoreUnmodeledPropertyChanges
  read(\Object.managedObjectContext, NSManagedObjectContext?.self)
  read(\Object.entity, NSEntityDescription.self)
  read(\Object.objectID, NSManagedObjectID.self)
  read(\Object.isInserted, Bool.self)
  read(\Object.isUpdated, Bool.self)
  read(\Object.isDeleted, Bool.self)
  read(\Object.hasChanges, Bool.self)
  read(\Object.hasPersistentChangedValues, Bool.self)
  read(\Object.isFault, Bool.self)
  read(\Object.faultingState, Int.self)
  read(\Object.description, String.self)
  read(\Object.debugDescription, String.self)
  read(\Object.hash, Int.self)
  let _: (Object) -> (String) -> Bool = Object.hasFault(forRelationshipNamed:)
  let _: (Object) -> (String) -> [NSManagedObjectID] = Object.objectIDs(forRelationshipNamed:)
  let _: (Object) -> (String?) -> Void = Object.willAccessValue(forKey:)
  let _: (Object) -> (String?) -> Void = Object.didAccessValue(forKey:)
  let _: (Object) -> (String) -> Void = Object.willChangeValue(forKey:)
  let _: (Object) -> (String) -> Void = Object.didChangeValue(forKey:)
  let _: (Object) -> (String, NSKeyValueSetMutationKind, Set<AnyHashable>) -> Void =
    Object.willChangeValue(forKey:withSetMutation:using:)
  let _: (Object) -> (String, NSKeyValueSetMutationKind, Set<AnyHashable>) -> Void =
    Object.didChangeValue(forKey:withSetMutation:using:)
  let _: (Object) -> () -> Void = Object.awakeFromFetch
  let _: (Object) -> () -> Void = Object.awakeFromInsert
  let _: (Object) -> (NSSnapshotEventType) -> Void = Object.awake(fromSnapshotEvents:)
  let _: (Object) -> () -> Void = Object.prepareForDeletion
  let _: (Object) -> () -> Void = Object.willSave
  let _: (Object) -> () -> Void = Object.didSave
  let _: (Object) -> () -> Void = Object.willTurnIntoFault
  let _: (Object) -> () -> Void = Object.didTurnIntoFault
  let _: (Object) -> (String) -> Any? = Object.value(forKey:)
  let _: (Object) -> (Any?, String) -> Void = Object.setValue(_:forKey:)
  let _: (Object) -> (String) -> Any? = Object.primitiveValue(forKey:)
  let _: (Object) -> (Any?, String) -> Void = Object.setPrimitiveValue(_:forKey:)
  let _: (Object) -> (String) -> Any? = Object.value(forKeyPath:)
  let _: (Object) -> (Any?, String) -> Void = Object.setValue(_:forKeyPath:)
  let _: (Object) -> (String) -> Any? = Object.value(forUndefinedKey:)
  let _: (Object) -> (Any?, String) -> Void = Object.setValue(_:forUndefinedKey:)
  let _: (Object) -> (String) -> Void = Object.setNilValueForKey
  let _: (Object) -> ([String]?) -> [String: Any] = Object.committedValues(forKeys:)
  let _: (Object) -> () -> [String: Any] = Object.changedValues
  let _: (Object) -> () -> [String: Any] = Object.changedValuesForCurrentEvent
  let _: (Object) -> (AutoreleasingUnsafeMutablePointer<AnyObject?>, String) throws -> Void =
    Object.validateValue(_:forKey:)
  let _: (Object) -> () throws -> Void = Object.validateForDelete
  let _: (Object) -> () throws -> Void = Object.validateForInsert
  let _: (Object) -> () throws -> Void = Object.validateForUpdate
  let _: (Object) -> (String) -> NSMutableSet = Object.mutableSetValue(forKey:)
  let _: (Object) -> (String) -> NSMutableOrderedSet = Object.mutableOrderedSetValue(forKey:)
  let _: (Object) -> ([String]) -> [String: Any] = Object.dictionaryWithValues(forKeys:)
  let _: (Object) -> ([String: Any]) -> Void = Object.setValuesForKeys
  let _: (Object) -> (Any?) -> Bool = Object.isEqual(_:)
}

/// A class with every member that subclasses may override.
private class EveryOverride: NSManagedObject {
  override class func entity() -> NSEntityDescription { super.entity() }
  override class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> { super.fetchRequest() }
  override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
  }
  override var description: String { super.description }
  override func value(forKeyPath keyPath: String) -> Any? { super.value(forKeyPath: keyPath) }
  override func setValue(_ value: Any?, forKeyPath keyPath: String) {
    super.setValue(value, forKeyPath: keyPath)
  }
  override func setValuesForKeys(_ keyedValues: [String: Any]) { super.setValuesForKeys(keyedValues) }
  override func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    super.dictionaryWithValues(forKeys: keys)
  }
  override func mutableSetValue(forKey key: String) -> NSMutableSet { super.mutableSetValue(forKey: key) }
  override func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    super.mutableOrderedSetValue(forKey: key)
  }
  override func willChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) { super.willChangeValue(forKey: inKey, withSetMutation: inMutationKind, using: inObjects) }
  override func didChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) { super.didChangeValue(forKey: inKey, withSetMutation: inMutationKind, using: inObjects) }
  override var debugDescription: String { super.debugDescription }
  override var hash: Int { super.hash }
  override func isEqual(_ object: Any?) -> Bool { super.isEqual(object) }
  override func willAccessValue(forKey key: String?) { super.willAccessValue(forKey: key) }
  override func didAccessValue(forKey key: String?) { super.didAccessValue(forKey: key) }
  override func willChangeValue(forKey key: String) { super.willChangeValue(forKey: key) }
  override func didChangeValue(forKey key: String) { super.didChangeValue(forKey: key) }
  override func awakeFromFetch() { super.awakeFromFetch() }
  override func awakeFromInsert() { super.awakeFromInsert() }
  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    super.awake(fromSnapshotEvents: flags)
  }
  override func prepareForDeletion() { super.prepareForDeletion() }
  override func willSave() { super.willSave() }
  override func didSave() { super.didSave() }
  override func willTurnIntoFault() { super.willTurnIntoFault() }
  override func didTurnIntoFault() { super.didTurnIntoFault() }
  override func value(forKey key: String) -> Any? { super.value(forKey: key) }
  override func setValue(_ value: Any?, forKey key: String) { super.setValue(value, forKey: key) }
  override func primitiveValue(forKey key: String) -> Any? { super.primitiveValue(forKey: key) }
  override func setPrimitiveValue(_ value: Any?, forKey key: String) {
    super.setPrimitiveValue(value, forKey: key)
  }
  override func value(forUndefinedKey key: String) -> Any? { nil }
  override func setValue(_ value: Any?, forUndefinedKey key: String) {}
  override func setNilValueForKey(_ key: String) {}
  override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String)
    throws
  {
    try super.validateValue(value, forKey: key)
  }
  override func validateForDelete() throws { try super.validateForDelete() }
  override func validateForInsert() throws { try super.validateForInsert() }
  override func validateForUpdate() throws { try super.validateForUpdate() }
}

private func contexts() {
  typealias Context = NSManagedObjectContext
  object(Context.self)
  sent(Context.self)
  let _: (NSManagedObjectContextConcurrencyType) -> Context = Context.init(concurrencyType:)
  let _: (Context.ConcurrencyType) -> Context = Context.init(_:)
  write(\Context.persistentStoreCoordinator, NSPersistentStoreCoordinator?.self)
  write(\Context.parent, Context?.self)
  write(\Context.name, String?.self)
  write(\Context.undoManager, UndoManager?.self)
  write(\Context.propagatesDeletesAtEndOfEvent, Bool.self)
  write(\Context.retainsRegisteredObjects, Bool.self)
  write(\Context.shouldDeleteInaccessibleFaults, Bool.self)
  write(\Context.stalenessInterval, TimeInterval.self)
  write(\Context.mergePolicy, Any.self)
  write(\Context.automaticallyMergesChangesFromParent, Bool.self)
  write(\Context.transactionAuthor, String?.self)
  read(\Context.hasChanges, Bool.self)
  read(\Context.userInfo, NSMutableDictionary.self)
  read(\Context.concurrencyType, NSManagedObjectContextConcurrencyType.self)
  read(\Context.insertedObjects, Set<NSManagedObject>.self)
  read(\Context.updatedObjects, Set<NSManagedObject>.self)
  read(\Context.deletedObjects, Set<NSManagedObject>.self)
  read(\Context.registeredObjects, Set<NSManagedObject>.self)
  read(\Context.queryGenerationToken, NSQueryGenerationToken?.self)
  let _: (Context) -> (@escaping () -> Void) -> Void = Context.perform
  let _: (Context) -> (() -> Void) -> Void = Context.performAndWait
  let _: (Context) -> (NSManagedObjectID) -> NSManagedObject? = Context.registeredObject(for:)
  let _: (Context) -> (NSManagedObjectID) -> NSManagedObject = Context.object(with:)
  let _: (Context) -> (NSManagedObjectID) throws -> NSManagedObject = Context.existingObject(with:)
  let _: (Context) -> (NSFetchRequest<NSManagedObject>) throws -> [NSManagedObject] = Context.fetch
  let _: (Context) -> (NSFetchRequest<NSManagedObject>) throws -> Int = Context.count(for:)
  let _: (Context) -> (NSPersistentStoreRequest) throws -> NSPersistentStoreResult = Context.execute
  let _: (Context) -> (NSManagedObject) -> Void = Context.insert
  let _: (Context) -> (NSManagedObject) -> Void = Context.delete
  let _: (Context) -> (NSManagedObject, Bool) -> Void = Context.refresh(_:mergeChanges:)
  let _: (Context) -> (NSManagedObject) -> Void = Context.detectConflicts(for:)
  let _: (Context) -> () -> Void = Context.processPendingChanges
  let _: (Context) -> (Any, NSPersistentStore) -> Void = Context.assign(_:to:)
  let _: (Context) -> () -> Void = Context.undo
  let _: (Context) -> () -> Void = Context.redo
  let _: (Context) -> () -> Void = Context.reset
  let _: (Context) -> () -> Void = Context.rollback
  let _: (Context) -> () throws -> Void = Context.save
  let _: (Context) -> () -> Void = Context.refreshAllObjects
  let _: (Context) -> (NSManagedObject, NSManagedObjectID, NSPropertyDescription?) -> Bool =
    Context.shouldHandleInaccessibleFault(_:for:triggeredByProperty:)
  let _: (Context) -> ([NSManagedObject]) throws -> Void = Context.obtainPermanentIDs(for:)
  let _: (Context) -> (Notification) -> Void = Context.mergeChanges(fromContextDidSave:)
  let _: ([AnyHashable: Any], [Context]) -> Void = Context.mergeChanges(fromRemoteContextSave:into:)
  let _: (Context) -> (NSQueryGenerationToken?) throws -> Void = Context.setQueryGenerationFrom(_:)
  let _: [Notification.Name] = [
    Context.willSaveObjectsNotification, Context.didSaveObjectsNotification,
    Context.didChangeObjectsNotification,
    Context.didSaveObjectIDsNotification, Context.didMergeChangesObjectIDsNotification,
  ]
  let _: UInt = NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType.rawValue
  let _: NSManagedObjectContextConcurrencyType? = NSManagedObjectContextConcurrencyType(rawValue: 1 as UInt)
}

private func waiting(_ context: NSManagedObjectContext, _ container: NSPersistentContainer) async throws {
  let number: Int = await context.perform { 1 }
  let other: Int = try await context.perform(schedule: .enqueued) {
    try context.count(for: NSFetchRequest<NSManagedObject>())
  }
  let third: Int = try await container.performBackgroundTask {
    try $0.count(for: NSFetchRequest<NSManagedObject>())
  }
  _ = (number, other, third)
}

/// A subclass of a context, as Apple's may be.
private final class EveryContext: NSManagedObjectContext, @unchecked Sendable {
  override init(concurrencyType ct: NSManagedObjectContextConcurrencyType) { super.init(concurrencyType: ct) }
  override func save() throws { try super.save() }
}

private func identifiers() {
  typealias Identifier = NSManagedObjectID
  hashed(Identifier.self)
  sent(Identifier.self)
  read(\Identifier.entity, NSEntityDescription.self)
  read(\Identifier.persistentStore, NSPersistentStore?.self)
  read(\Identifier.isTemporaryID, Bool.self)
  let _: (Identifier) -> () -> URL = Identifier.uriRepresentation
}

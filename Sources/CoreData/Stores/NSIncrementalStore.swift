import Foundation
import Heartwood
import HeartwoodBytes

/// An object of an incremental store, as its class has read it.
public typealias NSIncrementalStoreNode = IncrementalStoreNode

/// A custom store that loads objects when they are used. It is made by a coordinator: override its methods, and register
/// the class.
///
/// A save compares the versions of changed and deleted objects with those of their nodes before `execute(_:with:)` is called. After a save of
/// its own a context knows no version of an object until it reads it again: what others save until then is no conflict.
open class NSIncrementalStore: IncrementalStore, ProgramStoreClass, @unchecked Sendable {
  /// The context for calls that come without one: reads of child contexts.
  private let reading = ReadingContext()

  /// A store, before it is opened.
  ///
  /// - Parameters:
  ///   - root: The coordinator that opens the store.
  ///   - name: The configuration whose entities the store has; nil for all.
  ///   - url: Its place.
  ///   - options: Options by their names.
  public init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    super.init(persistentStoreCoordinator: root, at: url, options: StoreTypes.options(options))
    passesErrorsOn = true
    // Which version an object has after a save is the class's own affair.
    knowsVersionsOfSaves = false
  }

  /// A store, as the coordinator makes it.
  public required convenience init(
    persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, at url: URL, options: Options?
  ) {
    self.init(
      persistentStoreCoordinator: coordinator, configurationName: nil, at: url,
      options: StoreTypes.named(options))
  }

  // MARK: To override

  /// The metadata of a store that is not open, as its coordinator asks for it. By default the store is opened for it.
  ///
  /// - Throws: Why it cannot be read.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try readMetadata(at: url)
  }

  /// Sets the metadata of a store that is not open, as its coordinator asks for it.
  ///
  /// - Throws: Why it cannot be written.
  open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    try writeMetadata(metadata, at: url)
  }

  /// The class of migration managers for stores of this class. It is not asked for: such stores are migrated as it is inferred.
  open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

  /// The UUID of the store. Before it is opened, setting it sets the one in the metadata.
  open var identifier: String! {
    get { anyIdentifier.isEmpty ? metadata?[NSStoreUUIDKey] as? String ?? "" : anyIdentifier }
    set { metadata?[NSStoreUUIDKey] = newValue }
  }

  /// The name of the kind of the store.
  open var type: String { StoreTypes.name(of: kind) }

  /// The store's metadata: `loadMetadata()` sets it. The identifier and the kind of the store are added if they are missing.
  open var metadata: [String: Any]! {
    get { storedMetadata }
    set { storedMetadata = (newValue ?? [:]).mapValues { SentValue.of($0) } }
  }

  /// Executes a fetch, a save or a batch.
  ///
  /// - Parameters:
  ///   - request: An `NSFetchRequest<NSFetchRequestResult>`, whose entity is set, an `NSSaveChangesRequest`, an `NSBatchInsertRequest`,
  ///     `NSBatchUpdateRequest` or `NSBatchDeleteRequest`, or a request of a class of the program.
  ///   - context: The context that executes it.
  /// - Returns: Of a fetch, by its `resultType`, an array of objects, of identifiers, or of one number. Of a save, an empty array. Of another
  ///   request, an `NSPersistentStoreResult`: of a batch, one of a subclass of its result's class that overrides `result`.
  /// - Throws: Why it could not be executed. By default that the class does not execute such requests, for those that a class passes on.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any
  { throw unsupported(request) }

  /// The values of an object: all attributes that have one, and to-one relationships where they are at hand.
  ///
  /// - Throws: Why the object cannot be read.
  open func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    raise("newValuesForObjectWithID:withContext:", "\(Swift.type(of: self)) does not override it")
  }

  /// Identifiers for new objects, made with `newObjectID(for:referenceObject:)`, in the order of the objects.
  ///
  /// - Throws: Why there are none; the save fails then.
  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    raise("obtainPermanentIDsForObjects:", "\(Swift.type(of: self)) does not override it")
  }

  /// An identifier for a store that has none in its metadata: a random UUID as text.
  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

  // MARK: References

  /// The identifier of an object by what the store calls it. The same reference gives the same identifier.
  ///
  /// - Parameters:
  ///   - entity: The entity of the object.
  ///   - data: A number, a text, a UUID, or any other value whose description is its own.
  public final func newObjectID(for entity: NSEntityDescription, referenceObject data: Any)
    -> NSManagedObjectID
  { anyObjectID(for: entity, SentValue.of(SentValue.reference(data))) }

  /// The reference object of an object; a number as `NSNumber`.
  ///
  /// - Precondition: It is an object of this store, and its identifier is permanent.
  public final func referenceObject(for objectID: NSManagedObjectID) -> Any {
    FoundationValue.of(anyReference(for: objectID))
  }

  // MARK: Calls by the coordinator

  /// Always true, as in Core Data.
  public final override var countsUses: Bool { true }

  /// Calls `execute(_:with:)` with the request under Core Data's name.
  public final override func execute(
    _ request: PersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    switch request {
    case let fetch as FetchRequest<ManagedObject>:
      let result = try reading.using(context, of: self) {
        try execute(StoreFetch.request(fetch) as NSPersistentStoreRequest, with: $0)
      }
      return StoreFetch.result(result)
    case let save as SaveChangesRequest:
      return try reading.using(context, of: self) {
        try execute(NSSaveChangesRequest(save) as NSPersistentStoreRequest, with: $0)
      }
    case let other as ProgramRequest:
      return try reading.using(context, of: self) { try execute(other.request, with: $0) }
    default: return try super.execute(request, with: context)
    }
  }

  /// Calls `newValuesForObject(with:with:)` with a context.
  public final override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext?
  ) throws -> NSIncrementalStoreNode {
    do {
      return try reading.using(context, of: self) { (context: NSManagedObjectContext) in
        try newValuesForObject(with: objectID, with: context)
      }
    } catch let error as CocoaError where error.code == .managedObjectReferentialIntegrity {
      throw missingObject(objectID)
    }
  }

  /// Calls `obtainPermanentIDs(for:)` with objects of this module's class.
  public final override func obtainPermanentIDs(for objects: [ManagedObject]) throws -> [NSManagedObjectID] {
    let own = objects.compactMap { $0 as? NSManagedObject }
    guard own.count == objects.count else {
      throw HeartwoodError(
        .persistentStoreSave,
        "an object of the save is no NSManagedObject, as \(Swift.type(of: self)) needs: make the coordinator with init(managedObjectModel:)"
      )
    }
    return try obtainPermanentIDs(for: own)
  }

  /// The UUID that `identifierForNewStore(at:)` gives.
  @_disfavoredOverload public final override class func identifierForNewStore(at url: URL) -> UUID {
    let given: Any = identifierForNewStore(at: url)
    if let uuid = given as? UUID { return uuid }
    guard let uuid = UUID(uuidString: "\(given)") else {
      programError(
        "identifierForNewStore(at:) of \(self) must return a UUID or its text, and returned \(given)")
    }
    return uuid
  }
}

/// The save of a context, as a custom store executes it. The objects may be used during the call.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  /// New objects; they have their permanent identifiers.
  public final let insertedObjects: Set<NSManagedObject>?
  /// Changed objects.
  public final let updatedObjects: Set<NSManagedObject>?
  /// Deleted objects.
  public final let deletedObjects: Set<NSManagedObject>?
  /// Unchanged objects that must not have changed in the store: those of `NSManagedObjectContext.detectConflicts(for:)`.
  public final let lockedObjects: Set<NSManagedObject>?

  /// A request with these objects.
  public init(
    inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
  ) {
    self.insertedObjects = insertedObjects
    self.updatedObjects = updatedObjects
    self.deletedObjects = deletedObjects
    self.lockedObjects = lockedObjects
    super.init()
  }

  convenience init(_ save: SaveChangesRequest) {
    func own(_ objects: Set<ManagedObject>?) -> Set<NSManagedObject>? {
      objects.map { Set($0.compactMap { $0 as? NSManagedObject }) }
    }
    self.init(
      inserted: own(save.insertedObjects), updated: own(save.updatedObjects),
      deleted: own(save.deletedObjects), locked: own(save.lockedObjects))
  }

  /// `.saveRequestType`.
  open override var requestType: NSPersistentStoreRequestType { .saveRequestType }
}

import Foundation
import HeartwoodBytes
import HeartwoodFiles

/// A custom store that loads objects when they are used: a server, a database, a file format of others.
///
/// A class derives from this one, overrides `loadMetadata()`, `execute(_:with:)`, `newValuesForObject(with:with:)`,
/// `newValue(forRelationship:forObjectWith:with:)` and `obtainPermanentIDs(for:)`, and is registered with
/// ``PersistentStoreCoordinator/registerStoreClass(_:type:)``. Fetches, faults, relationships, validation, delete rules, conflicts, merge
/// policies, child contexts and live results work above it as above other kinds of stores. There is a history if the class has one, and there are no past
/// generations. It may be one of several stores of a coordinator, with the entities of a configuration or all: see `managedEntities`.
///
/// Contexts call its methods on their own queues, so that several threads may do at the same time.
open class IncrementalStore: PersistentStore, @unchecked Sendable {
  /// Set by the opening.
  private final var known: ManagedObjectModel?
  private final var storeIdentity = StoreIdentity.none
  /// The derivations that saves compute for the derived attributes of the model; nil if it has none.
  private(set) final var derivations: DerivationPlan?
  /// The part of identifiers that names the store.
  final var identityOfObjects: StoreIdentity { storeIdentity }
  private final var incrementalContents: IncrementalContents?
  /// The reference objects of the class, where they are no numbers.
  private final let references = Guarded(StoreReferences())

  /// The store's metadata: `loadMetadata()` sets the values that it has read. The opening adds the values under
  /// `PersistentStore.MetadataKey` that are missing, so a class that keeps the metadata keeps the identifiers of its objects.
  public final var storedMetadata: [String: any Sendable] {
    get { keptMetadata.withLock { $0 } }
    set { keptMetadata.withLock { $0 = newValue } }
  }
  private let keptMetadata = Guarded<[String: any Sendable]>([:])
  private let metadataToSave = MetadataToSave()

  /// The coordinator's model as bytes, for a class that keeps it before the opening adds it to `storedMetadata`.
  public final var modelData: Data {
    get throws { try Self.modelData(of: managedObjectModel) }
  }

  /// A model as `modelData` has it.
  public static func modelData(of model: ManagedObjectModel) throws -> Data { Data(try model.encoded()) }

  /// The model that `modelData` has.
  ///
  /// - Throws: `.persistentStoreDamaged` if the bytes are none.
  public static func managedObjectModel(_ modelData: Data) throws -> ManagedObjectModel {
    try modelData.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
  }

  /// The model of the coordinator. It is known when `loadMetadata()` is called.
  public final var managedObjectModel: ManagedObjectModel {
    guard let known else { programError("The store at \(place) is used before a coordinator opens it.") }
    return known
  }

  /// Its class knows what a new inverse means for its own form of links only if it says so: by a mapping.
  override final var joinsRelationshipsInMigrations: Bool { false }

  /// The entities whose objects the store may have: those of its configuration, or all of the model. Requests are about no others.
  public final var managedEntities: [EntityDescription] {
    managedObjectModel.entities.filter(configuration.has)
  }
  /// The numbers of these and of their superentities; nil for all.
  private(set) final var storedEntities: Set<UInt16>?

  override final func union(
    _ members: [StoreMember], _ numbers: StoreNumbers, _ model: ManagedObjectModel
  ) -> any ContextStore { MixedStores(members, numbers, model) }

  // MARK: To override

  /// Whether `execute(_:with:)` compares the versions of saved objects itself, in the same transaction in which it writes them, and throws
  /// ``IncrementalStoreConflicts``. If it does not, which is the default, they are compared before the call, by the versions of
  /// nodes; others may save in between.
  open var comparesVersions: Bool { false }

  /// Whether an object has version 1 after it was inserted, and the next one after each save.
  package final var knowsVersionsOfSaves = true

  /// Whether `execute(_:with:)` refuses objects that violate uniqueness constraints itself, and throws ``IncrementalStoreConflicts``. If it
  /// does not, which is the default, a save fetches objects with the same values first.
  open var checksUniqueness: Bool { false }

  /// Whether `execute(_:with:)` executes fetches, which is the default. Otherwise they are executed here: with conditions and orders over
  /// what `enumerateNodes(of:from:reversed:with:_:)`, `enumerateObjectIDs(of:_:)` and the methods for objects and relationships deliver. Objects
  /// have numbers as references then.
  open var executesFetches: Bool { true }

  /// Calls `body` with the objects of a root entity and its subentities in the order of their numbers, until it returns false. Called if the
  /// class does not execute fetches.
  ///
  /// - Parameters:
  ///   - root: An entity without superentity.
  ///   - first: The lowest number of an object, or with `reversed` the highest; nil for all.
  ///   - reversed: Whether the order is descending.
  ///   - context: As for `execute(_:with:)`.
  ///   - body: Gets an object, and returns whether the next one is wanted.
  /// - Throws: Why they cannot be read; what `body` throws.
  open func enumerateNodes(
    of root: EntityDescription, from first: UInt64?, reversed: Bool, with context: ManagedObjectContext?,
    _ body: (IncrementalStoreNode) throws -> Bool
  ) throws {
    programError("\(Swift.type(of: self)) does not override enumerateNodes(of:from:reversed:with:_:).")
  }

  /// Whether a scan that needs few of an object's values reads those alone: `enumerateRows(of:from:with:_:)`. False by default.
  open var readsSingleValues: Bool { false }

  /// As `enumerateNodes(of:from:reversed:with:_:)`, ascending, with values that are read when they are needed. Called if the class
  /// `readsSingleValues`.
  ///
  /// - Throws: As that method.
  open func enumerateRows(
    of root: EntityDescription, from first: UInt64?, with context: ManagedObjectContext?,
    _ body: (any IncrementalStoreRow) throws -> Bool
  ) throws {
    programError("\(Swift.type(of: self)) does not override enumerateRows(of:from:with:_:).")
  }

  /// Calls `body` with the identifiers of the objects of a root entity and its subentities in the order of their numbers, until it returns
  /// false. By default those of `enumerateNodes(of:from:reversed:with:_:)`: override it if they are read in less time.
  ///
  /// - Throws: As that method.
  open func enumerateObjectIDs(
    of root: EntityDescription, _ body: (ManagedObjectID) throws -> Bool
  ) throws {
    try enumerateNodes(of: root, from: nil, reversed: false, with: nil) { try body($0.objectID) }
  }

  /// How many objects a root entity and its subentities have. By default counts them.
  ///
  /// - Throws: As `enumerateObjectIDs(of:_:)`.
  open func objectCount(of root: EntityDescription) throws -> Int {
    var count = 0
    try enumerateObjectIDs(of: root) { _ in
      count += 1
      return true
    }
    return count
  }

  /// Whether the methods above are overridden although the class executes fetches: copies of the store keep the numbers of objects then.
  open var enumeratesObjects: Bool { !executesFetches }

  /// Whether `enumerateRows(for:with:_:)` delivers what fetches of objects find. False by default.
  open var deliversRows: Bool { false }

  /// Calls `body` with the objects that a fetch finds, in its order, until it returns false. Called if the class `deliversRows`.
  ///
  /// - Parameters:
  ///   - request: As for `execute(_:with:)`. Its `fetchBatchSize` is 0 if all rows are wanted at once; otherwise `body` may take long, and use
  ///     the store, and memory for so many rows should be enough.
  ///   - context: As for `execute(_:with:)`.
  ///   - body: Takes a row, and returns whether it wants more.
  /// - Throws: Why it could not be executed; what `body` throws.
  open func enumerateRows(
    for request: FetchRequest<ManagedObject>, with context: ManagedObjectContext?,
    _ body: (any IncrementalStoreRow) throws -> Bool
  ) throws {
    programError("\(Swift.type(of: self)) does not override enumerateRows(for:with:_:).")
  }

  /// The greatest number that an object of a root entity has had, also one that was deleted; 0 by default, if that is not known.
  open func greatestNumber(of root: EntityDescription) throws -> UInt64 { 0 }

  /// Whether the store has a history: `enumerateHistory(after:_:)`. False by default.
  open var hasHistory: Bool { false }
  /// Why a history that the store seems to have cannot be read, a sentence; set when the metadata is loaded.
  package final var historyLack: String?

  /// Calls `body` with the transactions of the history after one, oldest first, until it returns false.
  ///
  /// - Parameters:
  ///   - number: The number of a transaction; 0 for all.
  ///   - body: Gets a transaction, and returns whether the next one is wanted.
  /// - Throws: Why they cannot be read; what `body` throws.
  open func enumerateHistory(
    after number: UInt64, _ body: (StoreHistoryTransaction) throws -> Bool
  ) throws {}

  /// The number of the newest transaction of the history; 0 if there is none. By default reads all of it.
  ///
  /// - Throws: Why it cannot be read.
  open func newestHistoryNumber() throws -> UInt64 {
    var newest: UInt64 = 0
    try enumerateHistory(after: 0) { transaction in
      newest = transaction.number
      return true
    }
    return newest
  }

  /// The number of the newest transaction whose history was deleted; 0 by default.
  ///
  /// - Throws: Why it cannot be read.
  open func newestDeletedHistoryNumber() throws -> UInt64 { 0 }

  /// Deletes the history up to the transaction of a number, that one included.
  ///
  /// - Returns: How many transactions had one.
  /// - Throws: Why it is not deleted; by default that the store is read-only.
  open func deleteHistory(through number: UInt64) throws -> Int { throw readOnly }

  /// The records of consumers of the history by their names, each as the bytes that were given to `changeHistoryConsumers(_:)`. By default none.
  ///
  /// - Throws: Why they cannot be read; by default that the class keeps none.
  open func historyConsumers() throws -> [String: Data] { throw unsupported("consumer of the history") }

  /// Writes records of consumers in a transaction of its own. Those of a save are in ``SaveChangesRequest/consumerChanges``.
  ///
  /// - Throws: ``StoreConsumerChange/conflict`` if a record is another one by now; why they cannot be written.
  open func changeHistoryConsumers(_ changes: [StoreConsumerChange]) throws {
    throw unsupported("consumer of the history")
  }

  /// Calls `body` after each save to the store, of any program, on any thread, as long as what is returned exists. More calls than saves
  /// do no harm. By default nil: the class does not know.
  ///
  /// - Throws: Why saves cannot be observed.
  open func observeSaves(_ body: @escaping @Sendable () -> Void) throws -> AnyObject? { nil }

  /// Removes the store at a place with all its data; does nothing if there is none. Called when no coordinator of the call has it open.
  ///
  /// - Throws: Why it is as before. By default `.persistentStoreUnsupportedRequestType`.
  open override class func destroyStore(at url: URL, options: Options) throws {
    throw HeartwoodError.foreign(self, url, "destroyed")
  }

  /// Replaces a store, or makes one, by what another one of the class has, with its identifier.
  ///
  /// - Throws: As `destroyStore(at:options:)`.
  open override class func replaceStore(
    at destination: URL, options: Options, from source: URL, sourceOptions: Options
  ) throws {
    throw HeartwoodError.foreign(self, destination, "replaced")
  }

  /// Calls `body` with the place of a copy of the store, which is removed afterwards: rehearsals of migrations change it.
  ///
  /// - Throws: As `destroyStore(at:options:)`; what `body` throws.
  open override class func withCopy(ofStoreAt url: URL, options: Options, _ body: (URL) throws -> Void) throws
  {
    throw HeartwoodError.foreign(self, url, "copied")
  }

  /// Whether stores of the class can be read only: they are opened so, whatever their description says. False by default.
  open class var isAlwaysReadOnly: Bool { false }

  /// Executes a request.
  ///
  /// - Parameters:
  ///   - request: A `FetchRequest<ManagedObject>`, whose entity is set and whose predicate is a `Condition`; a ``SaveChangesRequest``; a
  ///     batch request; or a request of a class of the program.
  ///   - context: The context, if the call is made on its queue; nil for the reads of child contexts and for detached fetches.
  /// - Returns: Of a fetch, by its `resultType`: for objects an array of ``IncrementalStoreNode``, of identifiers or of objects of the
  ///   context, for identifiers an array of them, for a count an array of one integer. They are in the order of the request, and equal ones
  ///   in that of their references. Of a save, an empty array. Of a batch request, a result of its class.
  /// - Throws: Why it could not be executed. By default `.persistentStoreUnsupportedRequestType`, as a class should for requests that it
  ///   does not know. For a save that meets conflicts ``IncrementalStoreConflicts``.
  open func execute(_ request: PersistentStoreRequest, with context: ManagedObjectContext?) throws -> Any {
    throw unsupported(request)
  }

  /// Whether the program does not wait any more for the fetch that this thread executes: its task or its asynchronous fetch was cancelled. A class
  /// whose fetches take long asks now and then, ends the work, and throws `CancellationError`.
  public static var isFetchCancelled: Bool { ScanControl.isCancelledHere }

  /// The values of an object: all attributes that have one, and to-one relationships where they are at hand.
  ///
  /// - Parameters:
  ///   - objectID: The object. Its entity may be a superentity of the object's; the node's identifier has the object's own.
  ///   - context: As for `execute(_:with:)`.
  /// - Throws: ``missingObject(_:)`` if there is no such object, or why it cannot be read.
  open func newValuesForObject(
    with objectID: ManagedObjectID, with context: ManagedObjectContext?
  ) throws -> IncrementalStoreNode {
    programError("\(Swift.type(of: self)) does not override newValuesForObject(with:with:).")
  }

  /// The values of several objects of one root entity, in any order; those that do not exist are left out. By default calls
  /// `newValuesForObject(with:with:)` for each: override it if one call can load many.
  open func newValues(
    forObjectsWith objectIDs: [ManagedObjectID], with context: ManagedObjectContext?
  ) throws -> [IncrementalStoreNode] {
    try objectIDs.compactMap { id in
      do {
        return try newValuesForObject(with: id, with: context)
      } catch let error as HeartwoodError where error.code == .managedObjectReferentialIntegrity {
        return nil
      }
    }
  }

  /// The destinations of a relationship.
  ///
  /// - Returns: Of a to-one relationship an identifier, or `NSNull`; of a to-many relationship an array of identifiers, in their order if
  ///   it is ordered, or a set.
  /// - Throws: Why they cannot be read.
  open func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith objectID: ManagedObjectID,
    with context: ManagedObjectContext?
  ) throws -> Any {
    programError(
      "\(Swift.type(of: self)) does not override newValue(forRelationship:forObjectWith:with:).")
  }

  /// The destinations of a to-many relationship of several objects. By default calls `newValue(forRelationship:forObjectWith:with:)` for
  /// each: override it if one call can load many.
  ///
  /// - Returns: As that method, by the identifiers of the objects; objects without destinations may be left out.
  open func newValues(
    forRelationship relationship: RelationshipDescription, forObjectsWith objectIDs: [ManagedObjectID],
    with context: ManagedObjectContext?
  ) throws -> [ManagedObjectID: Any] {
    var values: [ManagedObjectID: Any] = [:]
    for id in objectIDs {
      values[id] = try newValue(forRelationship: relationship, forObjectWith: id, with: context)
    }
    return values
  }

  /// Identifiers for new objects, made with `newObjectID(for:referenceObject:)`, in the order of the objects. Called before they are saved.
  ///
  /// - Throws: Why there are none; the save fails then.
  open func obtainPermanentIDs(for objects: [ManagedObject]) throws -> [ManagedObjectID] {
    programError("\(Swift.type(of: self)) does not override obtainPermanentIDs(for:).")
  }

  /// Brings a store that was written with another model to the coordinator's. Called by the opening after `loadMetadata()`, if the store's
  /// description allows automatic migration and `storedMetadata` has `MetadataKey.modelData`. A class does all of it, or nothing: it
  /// writes `storedMetadata` too, which has the new model's values then. Others may have done it since `loadMetadata()`.
  ///
  /// - Throws: Why it could not be migrated. By default `.persistentStoreUnsupportedRequestType`.
  open func migrate(_ migration: InferredMigration) throws {
    throw HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "the store at \(place) was written with another model, and its class \(Swift.type(of: self)) does not migrate stores: it does not "
        + "override migrate(_:)")
  }

  /// Replaces everything in a store that was written with another model by what a mapping model makes of it. Called by the opening after
  /// `loadMetadata()`.
  ///
  /// A class does all of it, or nothing: it keeps others from saving meanwhile, chooses a place where no store is, calls `make`, puts the
  /// store that is there then in the place of this one, with `storedMetadata`, and removes what is left at both places.
  ///
  /// - Parameters:
  ///   - source: The model that the store was written with.
  ///   - make: Reads the store by another object of the class, with the former model and read-only, and makes the new one by a further
  ///     one. Gets two URLs: where the store is read, by which the class may know this reader, and where the new one is made.
  /// - Throws: The error of `make`, or why the contents could not be replaced. By default `.persistentStoreUnsupportedRequestType`.
  open func replaceContents(
    from source: ManagedObjectModel, _ make: (_ source: URL, _ destination: URL) throws -> Void
  ) throws {
    throw HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "the store at \(place) was written with another model, and its class \(Swift.type(of: self)) does not migrate stores by mapping models: "
        + "it does not override replaceContents(from:_:)")
  }

  /// Called when a program has replaced the metadata with `PersistentStoreCoordinator.setMetadata(_:for:)`, and a context saves:
  /// `storedMetadata` has the new ones. Does nothing.
  ///
  /// - Throws: Why they cannot be written; the save fails then.
  open func saveMetadata() throws {}

  /// Whether the store is told which objects contexts use. False by default, unlike in Core Data, as it costs time for each object.
  open var countsUses: Bool { false }

  /// Called when contexts begin to use objects, if the store `countsUses`; does nothing. Each call is one use of each object.
  open func managedObjectContextDidRegisterObjects(with objectIDs: [ManagedObjectID]) {}

  /// Called when contexts end to use objects, if the store `countsUses`; does nothing. On any thread.
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [ManagedObjectID]) {}

  /// The UUID of a new store, whose metadata has none: by default a random one.
  @_disfavoredOverload open class func identifierForNewStore(at url: URL) -> UUID { UUID() }

  // MARK: References

  /// The identifier of an object by what the store calls it. The same reference gives the same identifier.
  ///
  /// - Parameters:
  ///   - entity: The object's own entity.
  ///   - reference: An integer, a `String`, a `UUID`, or any other value whose description is its own. It is different for all objects of
  ///     an entity, its superentities and their subentities. An identifier with an integer from 1 to 2⁵² − 1 is found again by its URI in
  ///     another process; one with another reference when the store has named the object there.
  @_disfavoredOverload
  public final func newObjectID(
    for entity: EntityDescription, referenceObject reference: any Sendable
  ) -> ManagedObjectID {
    if let number = reference as? any BinaryInteger, let key = UInt64(exactly: number), key > 0,
      key < Self.mark
    {
      if entity.rootEntity !== entity { references.withLock { $0.note(entity, key) } }
      return newObjectID(for: entity, number: key)
    }
    let text = Array("\(entity.rootEntity.displayName) \(reference)".utf8)
    let hash = text.withUnsafeBytes { XXH64.hash($0, seed: 0) }
    let type = Array("\(Swift.type(of: reference))".utf8)
    let check = text.withUnsafeBytes {
      XXH64.hash($0, seed: type.withUnsafeBytes { XXH64.hash($0, seed: 1) })
    }
    let root = entity.rootEntity.number
    let key = references.withLock { references in
      let key = references.name(reference, root, hash: hash, check: check)
      if entity.rootEntity !== entity { references.note(entity, key) }
      return key
    }
    return ManagedObjectID(entity: entity, key: key, store: storeIdentity)
  }

  /// As `newObjectID(for:referenceObject:)` with an integer, in less time.
  ///
  /// - Precondition: The number is from 1 to 2⁵² − 1.
  public final func newObjectID(for entity: EntityDescription, number: UInt64) -> ManagedObjectID {
    precondition(
      number > 0 && number < Self.mark, "the number of an object is from 1 to 2⁵² − 1, not \(number)")
    return ManagedObjectID(entity: entity, key: number, store: storeIdentity)
  }

  private static let mark = StoreReferences.mark

  /// The entity for which `newObjectID(for:referenceObject:)` made the identifier of an object, where a relationship or a request only says that it is
  /// one of a superentity; nil if it is not known.
  final func ownEntity(of key: UInt64, _ entity: EntityDescription) -> EntityDescription? {
    references.withLock { $0.entity(of: key, in: entity.rootEntity) }
  }

  /// The reference object of an object: an `Int64` if it is an integer.
  ///
  /// - Precondition: It is an object of this store, and its identifier is permanent.
  @_disfavoredOverload
  public final func referenceObject(for objectID: ManagedObjectID) -> any Sendable {
    guard objectID.store == storeIdentity, !objectID.isTemporaryID else {
      programError("\(objectID) is no identifier of an object of the store at \(place).")
    }
    if let number = number(of: objectID) { return number }
    let (root, key) = (objectID.entity.rootEntity.number, objectID.keyInItsStore)
    guard let reference = references.withLock({ $0[root, key] }) else {
      programError("The store at \(self.place) has not named \(objectID) in this process.")
    }
    return reference
  }

  /// The number by which the store calls an object; nil if it calls it by something else. As `referenceObject(for:)`, in less time.
  public final func number(of objectID: ManagedObjectID) -> Int64? {
    objectID.key & Self.mark == 0 ? Int64(objectID.keyInItsStore) : nil
  }

  /// The error of an object that does not exist.
  public final func missingObject(_ objectID: ManagedObjectID) -> HeartwoodError { .noRow(objectID) }

  // MARK: Work of the coordinator

  final func open(_ model: ManagedObjectModel) throws {
    derivations = try DerivationPlan(model)
    _ = try metadata(readBy: model)
    do {
      try migrateIfNeeded(model)
    } catch {
      // It may hold connections.
      willRemove(from: nil)
      throw error
    }
    let uuid = try complete(&storedMetadata, model) { Swift.type(of: self).identifierForNewStore(at: url) }
    storeIdentity = StoreIdentity(uuid: uuid)
    if configurationName != nil {
      storedEntities = Set(managedEntities.flatMap { sequence(first: $0, next: \.superentity).map(\.number) })
    }
    let contents = IncrementalContents(self, storeIdentity)
    incrementalContents = contents
    begin(as: contents)
  }

  override final class var isReadOnlyClass: Bool { isAlwaysReadOnly }

  override final func opened(
    _ description: PersistentStoreDescription, by coordinator: PersistentStoreCoordinator, mayMigrate: Bool
  ) throws -> PersistentStore {
    try open(coordinator.managedObjectModel)
    return self
  }

  override final func withMetadata<Result>(
    readBy model: ManagedObjectModel, _ body: ([String: any Sendable]) throws -> Result
  ) throws -> Result {
    let metadata = try metadata(readBy: model)
    // It may hold connections.
    defer { willRemove(from: nil) }
    return try body(metadata)
  }

  override final func endPendingStage() throws {
    storedMetadata[MetadataKey.pendingMigrationStage] = nil
    try saveMetadata()
  }

  override final func transfer(_ model: ManagedObjectModel, _ log: MigrationLog) throws -> (
    any ObjectTransfer
  )? {
    enumeratesObjects ? try StoreTransfer(self, model, log) : nil
  }

  /// Opens the contents that contexts see of the store.
  ///
  /// - Precondition: It is open.
  final func openContents() -> IncrementalContents {
    guard let incrementalContents else {
      programError("The store at \(place) is used before a coordinator has opened it.")
    }
    return incrementalContents
  }

  /// The store's metadata, before it is opened.
  private final func metadata(readBy model: ManagedObjectModel) throws -> [String: any Sendable] {
    known = model
    try loadMetadata()
    return storedMetadata
  }

  /// Migrates a store that was written with another model, if its description allows that.
  private final func migrateIfNeeded(_ model: ManagedObjectModel) throws {
    let former = storedMetadata
    guard let migration = try beginMigration(of: &storedMetadata, to: model) else { return }
    do {
      try migrating {
        switch migration {
        case .inferred(let migration):
          try migrationLog.step("migration of the store") { try migrate(migration) }
        case .mapped(let mapping, let source):
          // Its objects are other ones than those of the former store.
          storedMetadata[MetadataKey.storeUUID] =
            Swift.type(of: self).identifierForNewStore(at: url).uuidString
          try replaceContents(from: source) { former, place in
            try copy(by: mapping, from: source, at: former, to: model, at: place)
          }
        }
      }
    } catch {
      storedMetadata = former
      throw error
    }
  }

  override final func managedObjectID(of parts: ManagedObjectID.URIParts) -> ManagedObjectID? {
    guard let entity = managedObjectModel.entitiesByName[parts.entityName], parts.key > 0 else { return nil }
    let root = entity.rootEntity.number
    guard parts.key & Self.mark == 0 || references.withLock({ $0[root, parts.key] != nil }) else {
      return nil
    }
    var own = entity
    if entity.rootEntity !== entity {
      // Another process has made the identifier: the class is asked with the entity that it had.
      references.withLock {
        if $0.entity(of: parts.key, in: entity.rootEntity) == nil { $0.note(entity, parts.key) }
      }
    }
    if entity.rootEntity.hasSubentities, let view = try? objectStore.view(),
      let number = try? view.withRow(entity.rootEntity, parts.key, { $0?.entityNumber }),
      let stored = try? entity.rootEntity.entity(numbered: number)
    {
      own = stored
    }
    return ManagedObjectID(entity: own, key: parts.key, store: storeIdentity)
  }

  override final func setMetadata(_ settable: StoreMetadata) throws {
    guard !isReadOnly else { throw readOnly }
    keptMetadata.withLock { values in
      values = values.filter { MetadataKey.all.contains($0.key) }
      for (name, value) in settable.values { values[name] = value.any }
    }
    // Afterwards: a save that sees it to be done has the values.
    metadataToSave.set(settable)
  }

  final func savePendingMetadata() throws {
    guard let pending = metadataToSave.pending else { return }
    try saveMetadata()
    metadataToSave.noteWritten(pending)
  }

  override final func allMetadata() throws -> [String: Any] {
    storedMetadata.filter { $0.key != MetadataKey.modelData }
  }

  package final func unsupported(_ request: Any) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "the store at \(place) is of type \(type.rawValue), whose class \(Swift.type(of: self)) does not execute a "
        + "\(Swift.type(of: request))")
  }
}

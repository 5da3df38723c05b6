import Foundation
import Heartwood
import HeartwoodBytes
import HeartwoodFiles

/// A custom store that conforms to `DataStore`, as a store that loads objects when they are used.
///
/// The graph calls objects by numbers of this process; the store by persistent identifiers. Each context keeps the snapshots that it was given until
/// it needs them no more: see `SnapshotPool`.
final class BridgedStore: IncrementalStore, @unchecked Sendable {
  static let kind = PersistentStore.StoreType(rawValue: "SwiftDataStore")
  /// Stores that are about to be opened, by their places.
  static let waiting = Guarded<[URL: StoreHolder]>([:])

  static func register() { PersistentStoreCoordinator.registerStoreClass(BridgedStore.self, type: kind) }

  private struct State {
    var numbers: [PersistentIdentifier: UInt64] = [:]
    var identifiers: [UInt64: PersistentIdentifier] = [:]
    var versions: [UInt64: UInt64] = [:]
    /// How many contexts have an object.
    var uses: [UInt64: Int] = [:]
    /// Objects that were deleted, and that contexts still have.
    var deleted: Set<UInt64> = []
    var last: UInt64 = 0
    /// New objects that the store has not named yet.
    var unnamed: Set<UInt64> = []

    mutating func numberOfNew() -> UInt64 {
      last += 1
      unnamed.insert(last)
      return last
    }

    mutating func number(of identifier: PersistentIdentifier) -> UInt64 {
      if let known = numbers[identifier] { return known }
      last += 1
      numbers[identifier] = last
      identifiers[last] = identifier
      return last
    }

    mutating func noteDeleted(_ number: UInt64) {
      if uses[number] == nil { forget(number) } else { deleted.insert(number) }
    }

    mutating func endUse(of number: UInt64) {
      guard let count = uses[number] else { return }
      uses[number] = count == 1 ? nil : count - 1
      if count == 1, deleted.remove(number) != nil { forget(number) }
    }

    private mutating func forget(_ number: UInt64) {
      versions[number] = nil
      if let identifier = identifiers.removeValue(forKey: number) { numbers[identifier] = nil }
    }
  }

  private let state = Guarded(State())
  private lazy var holder: StoreHolder? = Self.waiting.withLock { $0[url] }

  private var store: any DataStore {
    guard let holder else { programError("a custom store is opened by a container") }
    return holder.store
  }

  override func loadMetadata() throws {
    storedMetadata = [
      PersistentStore.MetadataKey.storeUUID: StoreNames.uuid(of: store.identifier).uuidString,
      PersistentStore.MetadataKey.storeType: Self.kind.rawValue,
    ]
  }

  // MARK: Identifiers

  /// The store's identifier of an object; nil for an object of another store.
  func identifier(of id: ManagedObjectID) -> PersistentIdentifier? {
    guard id.storeUUID?.uuidString == identifier, let number = number(of: id) else { return nil }
    return state.withLock { $0.identifiers[UInt64(number)] }
  }

  /// Whether an object is new, and the store has not said yet what it calls it.
  func isUnnamed(_ id: ManagedObjectID) -> Bool {
    guard id.storeUUID?.uuidString == identifier, let number = number(of: id) else { return false }
    return state.withLock { $0.unnamed.contains(UInt64(number)) }
  }

  /// The object of an identifier.
  func objectID(of identifier: PersistentIdentifier) -> ManagedObjectID? {
    guard identifier.storeIdentifier == store.identifier,
      let entity = managedObjectModel.entitiesByName[identifier.entityName]
    else { return nil }
    return newObjectID(for: entity, number: state.withLock { $0.number(of: identifier) })
  }

  override func obtainPermanentIDs(for objects: [ManagedObject]) throws -> [ManagedObjectID] {
    objects.map { object in
      let number = state.withLock { $0.numberOfNew() }
      return newObjectID(for: object.entity, number: number)
    }
  }

  override var countsUses: Bool { true }

  override func managedObjectContextDidRegisterObjects(with objectIDs: [ManagedObjectID]) {
    let numbers = numbers(of: objectIDs)
    state.withLock { state in
      for number in numbers { state.uses[number, default: 0] += 1 }
    }
  }

  override func managedObjectContextDidUnregisterObjects(with objectIDs: [ManagedObjectID]) {
    let numbers = numbers(of: objectIDs)
    state.withLock { state in
      for number in numbers { state.endUse(of: number) }
    }
  }

  private func numbers(of ids: [ManagedObjectID]) -> [UInt64] {
    ids.compactMap { id in id.isTemporaryID ? nil : number(of: id).map { UInt64($0) } }
  }

  // MARK: Requests

  override func execute(_ request: PersistentStoreRequest, with context: ManagedObjectContext?) throws -> Any
  {
    switch request {
    case let fetch as FetchRequest<ManagedObject>: return try execute(fetch, context as? ModelObjectContext)
    case let save as SaveChangesRequest:
      try self.save(save, context)
      return [Any]()
    default: return try super.execute(request, with: context)
    }
  }

  private func execute(
    _ request: FetchRequest<ManagedObject>, _ context: ModelObjectContext?
  ) throws -> Any {
    guard let entity = request.entity, let type = types[entity.name ?? ""] else {
      return request.resultType == .countResultType ? [0] as Any : [ManagedObjectID]()
    }
    func open<Model: PersistentModel, Store: DataStore>(_ type: Model.Type, _ store: Store) throws -> Any {
      try StoreFetch<Model, Store>(bridge: self, store: store, request: request, context: context).result()
    }
    return try open(type, store)
  }

  private var types: [String: any PersistentModel.Type] { store.schema.types }

  /// The context that asks, as the store gets it.
  static func editingState(_ context: ManagedObjectContext?) -> EditingState {
    (context as? ModelObjectContext)?.editingState ?? EditingState(id: otherContexts, author: nil)
  }

  /// Stands for contexts of the graph's other modules.
  private static let otherContexts = UUID()

  // MARK: Snapshots

  /// Where the snapshots of a context are; one of its own for a read of none.
  func pool(of context: ManagedObjectContext?) -> SnapshotPool {
    (context as? ModelObjectContext)?.snapshots ?? SnapshotPool()
  }

  func keep(_ contents: SnapshotContents, in pool: SnapshotPool, isRead: Bool) {
    let number = state.withLock { state in
      let number = state.number(of: contents.identifier)
      state.versions[number] = state.versions[number] ?? 1
      // Another object may have the identifier of one that was deleted.
      state.deleted.remove(number)
      return number
    }
    pool.keep(contents, number, isRead: isRead)
  }

  func sweep(_ pool: SnapshotPool, _ context: ModelObjectContext?) {
    guard let context else { return }
    pool.sweep { number in
      guard let identifier = state.withLock({ $0.identifiers[number] }),
        let entity = managedObjectModel.entitiesByName[identifier.entityName]
      else { return false }
      return context.anyRegisteredObject(for: newObjectID(for: entity, number: number)) != nil
    }
  }

  /// The object of an identifier is to be made by a context that does not have it: its newest values are asked for.
  func willMake(_ id: ManagedObjectID, in context: ModelObjectContext) {
    numbers(of: [id]).forEach(context.snapshots.removeIfRead)
  }

  /// Removes the snapshots of models that others have saved, which are asked for again: the context may have fetched it meanwhile, before
  /// the save.
  func willMerge(_ changes: ObjectIDChanges, into context: ModelObjectContext) {
    context.snapshots.remove(numbers(of: Array(changes.updatedObjectIDs.union(changes.deletedObjectIDs))))
  }

  /// Asks the store for the snapshots of objects that the pool does not have.
  private func load(
    _ ids: [ManagedObjectID], into pool: SnapshotPool, for context: ManagedObjectContext?
  ) throws {
    func missing() -> [(id: ManagedObjectID, identifier: PersistentIdentifier)] {
      ids.compactMap { id in
        guard let number = numbers(of: [id]).first, pool.contents(number) == nil else { return nil }
        return identifier(of: id).map { (id, $0) }
      }
    }
    let unknown = missing()
    guard !unknown.isEmpty else { return }
    func cached<Store: DataStore>(_ store: Store) throws {
      let found = try store.cachedSnapshots(
        for: unknown.map(\.identifier), editingState: Self.editingState(context))
      for snapshot in found.values { keep(try SnapshotContents(snapshot), in: pool, isRead: false) }
    }
    try cached(store)
    // The store has no request for some objects: all of their class are fetched.
    for name in Set(missing().compactMap(\.id.entity.name)) {
      guard let type = types[name] else { continue }
      try loadAll(type, into: pool, for: context)
    }
  }

  private func loadAll(
    _ type: any PersistentModel.Type, into pool: SnapshotPool, for context: ManagedObjectContext?
  ) throws {
    func open<Model: PersistentModel, Store: DataStore>(_ type: Model.Type, _ store: Store) throws {
      let fetch = StoreFetch<Model, Store>(
        bridge: self, store: store, request: FetchRequest(), context: context as? ModelObjectContext)
      _ = try fetch.contents(of: FetchDescriptor(), pool, areRead: false)
    }
    try open(type, store)
  }

  // MARK: Values

  override func newValuesForObject(
    with objectID: ManagedObjectID, with context: ManagedObjectContext?
  ) throws -> IncrementalStoreNode {
    guard let node = try newValues(forObjectsWith: [objectID], with: context).first else {
      throw missingObject(objectID)
    }
    return node
  }

  override func newValues(
    forObjectsWith objectIDs: [ManagedObjectID], with context: ManagedObjectContext?
  ) throws -> [IncrementalStoreNode] {
    let pool = pool(of: context)
    try load(objectIDs, into: pool, for: context)
    return numbers(of: objectIDs).compactMap { pool.read($0).flatMap(node) }
  }

  func node(of contents: SnapshotContents) -> IncrementalStoreNode? {
    guard let id = objectID(of: contents.identifier), let type = types[contents.identifier.entityName] else {
      return nil
    }
    var values: [String: Any] = [:]
    for property in ModelClass.of(type).properties {
      switch property.kind {
      case .attribute(let coding):
        guard let stored = contents.stored(property.name, coding) else { continue }
        Self.add(stored, property.name, coding.elements, to: &values)
      case .toOne:
        values[property.name] =
          contents.identifiers(property.name).first.flatMap { objectID(of: $0) } ?? NSNull()
      case .toMany, .unknown: continue
      }
    }
    let version = state.withLock { state in state.versions[state.number(of: contents.identifier)] ?? 1 }
    return IncrementalStoreNode(objectID: id, withValues: values, version: version)
  }

  private static func add(
    _ stored: _Value, _ name: String, _ elements: [CompositeElementCoding]?, to values: inout [String: Any]
  ) {
    guard let elements, case .list(let parts) = stored else {
      values[name] = stored.plain
      return
    }
    for (element, part) in zip(elements, parts) {
      add(part, "\(name).\(element.name)", element.coding.elements, to: &values)
    }
  }

  override func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith objectID: ManagedObjectID,
    with context: ManagedObjectContext?
  ) throws -> Any {
    let values = try newValues(forRelationship: relationship, forObjectsWith: [objectID], with: context)
    guard let value = values[objectID] else { throw missingObject(objectID) }
    return value
  }

  override func newValues(
    forRelationship relationship: RelationshipDescription, forObjectsWith objectIDs: [ManagedObjectID],
    with context: ManagedObjectContext?
  ) throws -> [ManagedObjectID: Any] {
    let pool = pool(of: context)
    try load(objectIDs, into: pool, for: context)
    var values: [ManagedObjectID: Any] = [:]
    for id in objectIDs {
      guard let contents = numbers(of: [id]).first.flatMap(pool.contents) else { continue }
      let ids = contents.identifiers(relationship.name).compactMap { objectID(of: $0) }
      values[id] = relationship.isToMany ? ids as Any : ids.first.map { $0 as Any } ?? NSNull()
    }
    return values
  }

  // MARK: Saving

  private func save(_ request: SaveChangesRequest, _ context: ManagedObjectContext?) throws {
    guard let context = context as? ModelObjectContext else {
      throw SwiftDataError(.missingModelContext, "changes are saved by a ModelContext")
    }
    func open<Store: DataStore>(_ store: Store) throws { try save(request, context, to: store) }
    try open(store)
  }

  private func save<Store: DataStore>(
    _ request: SaveChangesRequest, _ context: ModelObjectContext, to store: Store
  ) throws {
    let inserted = request.insertedInOrder.compactMap { $0 as? _ModelObject }
    var temporary: [PersistentIdentifier: ManagedObjectID] = [:]
    for object in inserted { temporary[object.persistentIdentifier] = context.pendingID(of: object) }
    func snapshots(_ objects: some Sequence<_ModelObject>) -> [Store.Snapshot] {
      objects.compactMap { object in
        guard let model = context.model(of: object) else { return nil }
        return SnapshotMaking.snapshot(of: model, as: Store.Snapshot.self)
      }
    }
    let updated = (request.updatedObjects ?? []).compactMap { $0 as? _ModelObject }
    let deleted = (request.deletedObjects ?? []).compactMap { $0 as? _ModelObject }
    let changes = DataStoreSaveChangesRequest<Store.Snapshot>(
      editingState: context.editingState, inserted: snapshots(inserted), updated: snapshots(updated),
      deleted: snapshots(deleted))
    let result = try store.save(changes)
    try noteSaved(result.remappedIdentifiers, temporary, changes, request, context)
    for snapshot in result.snapshotsToReregister.values {
      let contents = try SnapshotContents(snapshot)
      keep(contents, in: context.snapshots, isRead: true)
      guard let id = objectID(of: contents.identifier) else { continue }
      context.noteChangedByStore(id)
      dropElsewhere(numbers(of: [id]), context)
    }
  }

  /// Notes that the store has deleted objects.
  func noteDeleted(_ identifiers: [PersistentIdentifier]) {
    state.withLock { state in
      for identifier in identifiers {
        if let number = state.numbers[identifier] { state.noteDeleted(number) }
      }
    }
  }

  /// Notes that the store has deleted all objects.
  func noteErased() {
    state.withLock { state in
      for number in Array(state.identifiers.keys) { state.noteDeleted(number) }
    }
  }

  /// Whether the store has models of a class.
  func has(_ entityName: String) -> Bool { types[entityName] != nil }
  /// The custom store.
  var program: any DataStore { store }

  private func noteSaved<Snapshot: DataStoreSnapshot>(
    _ remapped: [PersistentIdentifier: PersistentIdentifier],
    _ temporary: [PersistentIdentifier: ManagedObjectID],
    _ changes: DataStoreSaveChangesRequest<Snapshot>, _ request: SaveChangesRequest,
    _ context: ModelObjectContext
  ) throws {
    state.withLock { state in
      for (former, permanent) in remapped {
        guard let id = temporary[former], let number = number(of: id).map({ UInt64($0) }) else { continue }
        state.unnamed.remove(number)
        state.numbers[permanent] = number
        state.identifiers[number] = permanent
        state.versions[number] = 1
      }
    }
    for snapshot in changes.inserted {
      guard let permanent = remapped[snapshot.persistentIdentifier] else { continue }
      try keepSaved(snapshot, as: permanent, remapped, context)
    }
    for snapshot in changes.updated {
      try keepSaved(snapshot, as: snapshot.persistentIdentifier, remapped, context)
    }
    let updated = numbers(of: (request.updatedObjects ?? []).map(\.objectID))
    let deleted = numbers(of: (request.deletedObjects ?? []).map(\.objectID))
    for case let object as _ModelObject in request.deletedObjects ?? [] { object.keepIdentifier() }
    state.withLock { state in
      for object in request.updatedObjects ?? [] {
        guard let number = number(of: object.objectID).map({ UInt64($0) }) else { continue }
        state.versions[number] = request.newVersion(of: object)
      }
      for number in deleted { state.noteDeleted(number) }
    }
    context.snapshots.remove(deleted)
    dropElsewhere(updated + deleted, context)
  }

  /// Makes the other contexts ask the store for what a save has changed, also before they merge the changes.
  private func dropElsewhere(_ numbers: [UInt64], _ context: ModelObjectContext) {
    for other in context.container.stores.contexts where other !== context {
      other.snapshots.remove(numbers)
    }
  }

  private func keepSaved<Snapshot: DataStoreSnapshot>(
    _ snapshot: Snapshot, as identifier: PersistentIdentifier,
    _ remapped: [PersistentIdentifier: PersistentIdentifier], _ context: ModelObjectContext
  ) throws {
    let saved = snapshot.copy(persistentIdentifier: identifier, remappedIdentifiers: remapped)
    keep(try SnapshotContents(saved), in: context.snapshots, isRead: true)
  }
}

extension ModelClass {
  /// The names of the entities of a class and of those that inherit from it.
  static func names(of type: any PersistentModel.Type, in schema: Schema) -> [String] {
    let own = ModelClass.of(type)
    return schema.types.values.map { ModelClass.of($0) }.filter { candidate in
      sequence(first: candidate, next: \.superclass).contains { $0 === own }
    }.map(\.name)
  }
}

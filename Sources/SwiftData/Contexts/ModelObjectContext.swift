import Foundation
import Heartwood
import HeartwoodFiles

/// The context of the graph below a context of models: it makes models of objects, and knows which have changes.
///
/// Models keep it, so that they may outlive the `ModelContext` that they were fetched with. It keeps models with changes until a save or a rollback,
/// but only while there is a `ModelContext`: changes that nothing can save any more keep nothing.
final class ModelObjectContext: ManagedObjectContext, @unchecked Sendable {
  let container: ContainerContents
  private weak var owner: ModelContext?
  /// Whether there is a `ModelContext`: to look at this takes less time than to load a weak reference.
  private var hasOwner = false
  /// Whether models may be kept, and with them this context.
  var keepsModels: Bool { hasOwner }
  /// The objects whose models are kept.
  private var kept: [_ModelObject] = []
  /// The objects that were asked for an identifier before they were saved, by it.
  private var temporaries: [PersistentIdentifier: WeakObject] = [:]
  private var recentDestinations = RecentModels()
  /// The problems of values that could not be set, for the next save.
  private var problems: [String] = []
  /// The properties whose stored values could not be read, by their objects.
  private var unreadable: [ManagedObjectID: Set<UInt64>] = [:]
  /// The objects that a custom store has changed in the save that runs.
  private var changedByStore: [ManagedObjectID] = []
  /// The snapshots that a custom store has returned to the context.
  let snapshots = SnapshotPool()
  /// Deletions by a condition that stores of programs execute at the next save.
  var deletions: [StoreDeletion] {
    get { waitingDeletions.all }
    set { waitingDeletions.all = newValue }
  }
  private let waitingDeletions = WaitingDeletions()
  /// The last identifier whose store was looked up, and the text of the store, so that all have one.
  private var lastStore: (id: ManagedObjectID, text: String)?
  /// The changes that others have saved and this context has not merged yet.
  private let inbox = Guarded(Inbox())
  private let isMain: Bool
  /// Whether the context's changes are processed once the main actor is free.
  private var isTurnScheduled = false
  /// Whether the stores were erased since the last use.
  private let isErased = Guarded(false)

  private struct Inbox {
    private(set) var changes: [ObjectIDChanges] = []
    private var count = 0
    /// Whether there was more than a context keeps that is not used.
    private(set) var isOverflowing = false

    mutating func add(_ more: ObjectIDChanges) {
      guard !isOverflowing else { return }
      changes.append(more)
      count += more.insertedObjectIDs.count + more.updatedObjectIDs.count + more.deletedObjectIDs.count
      guard count > 20_000 else { return }
      changes = []
      isOverflowing = true
    }
  }

  /// The last models of a small number.
  private struct RecentModels {
    private var models: [any PersistentModel] = []
    private var next = 0

    mutating func add(_ model: any PersistentModel) {
      if models.count < 16 { return models.append(model) }
      models[next] = model
      next = (next + 1) % models.count
    }
  }

  private struct WeakObject { weak var object: _ModelObject? }

  init(_ container: ContainerContents, isMain: Bool) {
    self.container = container
    self.isMain = isMain
    // Never used through its queue: it is confined to where its ModelContext is.
    super.init(.privateQueue)
    persistentStoreCoordinator = container.coordinator
    // Models tell observers of reads by themselves, and read rows directly while there are none.
    isObservable = false
    anyMergePolicy = .mergeByPropertyObjectTrump
    receivesChanges = { [weak self] changes in self?.receive(changes) }
    if container.stores.bridged.isEmpty {
      automaticallyMergesRemoteChanges = true
    } else {
      automaticallyMergesChangesFromParent = true
    }
    container.stores.add(self)
    for store in container.stores.custom { store.initializeState(for: editingState) }
  }

  deinit {
    for store in container.stores.custom { store.invalidateState(for: editingState) }
  }

  /// The author and the identity of the context, as stores of programs get it.
  var editingState: EditingState {
    get { EditingState(id: identity, author: transactionAuthor) }
    set { (identity, transactionAuthor) = (newValue.id, newValue.author) }
  }
  /// Made when it is asked for: most containers have no store of a program.
  private lazy var identity = UUID()

  // MARK: Models of objects

  /// The model of an object: the one that the program has, or a new one.
  func model(of object: _ModelObject) -> (any PersistentModel)? {
    if let known = object.model { return known }
    guard let type = container.models.modelClass(of: object.entity)?.type else { return nil }
    return make(type, object)
  }

  private func make<Model: PersistentModel>(_ type: Model.Type, _ object: _ModelObject) -> Model {
    ModelMaking.current.make(object, in: self) { Model(backingData: _NextBackingData<Model.Root>()) }
  }

  /// The model of an object as one of a class, or of those that inherit from it; nil if it is none.
  func model<Model: PersistentModel>(of object: _ModelObject, as type: Model.Type) -> Model? {
    object.model(as: type) ?? made(of: object, as: type)
  }

  /// The models of objects, in their order.
  func models<Model: PersistentModel>(of fetched: [ManagedObject], as type: Model.Type) -> [Model] {
    let models = FetchedModels<Model>(in: self)
    models.reserve(fetched.count)
    for object in fetched { models.add(object) }
    return models.all
  }

  func made<Model: PersistentModel>(of object: _ModelObject, as type: Model.Type) -> Model? {
    if let entity = container.models.entity(of: type), object.isExactly(entity) { return make(type, object) }
    return model(of: object).flatMap { ModelRelations.cast($0) }
  }

  /// The model that a relationship leads to. A few are kept: loops read the same ones again and again.
  func destination<Model: PersistentModel>(_ object: _ModelObject, as type: Model.Type) -> Model? {
    if let known = object.model(as: type) { return known }
    let made = made(of: object, as: type)
    if let made, hasOwner { recentDestinations.add(made) }
    return made
  }

  // MARK: Models with changes

  /// The `ModelContext` of this context: the one that the program has, or another one.
  var handle: ModelContext { owner ?? ModelContext(self, isMain: isMain) }

  func begin(_ owner: ModelContext) {
    self.owner = owner
    hasOwner = true
  }

  /// Ends to keep models: their `ModelContext` is gone. Those that the program has keep this context, with their changes.
  func endKeeping() {
    // Nil while it is released.
    hasOwner = owner != nil
    for object in kept { object.keptModel = nil }
    kept = []
    recentDestinations = RecentModels()
    forgetLastReads()
  }

  /// Notes that a model has changes, and keeps it.
  func noteKept(_ object: _ModelObject) {
    if hasOwner { kept.append(object) } else { object.keptModel = nil }
  }

  /// Notes that something has changed: the main context notifies observers, and saves, once the main actor is free.
  @inline(__always)
  func noteChange() {
    if isMain, !isTurnScheduled { scheduleTurn() }
  }

  private func scheduleTurn() {
    guard let owner else { return }
    isTurnScheduled = true
    owner.scheduleTurn()
  }

  /// Begins a turn: changes from now on need another one.
  func beginTurn() { isTurnScheduled = false }

  /// Releases the models that were kept for their changes.
  func releaseKept() {
    let released = kept
    kept = []
    recentDestinations = RecentModels()
    forgetLastReads()
    for object in released {
      if object.hasChanges { kept.append(object) } else { object.keptModel = nil }
    }
  }

  func noteProblem(_ text: String) {
    problems.append(text)
    noteChange()
  }

  func takeProblems() -> [String] {
    defer { problems = [] }
    return problems
  }

  /// Whether the stored value of a property could not be read.
  func isUnreadable(_ hash: UInt64, of object: _ModelObject) -> Bool {
    !unreadable.isEmpty && unreadable[object.objectID]?.contains(hash) == true
  }

  /// - Returns: Whether it was not noted before.
  func noteUnreadable(_ hash: UInt64, of object: _ModelObject) -> Bool {
    unreadable[object.objectID, default: []].insert(hash).inserted
  }

  /// Forgets what could not be read or set.
  func forgetProblems() {
    problems = []
    unreadable = [:]
  }

  // MARK: Identifiers

  func noteTemporary(_ identifier: PersistentIdentifier, _ object: _ModelObject) {
    temporaries[identifier] = WeakObject(object: object)
  }

  /// The object that was called so before it was saved.
  func object(temporary identifier: PersistentIdentifier) -> _ModelObject? { temporaries[identifier]?.object }

  /// The identifier of an object as the stores know it; nil if none does.
  func objectID(of identifier: PersistentIdentifier) -> ManagedObjectID? {
    if identifier.isTemporary { return object(temporary: identifier)?.objectID }
    for store in container.bridged {
      if let known = store.objectID(of: identifier) { return known }
    }
    guard let text = identifier.storeIdentifier, let uuid = uuid(ofStore: text),
      case .number(let number) = identifier.key, number <= UInt64.keyInStoreMask
    else { return persistentStoreCoordinator?.managedObjectID(forURIRepresentation: identifier.uri) }
    return persistentStoreCoordinator?.managedObjectID(of: (uuid, identifier.entityName, number))
  }

  private func uuid(ofStore text: String) -> UUID? {
    if let last = lastStore, last.text == text { return last.id.storeUUID }
    return UUID(uuidString: text)
  }

  func identifier(of id: ManagedObjectID) -> PersistentIdentifier {
    for store in container.bridged {
      if let known = store.identifier(of: id) { return known }
    }
    if let last = lastStore, id.isInStore(of: last.id) { return .row(id, in: last.text) }
    guard let uuid = id.storeUUID else { return .row(id, in: nil) }
    let text = uuid.uuidString
    lastStore = (id, text)
    return .row(id, in: text)
  }

  /// Whether a save to a custom store is under way that has not told yet what it calls a new object.
  func isUnnamed(_ id: ManagedObjectID) -> Bool { container.bridged.contains { $0.isUnnamed(id) } }

  /// Whether a store has the row of an object that was saved.
  func hasRow(of object: _ModelObject) -> Bool {
    !object.isDeleted && (try? anyExistingObject(with: object.objectID)) != nil
  }

  /// The identifier that a save is about to give a new object.
  func pendingID(of object: _ModelObject) -> ManagedObjectID { object.objectID }

  // MARK: Saves of others

  private func receive(_ changes: ObjectIDChanges) {
    inbox.withLock { $0.add(changes) }
    guard isMain else { return }
    // The main context shows what others save without being asked.
    Task { @MainActor [weak self] in self?.mergeReceived() }
  }

  /// Merges what others have saved since the last use.
  func mergeReceived() {
    if isErased.withLock({
      let was = $0; $0 = false; return was
    }) {
      forgetAll()
    }
    let received = inbox.withLock { inbox in
      defer { inbox = Inbox() }
      return inbox
    }
    if received.isOverflowing {
      mergeAll()
    } else {
      for changes in received.changes { take(changes) }
    }
  }

  private func take(_ changes: ObjectIDChanges) {
    for id in changes.deletedObjectIDs {
      if let object = anyRegisteredObject(for: id) as? _ModelObject {
        ModelValues.detachModels(of: object, hasRow: false)
      }
    }
    for store in container.bridged { store.willMerge(changes, into: self) }
    merge(changes)
  }

  /// Merges as if every object had been changed.
  private func mergeAll() {
    processPendingChanges()
    snapshots.removeAll()
    let used = Dictionary(grouping: objectsInMemory.filter { $0.model != nil }, by: \.entity.name)
    for (name, objects) in used {
      let ids = Set(objects.map(\.objectID))
      // Models that cannot be read report it when they are used.
      if let name, let there = try? stored(ids, name) {
        take(ObjectIDChanges(deletedObjectIDs: ids.subtracting(there)))
      }
    }
    refreshAllObjects()
  }

  /// Those of some identifiers that have a row.
  private func stored(_ ids: Set<ManagedObjectID>, _ entityName: String) throws -> [ManagedObjectID] {
    let request = FetchRequest<ManagedObjectID>(entityName: entityName)
    request.predicate = ObjectIDCondition(Array(ids))
    request.includesPendingChanges = false
    return try fetch(request)
  }

  func noteErased() {
    isErased.withLock { $0 = true }
    guard isMain else { return }
    Task { @MainActor [weak self] in self?.mergeReceived() }
  }

  /// Makes models of all objects ones without a context, and notifies observers.
  func forgetAll() {
    var dropped: [PersistentIdentifier] = []
    for case let object as _ModelObject in anyObjectsInMemory {
      guard object.model != nil else { continue }
      dropped.append(object.persistentIdentifier)
      ModelValues.detachModels(of: object)
    }
    endKeeping()
    temporaries = [:]
    forgetProblems()
    deletions = []
    inbox.withLock { $0 = Inbox() }
    reset()
    guard let owner else { return }
    NotificationCenter.default.post(
      name: ModelContext.didSave, object: owner,
      userInfo: [ModelContext.NotificationKey.invalidatedAllIdentifiers.rawValue: dropped])
  }

  // MARK: Stores of programs

  /// Notes that a store has given an object other values than those that were saved.
  func noteChangedByStore(_ id: ManagedObjectID) { changedByStore.append(id) }

  /// Reads the objects again that stores have changed in the save that has ended.
  func readChangedByStore() {
    let ids = changedByStore
    changedByStore = []
    for id in ids {
      if let object = anyRegisteredObject(for: id) { refresh(object, mergeChanges: false) }
    }
  }
}

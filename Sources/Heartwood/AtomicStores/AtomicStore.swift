import Foundation
import HeartwoodBytes

/// A custom store: all its objects are loaded when it is opened, and each save writes all of them.
///
/// A class derives from this one, overrides `load()` and `save()`, and is registered with
/// ``PersistentStoreCoordinator/registerStoreClass(_:type:)``. Meanwhile the objects are in memory, where conditions, sort orders, indexes,
/// validation, conflicts and delete rules work as in other kinds of stores. There is no history, and there are no past generations and
/// batch inserts.
///
/// Its methods are called by one thread at a time: while the store is opened, and while a save holds the store's lock.
open class AtomicStore: PersistentStore, @unchecked Sendable {
  /// Set by the opening.
  private final var known: ManagedObjectModel?
  private final var nodes: [RowAddress: AtomicStoreCacheNode] = [:]
  private final var references: [RowAddress: any Sendable] = [:]
  /// Two names that have the same key.
  private(set) final var collision: HeartwoodError?
  private final var storeIdentity = StoreIdentity.none

  private struct NewObject {
    weak var object: ManagedObject?
  }
  /// The objects that were named since the last save.
  private final var newObjects: [RowAddress: NewObject] = [:]

  /// The store's metadata: `loadMetadata()` sets the values that it has read, and `save()` writes them. The opening adds the values under
  /// `PersistentStore.MetadataKey` that are missing, so a class that keeps the metadata keeps the identifiers of its objects. If it keeps
  /// those of the model, too, a store that is opened with another model is migrated as it is inferred: it is loaded with the former model,
  /// and saved with the new one by another object of the class, before it is loaded again.
  public final var storedMetadata: [String: any Sendable] = [:]

  /// Where a class has the metadata that does not have them in `storedMetadata`.
  package struct OwnMetadata {
    let get: () -> [String: any Sendable]
    let set: ([String: any Sendable]) -> Void

    package init(
      get: @escaping () -> [String: any Sendable], set: @escaping ([String: any Sendable]) -> Void
    ) { (self.get, self.set) = (get, set) }
  }

  package final var ownMetadata: OwnMetadata?

  /// The metadata, wherever the class has them.
  final var allStoredMetadata: [String: any Sendable] {
    get { ownMetadata?.get() ?? storedMetadata }
    set { if let ownMetadata { ownMetadata.set(newValue) } else { storedMetadata = newValue } }
  }

  /// The model of the coordinator.
  public final var managedObjectModel: ManagedObjectModel {
    guard let known else { programError("The store at \(url.path) is used before a coordinator opens it.") }
    return known
  }

  // MARK: To override

  /// Reads the objects: makes their nodes, and adds them with `addCacheNodes(_:)`.
  ///
  /// - Throws: Why the store cannot be read. It is not opened then.
  open func load() throws {
    programError("\(Swift.type(of: self)) does not override load().")
  }

  /// Writes all nodes, and the metadata, as a whole: after a crash the store should be the old or the new one.
  ///
  /// - Throws: Why they could not be written. The save of the context fails then, and the nodes are as before it.
  open func save() throws {
    programError("\(Swift.type(of: self)) does not override save().")
  }

  /// The node of a new object, without values: `updateCacheNode(_:from:)` sets them when all new objects have nodes.
  open func newCacheNode(for object: ManagedObject) -> AtomicStoreCacheNode {
    AtomicStoreCacheNode(objectID: object.objectID)
  }

  /// Sets the values of a node to those of an object, which is new or has changed. The object is valid during the call.
  open func updateCacheNode(_ node: AtomicStoreCacheNode, from object: ManagedObject) {
    let entity = object.entity
    for slot in entity.slots {
      let property = entity.property(at: slot)
      guard !property.isTransient else { continue }
      let value = object.namedValue(property.name)
      if property is RelationshipDescription {
        node.setValue(related(value), forKey: property.name)
      } else if entity.layout.columns[slot].kind != .composite {
        node.setValue(value, forKey: property.name)
      }
    }
  }

  /// The reference object of a new object: a number from 1, a `String`, a `UUID`, or any other value whose description is its own. It must
  /// be different for each object of an entity, and the same whenever the store is loaded. By default a random UUID.
  open func newReferenceObject(for object: ManagedObject) -> any Sendable { UUID() }

  /// Called before nodes of deleted objects are removed; does nothing.
  open func willRemoveCacheNodes(_ cacheNodes: Set<AtomicStoreCacheNode>) {}

  // MARK: Nodes

  /// Adds nodes of objects.
  public final func addCacheNodes(_ cacheNodes: Set<AtomicStoreCacheNode>) {
    for node in cacheNodes { nodes[RowAddress(node.objectID.entity, node.objectID.key.keyInStore)] = node }
  }

  /// All nodes.
  public final func cacheNodes() -> Set<AtomicStoreCacheNode> { Set(nodes.values) }

  /// The node of an object; nil if there is none.
  public final func cacheNode(for objectID: ManagedObjectID) -> AtomicStoreCacheNode? {
    nodes[RowAddress(objectID.entity, objectID.key.keyInStore)]
  }

  /// The identifier of an object by what the store calls it. The same reference gives the same identifier whenever the store is loaded.
  ///
  /// - Parameters:
  ///   - entity: The object's own entity.
  ///   - reference: As for `newReferenceObject(for:)`.
  @_disfavoredOverload
  public final func objectID(
    for entity: EntityDescription, withReferenceObject reference: any Sendable
  ) -> ManagedObjectID {
    let key = Self.key(of: reference, entity)
    let former = references.updateValue(reference, forKey: RowAddress(entity, key))
    if let former, "\(former)" != "\(reference)" {
      collision = HeartwoodError(
        .persistentStoreSave,
        "\(Swift.type(of: self)) calls objects \(former) and \(reference), which cannot be told apart by their identifiers: choose another name"
      )
    }
    return ManagedObjectID(entity: entity, key: key, store: storeIdentity)
  }

  /// The reference object of an object; nil for an object of another store, or one that the store has not named.
  @_disfavoredOverload
  public final func referenceObject(for objectID: ManagedObjectID) -> (any Sendable)? {
    objectID.store == storeIdentity ? references[RowAddress(objectID.entity, objectID.key.keyInStore)] : nil
  }

  /// Numbers are keys themselves, where no other entity of the family can have them; of anything else the key is a hash, with a bit that
  /// numbers do not have.
  private static func key(of reference: any Sendable, _ entity: EntityDescription) -> UInt64 {
    let mark: UInt64 = 1 << 52
    if let number = reference as? any BinaryInteger, let key = UInt64(exactly: number), key > 0, key < mark,
      entity.rootEntity === entity, !entity.hasSubentities
    {
      return key
    }
    let text = Array("\(entity.displayName) \(reference)".utf8)
    return text.withUnsafeBytes { XXH64.hash($0, seed: 0) } & (mark - 1) | mark
  }

  private func related(_ value: Any?) -> Any? {
    switch value {
    case let object as ManagedObject: cacheNode(for: object.objectID)
    case let objects as Set<ManagedObject>: Set(objects.compactMap { cacheNode(for: $0.objectID) })
    case let objects as [ManagedObject]: objects.compactMap { cacheNode(for: $0.objectID) }
    default: nil
    }
  }

  // MARK: Overrides of custom stores

  override final class var isWhole: Bool { true }

  override final var namesObjects: Bool { true }

  override final func newKey(for object: ManagedObject, inStore number: Int) throws -> UInt64 {
    let reference = newReferenceObject(for: object)
    let identifier = objectID(for: object.entity, withReferenceObject: reference)
    let address = RowAddress(identifier.entity, identifier.key)
    let other = newObjects.updateValue(NewObject(object: object), forKey: address)?.object
    let isGiven = other.map { $0 !== object && $0.isInserted } ?? false
    guard cacheNode(for: identifier) == nil, !isGiven else {
      throw HeartwoodError(
        .persistentStoreSave,
        "\(Swift.type(of: self)) calls a new object \(reference), as another one of \(object.entity.displayName) is called already"
      )
    }
    if let collision { throw collision }
    return identifier.key.numbered(number)
  }

  override final func opened(
    _ description: PersistentStoreDescription, by coordinator: PersistentStoreCoordinator, mayMigrate: Bool
  ) throws -> PersistentStore {
    let model = coordinator.managedObjectModel
    let found: (migration: ProgramStoreMigration, metadata: [String: any Sendable])?
    do {
      found = try open(model)
    } catch is ProgramStoreMigration.NeedsStages where !mayMigrate {
      throw ProgramStoreMigration.IsDue()
    }
    guard let (migration, metadata) = found else { return self }
    guard mayMigrate else { throw ProgramStoreMigration.IsDue() }
    let target = try another(description, by: coordinator)
    target.allStoredMetadata = metadata
    try AtomicStoreMigration(source: self, target: target, model: model).run(migration)
    let migrated = try another(description, by: coordinator)
    guard try migrated.open(model) == nil else {
      throw HeartwoodError(
        .migration,
        "the store at \(place) was migrated, and has another model when it is opened again: its class \(Swift.type(of: self)) does not "
          + "save storedMetadata")
    }
    return migrated
  }

  override final func withMetadata<Result>(
    readBy model: ManagedObjectModel, _ body: ([String: any Sendable]) throws -> Result
  ) throws -> Result {
    try loadMetadata()
    return try body(allStoredMetadata)
  }

  override final func endPendingStage() throws {
    allStoredMetadata[MetadataKey.pendingMigrationStage] = nil
    try save()
  }

  /// The class has the metadata from now on, and the next save, also one without changed objects, has it write them.
  override final func setMetadata(_ settable: StoreMetadata) throws {
    try super.setMetadata(settable)
    var values = allStoredMetadata.filter { MetadataKey.all.contains($0.key) }
    for (name, value) in settable.values { values[name] = value.any }
    allStoredMetadata = values
  }

  override final func allMetadata() throws -> [String: Any] {
    allStoredMetadata.filter { $0.key != MetadataKey.modelData }
  }

  /// Adds what is missing in the metadata again, as loading may have replaced them.
  final func completeMetadata(_ complete: [String: any Sendable]) {
    let known = allStoredMetadata
    let missing = complete.filter { MetadataKey.all.contains($0.key) && known[$0.key] == nil }
    if !missing.isEmpty { allStoredMetadata.merge(missing) { own, _ in own } }
  }

  override final func endCopying() throws { try save() }
}

/// Loading and saving, as the coordinator and saves call them.
extension AtomicStore {
  final func prepare(_ model: ManagedObjectModel, _ identity: StoreIdentity) {
    known = model
    storeIdentity = identity
  }

  /// Calls objects as another store does.
  ///
  /// - Parameter roots: By the number of a root entity of the other store, those of its entities here.
  final func takeReferences(of other: AtomicStore, _ roots: [UInt16: Set<UInt16>]) {
    for (key, reference) in other.references {
      for root in roots[key.root] ?? [] { references[RowAddress(root: root, key: key.key)] = reference }
    }
  }

  /// Forgets what was loaded.
  final func forgetNodes() {
    nodes = [:]
    references = [:]
    collision = nil
  }

  final func noteSaved() { newObjects.removeAll() }

  final func removeCacheNodes(_ removed: [AtomicStoreCacheNode]) {
    guard !removed.isEmpty else { return }
    willRemoveCacheNodes(Set(removed))
    for node in removed { nodes[RowAddress(node.objectID.entity, node.objectID.key.keyInStore)] = nil }
  }
}

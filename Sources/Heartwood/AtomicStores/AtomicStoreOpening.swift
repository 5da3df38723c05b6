import Foundation
import HeartwoodEngine

/// Opening a custom store.
extension AtomicStore {
  /// Another store of the class at the same place, which is not opened.
  final func another(
    _ description: PersistentStoreDescription, by coordinator: PersistentStoreCoordinator
  ) throws -> AtomicStore {
    let made = Swift.type(of: self).init(
      persistentStoreCoordinator: coordinator, at: url, options: description.options)
    try StoreClasses.prepare(made, description, by: coordinator)
    return made
  }

  /// Opens the store; with the model that it was written with, if it is to be migrated as it is inferred. A mapping model has another
  /// object of the class read it.
  ///
  /// - Returns: The migration, which makes another store of this one, and the metadata of that; nil if it has the model.
  func open(
    _ model: ManagedObjectModel
  ) throws -> (migration: ProgramStoreMigration, metadata: [String: any Sendable])? {
    try loadMetadata()
    let loaded = try loadIfMetadataAreAmongObjects(model)
    var metadata = allStoredMetadata
    let migration = try beginMigration(of: &metadata, to: model)
    if case .mapped? = migration { return migration.map { ($0, metadata) } }
    let own = migration?.sourceModel ?? model
    var complete = allStoredMetadata
    let uuid = try self.complete(&complete, own) { loaded ?? UUID() }
    allStoredMetadata = complete
    prepare(own, StoreIdentity(uuid: uuid))
    if loaded == nil { try load(with: own) }
    completeMetadata(complete)
    try open(own, uuid)
    return migration.map { ($0, metadata) }
  }

  /// Loads a store whose class has said nothing about it yet: some read the metadata with the objects.
  ///
  /// - Returns: The identifier with which the objects are loaded; nil if they are not, or if they are to be loaded again under that of the metadata.
  private func loadIfMetadataAreAmongObjects(_ model: ManagedObjectModel) throws -> UUID? {
    guard allStoredMetadata[MetadataKey.storeUUID] == nil else { return nil }
    let uuid = UUID()
    prepare(model, StoreIdentity(uuid: uuid))
    try load()
    guard allStoredMetadata[MetadataKey.storeUUID] is String else { return uuid }
    forgetNodes()
    return nil
  }

  /// Loads the objects, while the coordinator that the class sees has the model that the store was written with.
  private func load(with model: ManagedObjectModel) throws {
    let coordinator = persistentStoreCoordinator
    let former =
      coordinator?.managedObjectModel === model ? nil : try PersistentStoreCoordinator(checking: model)
    if let former { persistentStoreCoordinator = former }
    defer { persistentStoreCoordinator = coordinator }
    try withExtendedLifetime(former) { try load() }
  }

  private func open(_ model: ManagedObjectModel, _ uuid: UUID) throws {
    if let collision { throw collision }
    let saving = AtomicStoreSaving(self)
    do {
      let known = allStoredMetadata.filter { !MetadataKey.all.contains($0.key) }
      // A copy of another kind has them, if it can have them.
      let own = (try? StoreMetadata(settable: known))?.values ?? [:]
      let loader = try StoreDocumentLoader(model, uuid, saves: 0, own, LogStore.emptyInMemory)
      for node in cacheNodes().sorted(by: { $0.objectID.key < $1.objectID.key }) { try add(node, to: loader) }
      let engine = try loader.finish().engine
      begin(
        LogStore(engine, loader.schema, isReadOnly: isReadOnly, tracksHistory: false, file: saving))
    } catch let mistake as StoreDocumentLoader.Mistake {
      throw unfit(mistake.message)
    } catch is ConstraintViolations {
      throw unfit("values that must be unique are not")
    }
  }

  private func unfit(_ why: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreDamaged, "the store at \(url.path) could not be loaded: \(why); nothing was changed")
  }

  private func add(_ node: AtomicStoreCacheNode, to loader: StoreDocumentLoader) throws {
    let (entity, key) = (node.objectID.entity, node.objectID.key)
    guard managedObjectModel.entitiesByName[entity.displayName] === entity else {
      throw StoreDocumentLoader.Mistake(
        message:
          "its class made the node \(node.objectID) of an entity of another model: take the entities of managedObjectModel"
      )
    }
    var cells: [(slot: Int, value: Value)] = []
    for slot in entity.slots {
      let column = entity.layout.columns[slot]
      let name = entity.property(at: slot).name
      let place = "\(entity.displayName) \(node.objectID), \(name)"
      switch column.kind {
      case .transient: continue
      case .composite:
        let hasElement = entity.slots.contains {
          entity.property(at: $0).name.hasPrefix(name + ".")
            && node.value(forKey: entity.property(at: $0).name) != nil
        }
        if hasElement { cells.append((slot, .bool(true))) }
      case .toOne:
        guard let value = node.value(forKey: name) else { continue }
        guard let other = value as? AtomicStoreCacheNode else {
          throw StoreDocumentLoader.Mistake(message: "\(place): the value is no node")
        }
        cells.append((slot, .object(other.objectID)))
      case .toMany:
        guard let value = node.value(forKey: name) else { continue }
        let others = (value as? Set<AtomicStoreCacheNode>).map(Array.init) ?? value as? [AtomicStoreCacheNode]
        guard let others else {
          throw StoreDocumentLoader.Mistake(message: "\(place): the value is no set of nodes")
        }
        loader.add(entity.relationship(at: slot), of: key, others.map(\.objectID.key))
      default:
        do {
          cells.append((slot, try entity.storedValue(node.value(forKey: name), at: slot)))
        } catch {
          throw StoreDocumentLoader.Mistake(message: "\(place): \(error.message)")
        }
      }
    }
    try loader.add(entity, key, version: 1, cells)
  }
}

import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Copies a store to one of another kind object by object, as custom stores have no bytes that others can read.
///
/// The copies are new objects, with other identifiers. Only those of a store whose fetches the library executes keep theirs where the copy is of
/// a kind that comes with the library, and the store has all entities: see `StoreTransfer`.
struct ObjectCopying {
  let source: PersistentStore
  let model: ManagedObjectModel
  /// Is notified of the objects that are done.
  let log: MigrationLog

  /// Fills the store that a description is of, and closes it. What is in memory becomes that of the description.
  ///
  /// - Throws: `.persistentStoreOperation` if the store has objects already; the errors of opening, reading and saving.
  func fill(_ copy: PersistentStoreDescription) throws {
    if StoreClasses.all[copy.type] == nil, let transfer = try source.transfer(model, log) {
      try run(transfer, to: copy)
      return
    }
    let from = try PersistentStoreCoordinator(checking: model)
    try from.adopt(source)
    let to = try PersistentStoreCoordinator(checking: model)
    let format = StoreFileFormat(rawValue: copy.type.rawValue)
    let made = PersistentStoreDescription(copying: copy)
    made.createsStore = true
    // Each save would write all of it.
    made.defersWriting = true
    if format != nil || copy.type == .inMemory {
      made.type = .inMemory
      made.url = URL(fileURLWithPath: "/dev/null")
    }
    let target = try to.addPersistentStore(with: made)
    defer { try? to.close() }
    try requireEmpty(to, target.place)
    try copyMetadata(to, target)
    let manager = MigrationManager(sourceModel: model, destinationModel: model)
    manager.log = log
    manager.validatesObjects = false
    try manager.migrate(from, mapping(), to)
    try target.endCopying()
    if copy.type == .inMemory {
      copy.filled = try target.contents.copyInMemory()
    } else if let format, let url = copy.url {
      try target.contents.write(format, at: url, LogStoreOptions(copy))
    }
  }

  /// - Returns: A report on the copies.
  @discardableResult
  func run(
    _ transfer: any ObjectTransfer, to copy: PersistentStoreDescription
  ) throws -> StoreTransferReport {
    guard copy.type == .log else {
      let engine = try LogStore.emptyInMemory(transfer.identifier)
      try transfer.run(engine)
      if copy.type == .inMemory {
        copy.filled = engine
      } else if let format = StoreFileFormat(rawValue: copy.type.rawValue), let url = copy.url {
        let file = try StoreFile.toCreate(format, at: LogStore.path(of: url), LogStoreOptions(copy))
        defer { file.endPreparation() }
        try LogStore.save(engine, to: file)
      }
      return transfer.report
    }
    guard let url = copy.url else { return transfer.report }
    let path = LogStore.path(of: url)
    try HeartwoodError.translating("the store at \(source.place) could not be copied to \(path)") {
      // Two processes that start with the same store make one copy.
      try StoreMaking(at: path, copy).run {
        guard try Engine.containsStore(at: path, fileSystem: copy.fileSystem) else { return }
        throw HeartwoodError(
          .persistentStoreOperation,
          "the store at \(source.place) cannot be copied to \(path): a store is there; choose another place, or remove it first"
        )
      } _: { folder in
        try fill(LogStore.path(of: folder), transfer, copy)
      }
    }
    return transfer.report
  }

  private func fill(_ path: String, _ transfer: any ObjectTransfer, _ copy: PersistentStoreDescription) throws
  {
    let made = PersistentStoreDescription(copying: copy)
    (made.isReadOnly, made.createsStore, made.durability) = (false, true, .deferred)
    var options = try LogStoreOptions(made).engine
    options.newIdentifier = transfer.identifier
    // Copied objects are not read again soon: memory is the same however much is copied.
    options.arenaBytes = 16 << 20
    let engine = try Engine(at: path, options: options, fileSystem: copy.fileSystem)
    do {
      try transfer.run(engine)
    } catch {
      try? engine.close()
      throw error
    }
    try engine.close()
  }

  /// Of the entities that the store has, to themselves.
  private func mapping() throws -> MappingModel {
    let mapping = try MappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model)
    let stored = source.configuration.storedNames
    mapping.entityMappings.removeAll { mapping in
      mapping.sourceEntityName.map { stored?.contains($0) == false } ?? false
    }
    return mapping
  }

  private func requireEmpty(_ coordinator: PersistentStoreCoordinator, _ place: String) throws {
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try context.performAndWait {
      for entity in coordinator.managedObjectModel.entities where entity.superentity == nil {
        guard source.configuration.storedNames?.contains(entity.displayName) != false else { continue }
        guard try context.count(for: FetchRequest<ManagedObject>(entityName: entity.displayName)) == 0 else {
          throw HeartwoodError(
            .persistentStoreOperation,
            "the store at \(source.place) cannot be copied to \(place): a store with objects of \(entity.displayName) is there; choose "
              + "another place, or remove it first")
        }
      }
    }
  }

  private func copyMetadata(_ coordinator: PersistentStoreCoordinator, _ target: PersistentStore) throws {
    let own = PersistentStore.MetadataKey.all
    let values = try source.allMetadata().filter { !own.contains($0.key) }
    if !values.isEmpty { try coordinator.setMetadata(values, for: target) }
  }
}

import Foundation

/// Migration by the store's own means.
extension MigrationManager {
  /// Copies the source and migrates the copy in place, where that does the same as the mappings.
  ///
  /// - Returns: False if it would not, or if objects would have to be added to a store: nothing is done then.
  func migrateInPlace(
    _ source: PersistentStoreDescription, _ mapping: MappingModel, _ destination: PersistentStoreDescription
  ) throws -> Bool {
    guard let from = source.url, let to = destination.url, source.type == .log, destination.type == .log,
      mapping.isInferred(from: sourceModel, to: destinationModel), try !holdsStore(to, destination)
    else { return false }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: destinationModel)
    do {
      try coordinator.replacePersistentStore(
        at: to, withPersistentStoreFrom: from, sourceOptions: source.isReadOnly ? [.readOnly: true] : nil,
        fileSystem: source.fileSystem)
    } catch {
      throw HeartwoodError(
        .migrationManagerSourceStore, "the migration cannot begin: \(error)", underlying: error)
    }
    do {
      var options = try LogStoreOptions(destination)
      options.migrationLog = log
      _ = try LogStore.migrate(at: to, to: destinationModel, options: options)
    } catch {
      try? coordinator.destroyPersistentStore(at: to, fileSystem: destination.fileSystem)
      throw error
    }
    return true
  }

  /// Whether nothing is at the place of a store of a kind that comes with the library.
  func isMissing(_ description: PersistentStoreDescription) -> Bool {
    guard let url = description.url, description.type != .inMemory, !description.isOfRegisteredClass else {
      return false
    }
    guard description.type == .log else { return !FileManager.default.fileExists(atPath: url.path) }
    return (try? holdsStore(url, description)) == false
  }

  /// Removes a store that the migration has made, and that is not open.
  func remove(_ description: PersistentStoreDescription) {
    guard let url = description.url else { return }
    try? PersistentStoreCoordinator(managedObjectModel: destinationModel).destroyPersistentStore(
      at: url, type: description.type, fileSystem: description.fileSystem)
  }

  private func holdsStore(_ url: URL, _ description: PersistentStoreDescription) throws -> Bool {
    guard let directory = try? description.fileSystem.openDirectory(LogStore.path(of: url)) else {
      return false
    }
    return try !directory.entries().isEmpty
  }
}

extension MappingModel {
  /// Whether it is the mapping model that is inferred for two models.
  func isInferred(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Bool {
    guard
      let inferred = try? MappingModel.inferredMappingModel(
        forSourceModel: source, destinationModel: destination),
      entityMappings.count == inferred.entityMappings.count
    else { return false }
    let (named, inferredNames) = (NamedMappings(entityMappings), NamedMappings(inferred.entityMappings))
    return zip(entityMappings, inferred.entityMappings).allSatisfy { own, other in
      own.isSame(as: other)
        && own.names(source, destination, named) == other.names(source, destination, inferredNames)
    }
  }
}

extension EntityMapping {
  /// Whether the mappings are about the same entities, without code.
  fileprivate func isSame(as other: EntityMapping) -> Bool {
    type(of: policy) == EntityMigrationPolicy.self && sourcePredicate == nil
      && sourceEntityName == other.sourceEntityName && destinationEntityName == other.destinationEntityName
      && mappingType == other.mappingType && sourceEntityVersionHash == other.sourceEntityVersionHash
      && destinationEntityVersionHash == other.destinationEntityVersionHash
  }

  /// The source's property of each property, empty for none; nil if something is computed or refused.
  fileprivate func names(
    _ source: ManagedObjectModel, _ destination: ManagedObjectModel, _ all: NamedMappings
  ) -> [String: String]? {
    guard let resolved = resolved(from: source, to: destination, among: all) else { return [:] }
    guard resolved.refused.isEmpty else { return nil }
    var names: [String: String] = [:]
    for property in resolved.attributes + resolved.relationships {
      switch property.origin {
      case .computed: return nil
      case .property(let name): names[property.name] = name
      case .none: names[property.name] = ""
      }
    }
    return names
  }
}

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
    let inferred = try? MappingModel.inferredMappingModel(
      forSourceModel: source, destinationModel: destination)
    return inferred.map(isSame) ?? false
  }

  /// Whether the mappings say the same, and nothing by code.
  fileprivate func isSame(as other: MappingModel) -> Bool {
    entityMappings.count == other.entityMappings.count
      && zip(entityMappings, other.entityMappings).allSatisfy { $0.isSame(as: $1) }
  }
}

extension EntityMapping {
  fileprivate func isSame(as other: EntityMapping) -> Bool {
    type(of: policy) == EntityMigrationPolicy.self && sourcePredicate == nil
      && sourceEntityName == other.sourceEntityName && destinationEntityName == other.destinationEntityName
      && mappingType == other.mappingType && sourceEntityVersionHash == other.sourceEntityVersionHash
      && destinationEntityVersionHash == other.destinationEntityVersionHash
      && Self.areSame(attributeMappings, other.attributeMappings)
      && Self.areSame(relationshipMappings, other.relationshipMappings)
  }

  private static func areSame(_ mappings: [PropertyMapping], _ others: [PropertyMapping]) -> Bool {
    mappings.count == others.count
      && zip(mappings, others).allSatisfy {
        $0.name == $1.name && $0.sourceName == $1.sourceName && $0.value == nil && $0.expression == nil
          && !$0.isIfPresent
      }
  }
}

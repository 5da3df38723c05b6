import Foundation
import Heartwood

/// Opens the stores of a container.
struct ContainerOpening {
  let coordinator: PersistentStoreCoordinator
  let stores: OpenModelStores

  /// - Throws: `SwiftDataError`, with the cause.
  init(
    _ models: ModelRegistry, _ plan: (any SchemaMigrationPlan.Type)?, _ given: [any DataStoreConfiguration]
  ) throws {
    try Self.check(given, models)
    let names = try Self.nameConfigurations(given, models)
    do {
      coordinator = try PersistentStoreCoordinator(checking: models.model)
      stores = OpenModelStores()
      for (configuration, name) in zip(given, names) {
        try Self.open(configuration, name, models, plan, coordinator, stores)
      }
    } catch let error as SwiftDataError {
      throw error
    } catch {
      throw Self.error(error)
    }
  }

  private static func check(_ given: [any DataStoreConfiguration], _ models: ModelRegistry) throws {
    var places: Set<String> = []
    for configuration in given {
      try configuration.validate()
      guard let own = configuration as? ModelConfiguration else { continue }
      if !own.isStoredInMemoryOnly, !places.insert(own.url.placeOfStore).inserted {
        throw SwiftDataError(
          .duplicateConfiguration, "two configurations are of \(own.url.path): give one another name or URL")
      }
      for entity in own.schema?.entities ?? [] where models.schema.entitiesByName[entity.name] == nil {
        throw SwiftDataError(
          .configurationSchemaNotFoundInContainerSchema,
          "the configuration \(own.name) has \(entity.name), which the container does not have: add it to the container's models"
        )
      }
    }
  }

  /// The names of the configurations in the model; nil for one that has all entities.
  private static func nameConfigurations(
    _ given: [any DataStoreConfiguration], _ models: ModelRegistry
  ) throws -> [String?] {
    guard given.count > 1 || given.contains(where: { $0.schema != nil }) else { return [nil] }
    return given.enumerated().map { index, configuration in
      guard let schema = configuration.schema, schema.entities.count < models.schema.entities.count else {
        return nil
      }
      let name = "\(configuration.name)-\(index)"
      models.model.setEntities(
        schema.entities.compactMap { models.model.entitiesByName[$0.name] }, forConfigurationName: name)
      return name
    }
  }

  private static func open(
    _ configuration: any DataStoreConfiguration, _ name: String?, _ models: ModelRegistry,
    _ plan: (any SchemaMigrationPlan.Type)?, _ coordinator: PersistentStoreCoordinator,
    _ stores: OpenModelStores
  ) throws {
    guard let own = configuration as? ModelConfiguration else {
      return try DataStoreOpening.open(configuration, name, plan, models, coordinator, stores)
    }
    if !own.isStoredInMemoryOnly {
      try FileManager.default.createDirectory(
        at: own.url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
    let description = PersistentStoreDescription(url: own.url)
    description.configuration = name
    description.isReadOnly = !own.allowsSave
    description.postsRemoteChangeNotifications = true
    description.allowsMigrationToFormerModel = true
    if let plan {
      description.stagedMigrationManager = try ModelMigration.manager(of: plan, to: models)
      description.allowsMigrationToFormerModel = false
    }
    stores.add(try coordinator.addPersistentStore(with: description), own)
  }

  private static func error(_ error: any Error) -> SwiftDataError {
    switch (error as? HeartwoodError)?.code {
    case .stagedMigrationBackwardMigration?: SwiftDataError(.backwardMigration, underlying: error)
    case .stagedMigrationModelReference?, .migrationMissingSourceModel?:
      SwiftDataError(.unknownSchema, underlying: error)
    default: SwiftDataError(.loadIssueModelContainer, underlying: error)
    }
  }
}

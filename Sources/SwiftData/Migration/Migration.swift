import Foundation
import Heartwood

/// One version of a schema: its classes in a namespace of their own.
public protocol VersionedSchema: SendableMetatype {
  /// All classes of the version, also those that are as they were before.
  static var models: [any PersistentModel.Type] { get }
  /// The number of the version.
  static var versionIdentifier: Schema.Version { get }
}

/// The versions of a schema, and the stages between them.
public protocol SchemaMigrationPlan: SendableMetatype {
  /// The versions, oldest first.
  static var schemas: [any VersionedSchema.Type] { get }
  /// The stages, in the same order.
  static var stages: [MigrationStage] { get }
}

/// A step from one version of a schema to the next.
///
/// Each store of a container goes through it on its own, if it changes a class that the store has. The handlers run once for each such store, and their
/// contexts have the models of that store only.
public enum MigrationStage: @unchecked Sendable {
  // Unchecked: the handlers run one after the other, on the thread that opens the store.
  /// A step that is inferred.
  case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
  /// A step with code before it, which sees the models of the earlier version, and after it, which sees those of the later one.
  case custom(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)
}

/// The plans of migrations, as the graph has them.
enum ModelMigration {
  /// - Parameter models: Those that the container has.
  static func manager(of plan: any SchemaMigrationPlan.Type, to models: ModelRegistry) throws
    -> StagedMigrationManager
  {
    var registries: [ObjectIdentifier: ModelRegistry] = [:]
    func registry(_ version: any VersionedSchema.Type) throws -> ModelRegistry {
      if let known = registries[ObjectIdentifier(version)] { return known }
      let made = try ModelRegistry(Schema(versionedSchema: version))
      registries[ObjectIdentifier(version)] = made
      return made
    }
    func reference(_ version: any VersionedSchema.Type) throws -> ManagedObjectModelReference {
      ManagedObjectModelReference(model: try registry(version).model)
    }
    var stages: [Heartwood.MigrationStage] = []
    for stage in plan.stages {
      switch stage {
      case .lightweight(let from, let to):
        let made = LightweightMigrationStage(models: [try reference(from), try reference(to)])
        made.label = "\(from.versionIdentifier) to \(to.versionIdentifier)"
        stages.append(made)
      case .custom(let from, let to, let will, let did):
        let made = CustomMigrationStage(migratingFrom: try reference(from), to: try reference(to))
        made.label = "\(from.versionIdentifier) to \(to.versionIdentifier)"
        made.willMigrateHandler = handler(will, try registry(from), plan)
        made.didMigrateHandler = handler(did, try registry(to), plan)
        stages.append(made)
      }
    }
    return StagedMigrationManager(stages)
  }

  private static func handler(
    _ body: ((ModelContext) throws -> Void)?, _ models: ModelRegistry, _ plan: any SchemaMigrationPlan.Type
  ) -> CustomMigrationStage.Handler? {
    guard let body else { return nil }
    let sent = SentHandler(body: body, plan: plan)
    return { manager, _ in
      guard let coordinator = manager.container?.persistentStoreCoordinator else { return }
      // A container over the store that the stage has open.
      let contents = ContainerContents(
        models: try models.of(coordinator), plan: sent.plan, configurations: [], coordinator: coordinator,
        stores: OpenModelStores())
      let context = ModelContext(contents, isMain: false)
      try sent.body(context)
      if context.hasChanges { try context.save() }
    }
  }

  /// A handler, which runs on the thread that migrates only.
  private struct SentHandler: @unchecked Sendable {
    let body: (ModelContext) throws -> Void
    let plan: any SchemaMigrationPlan.Type
  }
}

extension ModelRegistry {
  /// The registry for a coordinator with a model of the same entities.
  func of(_ coordinator: PersistentStoreCoordinator) throws -> ModelRegistry {
    coordinator.managedObjectModel === model ? self : ModelRegistry(schema, coordinator.managedObjectModel)
  }
}

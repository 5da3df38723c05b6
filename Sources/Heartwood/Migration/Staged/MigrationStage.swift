import Foundation
import HeartwoodFiles

/// A part of a staged migration: `LightweightMigrationStage` or `CustomMigrationStage`.
public class MigrationStage: NSObject, @unchecked Sendable {
  private let text = Guarded<String?>(nil)

  /// A name for messages.
  public final var label: String? {
    get { text.withLock { $0 } }
    set { text.withLock { $0 = newValue } }
  }

  override init() {}

  /// The versions that the stage is about, oldest first.
  var versions: [ManagedObjectModelReference] { [] }

  /// Whether the stage leads to the version that follows it, whatever that is.
  var leadsAnywhere: Bool { false }

  /// The label, or what the stage does.
  final var name: String { label ?? versions.map(\.versionChecksum).joined(separator: " → ") }
}

/// A run of versions of which each is inferred from the one before.
public final class LightweightMigrationStage: MigrationStage, @unchecked Sendable {
  /// The versions, oldest first.
  public let models: [ManagedObjectModelReference]

  /// A stage of versions without models. A store of any of them is migrated in one step to the model that follows the stage, so what
  /// is renamed twice must keep its first renaming identifier.
  ///
  /// - Parameter versionChecksums: The checksums of the models, oldest first.
  public init(_ versionChecksums: [String]) {
    models = versionChecksums.map { ManagedObjectModelReference(versionChecksum: $0) }
  }

  /// A stage of versions, to each of which a store is migrated one after the other.
  ///
  /// - Parameter models: The versions, oldest first. Those of a checksum alone are left out; one that promises a model and has none is an
  ///   error.
  public init(models: [ManagedObjectModelReference]) { self.models = models }

  /// The checksums of the models, oldest first.
  public var versionChecksums: [String] { models.map(\.versionChecksum) }

  override var versions: [ManagedObjectModelReference] { models }
  override var leadsAnywhere: Bool { !models.contains(where: \.hasModel) }
}

/// A step between two versions with code before and after it.
///
/// The step itself is inferred. If the process ends between the step and the end of `didMigrateHandler`, the next opening of the store runs that
/// handler again: it must be able to do its work twice.
///
/// Of several stores of configurations, each goes through the stage on its own: the handlers run once for each store of which the stage changes an
/// entity, and see the objects of that store only.
public final class CustomMigrationStage: MigrationStage, @unchecked Sendable {
  /// Code of a stage: gets the manager, whose `container` has the store open, and the stage.
  public typealias Handler = @Sendable (StagedMigrationManager, CustomMigrationStage) throws -> Void

  /// The version before the stage.
  public let currentModel: ManagedObjectModelReference
  /// The version after it.
  public let nextModel: ManagedObjectModelReference
  private let handlers = Guarded<(will: Handler?, did: Handler?)>((nil, nil))

  /// Called before the step, with the store open with the current model. An error ends the migration.
  @_disfavoredOverload public var willMigrateHandler: Handler? {
    get { handlers.withLock { $0.will } }
    set { handlers.withLock { $0.will = newValue } }
  }

  /// Called after the step, with the store open with the next model. An error ends the migration, and the handler is called again when the
  /// store is opened again.
  @_disfavoredOverload public var didMigrateHandler: Handler? {
    get { handlers.withLock { $0.did } }
    set { handlers.withLock { $0.did = newValue } }
  }

  /// A stage without handlers.
  ///
  /// - Parameters:
  ///   - currentModel: The version before the stage.
  ///   - nextModel: The version after it.
  public init(
    migratingFrom currentModel: ManagedObjectModelReference, to nextModel: ManagedObjectModelReference
  ) {
    self.currentModel = currentModel
    self.nextModel = nextModel
  }

  override var versions: [ManagedObjectModelReference] { [currentModel, nextModel] }
}

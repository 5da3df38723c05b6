import Foundation
import Heartwood
import HeartwoodBytes

/// The mapping of the entities of a model.
public typealias NSMappingModel = MappingModel
/// The mapping of an entity.
public typealias NSEntityMapping = EntityMapping
/// The kind of a mapping.
public typealias NSEntityMappingType = EntityMapping.MappingType
/// The mapping of a property.
public typealias NSPropertyMapping = PropertyMapping
/// Migration over several versions.
public typealias NSStagedMigrationManager = StagedMigrationManager
/// A step of a staged migration.
public typealias NSMigrationStage = MigrationStage
/// A step without code.
public typealias NSLightweightMigrationStage = LightweightMigrationStage
/// A step with code.
public typealias NSCustomMigrationStage = CustomMigrationStage
/// A version of a model that is found when it is needed.
public typealias NSManagedObjectModelReference = ManagedObjectModelReference

/// The names of variables in expressions of mappings.
public let NSMigrationManagerKey = "manager"
/// The name of a variable in expressions of mappings.
public let NSMigrationSourceObjectKey = "source"
/// The name of a variable in expressions of mappings.
public let NSMigrationDestinationObjectKey = "destination"
/// The name of a variable in expressions of mappings.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The name of a variable in expressions of mappings.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The name of a variable in expressions of mappings.
public let NSMigrationEntityPolicyKey = "entityPolicy"

extension ManagedObjectModel {
  /// Whether a configuration of the model has the entities of a store with this metadata. Of a file of Core Data that keeps no model, the tables are
  /// compared.
  ///
  /// - Parameters:
  ///   - configuration: The name of the configuration; nil for all entities.
  ///   - metadata: The metadata of the store.
  public func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    bindClasses()
    let name = StoreTypes.configuration(configuration, of: self)
    if name == nil, let isCompatible = AppleStores.isCompatible(self, with: metadata) { return isCompatible }
    return isConfiguration(named: name, compatibleWith: metadata)
  }
}

extension MappingModel {
  /// The mappings of the entities, in the order in which they are worked on; nil is none.
  public var entityMappings: [NSEntityMapping]! {
    get { anyEntityMappings }
    set { anyEntityMappings = newValue ?? [] }
  }
}

extension CustomMigrationStage {
  /// Called before the step, with the store open with the current model. An error ends the migration.
  public var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)? {
    get { anyWillMigrateHandler }
    set { anyWillMigrateHandler = newValue.map(sent) }
  }

  /// Called after the step, with the store open with the next model. An error ends the migration, and the handler is
  /// called again when the store is opened again.
  public var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)? {
    get { anyDidMigrateHandler }
    set { anyDidMigrateHandler = newValue.map(sent) }
  }

  private func sent(
    _ handler: @escaping (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void
  ) -> Handler {
    let sent = SentBlock(handler)
    return { try sent.block($0, $1) }
  }
}

extension ManagedObjectModelReference {
  /// The model.
  ///
  /// - Precondition: There is one, and it has the checksum.
  public var resolvedModel: NSManagedObjectModel {
    do {
      return try anyResolvedModel
    } catch {
      programError("resolvedModel: \(error)")
    }
  }
}

extension EntityMapping {
  /// The name, which other mappings refer to.
  public var name: String! {
    get { anyName }
    set { anyName = newValue ?? "" }
  }

  /// Annotations for the program's own use.
  public var userInfo: [AnyHashable: Any]? {
    get { anyAnnotations }
    set { anyAnnotations = newValue }
  }
}

extension PropertyMapping {
  /// The name of the destination's property.
  public var name: String? {
    get { anyName }
    set { anyName = newValue ?? "" }
  }

  /// Annotations for the program's own use.
  public var userInfo: [AnyHashable: Any]? {
    get { anyAnnotations }
    set { anyAnnotations = newValue }
  }
}

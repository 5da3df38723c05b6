import Foundation
import Heartwood

/// What becomes of the entities of a model.
public typealias NSMappingModel = MappingModel
/// What becomes of an entity.
public typealias NSEntityMapping = EntityMapping
/// The kind of a mapping.
public typealias NSEntityMappingType = EntityMapping.MappingType
/// What becomes of a property.
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
  /// Whether a configuration of the model has the entities of a store with this metadata.
  ///
  /// - Parameters:
  ///   - configuration: The name of the configuration; nil for all entities.
  ///   - metadata: The metadata of the store.
  public func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    bindClasses()
    return isConfiguration(named: configuration, compatibleWith: metadata)
  }

  /// The request of the model with this name, which has no variables.
  public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
    bindClasses()
    return anyFetchRequestTemplate(name, [:]).map(Self.request)
  }

  /// A copy of the request of the model with this name, with values for its variables.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    bindClasses()
    return anyFetchRequestTemplate(name, variables.mapValues { GivenArgument($0) }).map(Self.request)
  }

  /// All requests of the model by their names.
  public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
    Dictionary(
      uniqueKeysWithValues: fetchRequestTemplateNames.compactMap { name in
        fetchRequestTemplate(forName: name).map { (name, $0) }
      })
  }

  private static func request(_ known: FetchRequest<ManagedObject>) -> NSFetchRequest<
    any NSFetchRequestResult
  > {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: known.entityName ?? "")
    request.predicate = (known.predicate as? FormatPredicate).map { NSPredicate.made(of: $0.condition) }
    request.sortDescriptors = known.sortDescriptors?.compactMap {
      ($0 as? NamedSort)?.parts.map { NSSortDescriptor(key: $0.path, ascending: $0.isAscending) }
    }
    request.fetchLimit = known.fetchLimit
    request.fetchOffset = known.fetchOffset
    request.fetchBatchSize = known.fetchBatchSize
    request.includesSubentities = known.includesSubentities
    request.includesPendingChanges = known.includesPendingChanges
    request.returnsObjectsAsFaults = known.returnsObjectsAsFaults
    request.includesPropertyValues = known.includesPropertyValues
    request.shouldRefreshRefetchedObjects = known.shouldRefreshRefetchedObjects
    request.returnsDistinctResults = known.returnsDistinctResults
    return request
  }
}

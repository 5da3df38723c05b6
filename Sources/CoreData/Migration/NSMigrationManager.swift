import Foundation
import Heartwood

/// A migration by a mapping.
public typealias NSMigrationManager = MigrationManager

extension MigrationManager {
  /// Migrates a store to another one.
  ///
  /// - Parameters:
  ///   - sourceURL: The place of the source. It is not changed.
  ///   - sStoreType: The kind of the source, such as `NSSQLiteStoreType`.
  ///   - sOptions: Options for opening the source.
  ///   - mappings: The mapping model; nil for the inferred one.
  ///   - dURL: The place of the destination. If there is a store, objects are added to it.
  ///   - dStoreType: The kind of the destination.
  ///   - dOptions: Options for opening the destination.
  /// - Throws: What a policy has thrown, or why a store cannot be read or written. The destination is not usable then.
  public func migrateStore(
    from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
    destinationOptions dOptions: [AnyHashable: Any]? = nil
  ) throws {
    sourceModel.bindClasses()
    destinationModel.bindClasses()
    try asCocoa {
      let mapping =
        try mappings
        ?? NSMappingModel.inferredMappingModel(
          forSourceModel: sourceModel, destinationModel: destinationModel)
      let source = try PersistentStoreDescription.make(
        type: sStoreType, configuration: nil, url: sourceURL, options: sOptions)
      source.isReadOnly = true
      let destination = try PersistentStoreDescription.make(
        type: dStoreType, configuration: nil, url: dURL, options: dOptions)
      try migrateAnyStore(source, mapping, destination)
    }
  }

  /// Migrates a store to another one, as the method above.
  public func migrateStore(
    from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
    options sourceOptions: [AnyHashable: Any]? = nil, mapping: NSMappingModel,
    to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
    options destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    try migrateStore(
      from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping,
      toDestinationURL: destinationURL, destinationType: destinationType.rawValue,
      destinationOptions: destinationOptions)
  }

  /// The objects that objects of the source have become.
  ///
  /// - Parameters:
  ///   - mappingName: The name of the mapping by which they were made.
  ///   - sourceInstances: Objects of the source.
  public func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    let name: String? = mappingName
    let found: [ManagedObject] = destinationInstances(
      forEntityMappingName: name, sourceInstances: (sourceInstances ?? []) as [ManagedObject])
    return found.compactMap { $0 as? NSManagedObject }
  }

  /// The objects of which objects of the destination were made.
  ///
  /// - Parameters:
  ///   - mappingName: The name of the mapping by which they were made.
  ///   - destinationInstances: Objects of the destination.
  public func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    let found: [ManagedObject] = sourceInstances(
      forEntityMappingName: mappingName,
      destinationInstances: (destinationInstances ?? []) as [ManagedObject])
    return found.compactMap { $0 as? NSManagedObject }
  }

  /// The program's own values, for policies.
  public var userInfo: [AnyHashable: Any]? {
    get { Dictionary(uniqueKeysWithValues: anyUserInfo.map { (AnyHashable($0.key), $0.value) }) }
    set {
      anyUserInfo = Dictionary(
        (newValue ?? [:]).map { ("\($0.key.base)", $0.value) }, uniquingKeysWith: { first, _ in first })
    }
  }

  /// How much is done, from 0 to 1.
  public var migrationProgress: Float { Float(doneShare) }
}

extension StagedMigrationManager {
  /// The container that has the store open; nil while no handler runs.
  public var container: NSPersistentContainer? { anyContainer.map { NSPersistentContainer($0) } }
}

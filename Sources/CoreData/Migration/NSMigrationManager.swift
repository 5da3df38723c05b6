import Foundation
import Heartwood

/// A migration by a mapping. Subclasses may override its methods, add functions for the expressions of mappings, and follow the progress in
/// `didChangeValue(forKey:)`.
///
/// The objects of both stores are of `NSManagedObject` itself, as with Core Data: the classes of the program are of one version of its model.
open class NSMigrationManager: MigrationManager, @unchecked Sendable {
  /// A manager for stores of these models.
  public override init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    super.init(sourceModel: Self.plain(sourceModel), destinationModel: Self.plain(destinationModel))
  }

  /// The model without the classes of its entities.
  private static func plain(_ model: NSManagedObjectModel) -> NSManagedObjectModel {
    guard let copy = NSManagedObjectModel(byMerging: [model]) else { return model }
    for entity in copy.entities { entity.useClass(NSManagedObject.self) }
    return copy
  }

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
  /// - Throws: The error that a policy has thrown, the error that the migration was cancelled with, or why a store cannot be read or
  ///   written. The destination is not usable then.
  open func migrateStore(
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
      // As with Core Data, unless the options say otherwise: a policy may save the source's context.
      source.isReadOnly = source.isReadOnly || sOptions?[NSReadOnlyPersistentStoreOption] == nil
      try AppleStores.bring(source, sOptions, for: sourceModel)
      let destination = try PersistentStoreDescription.make(
        type: dStoreType, configuration: nil, url: dURL, options: dOptions)
      try migrateAnyStore(source, mapping, destination)
    }
  }

  /// Migrates a store to another one, as the method above.
  open func migrateStore(
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

  /// The mapping model.
  ///
  /// - Precondition: The migration has begun.
  open var mappingModel: NSMappingModel {
    guard let usedMappingModel else { raise("mappingModel", "a manager has one once it migrates") }
    return usedMappingModel
  }

  /// The mapping that is worked on.
  ///
  /// - Precondition: The migration runs.
  open var currentEntityMapping: NSEntityMapping {
    guard let workedMapping else { raise("currentEntityMapping", "a manager has one while it migrates") }
    return workedMapping
  }

  // MARK: Associations

  /// Notes that an object has become another.
  ///
  /// - Parameters:
  ///   - sourceInstance: An object of the source.
  ///   - destinationInstance: An object of the destination.
  ///   - entityMapping: The mapping by which it was made.
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) {
    super.associate(
      sourceInstance: sourceInstance as ManagedObject,
      withDestinationInstance: destinationInstance as ManagedObject, for: entityMapping)
  }

  /// The objects that objects of the source have become.
  ///
  /// - Parameters:
  ///   - mappingName: The name of the mapping by which they were made.
  ///   - sourceInstances: Objects of the source.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    let name: String? = mappingName
    let found: [ManagedObject] = super.destinationInstances(
      forEntityMappingName: name, sourceInstances: (sourceInstances ?? []) as [ManagedObject])
    return found.compactMap { $0 as? NSManagedObject }
  }

  /// The objects of which objects of the destination were made.
  ///
  /// - Parameters:
  ///   - mappingName: The name of the mapping by which they were made.
  ///   - destinationInstances: Objects of the destination.
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    let found: [ManagedObject] = super.sourceInstances(
      forEntityMappingName: mappingName,
      destinationInstances: (destinationInstances ?? []) as [ManagedObject])
    return found.compactMap { $0 as? NSManagedObject }
  }

  // The compiler prefers these where an argument is an array literal, or the name is `NSEntityMapping.name`.

  /// As the function of an optional array.
  public final func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]
  ) -> [NSManagedObject] {
    let given: [NSManagedObject]? = sourceInstances
    return destinationInstances(forEntityMappingName: mappingName, sourceInstances: given)
  }

  /// As the function of an optional array; a mapping without a name has made nothing.
  public final func destinationInstances(
    forEntityMappingName mappingName: String?, sourceInstances: [NSManagedObject]
  ) -> [NSManagedObject] {
    mappingName.map { destinationInstances(forEntityMappingName: $0, sourceInstances: sourceInstances) } ?? []
  }

  /// As the function of an optional array.
  public final func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]
  ) -> [NSManagedObject] {
    let given: [NSManagedObject]? = destinationInstances
    return sourceInstances(forEntityMappingName: mappingName, destinationInstances: given)
  }

  // MARK: Progress

  /// The program's own values, for policies.
  open var userInfo: [AnyHashable: Any]? {
    get { Dictionary(uniqueKeysWithValues: anyUserInfo.map { (AnyHashable($0.key), $0.value) }) }
    set {
      anyUserInfo = Dictionary(
        (newValue ?? [:]).map { ("\($0.key.base)", $0.value) }, uniquingKeysWith: { first, _ in first })
    }
  }

  /// How much is done, from 0 to 1.
  open var migrationProgress: Float { Float(doneShare) }

  /// Called for `migrationProgress` before it changes, as for key-value observation; does nothing.
  open func willChangeValue(forKey key: String) {}

  /// Called for `migrationProgress` after it has changed, as for key-value observation; does nothing.
  open func didChangeValue(forKey key: String) {}

  // MARK: Calls by a migration

  /// Calls `willChangeValue(forKey:)` and `didChangeValue(forKey:)`, and what observes the manager.
  public final override func progressDidChange() {
    willChangeValue(forKey: "migrationProgress")
    didChangeValue(forKey: "migrationProgress")
    KeyValueObservers.noteChange(of: self)
  }

  /// Calls `associate(sourceInstance:withDestinationInstance:for:)` with objects of this module's class.
  public final override func associate(
    sourceInstance source: ManagedObject, withDestinationInstance destination: ManagedObject,
    for mapping: EntityMapping
  ) {
    associate(sourceInstance: managed(source), withDestinationInstance: managed(destination), for: mapping)
  }

  /// Calls `destinationInstances(forEntityMappingName:sourceInstances:)` with objects of this module's class, for a name.
  @_disfavoredOverload public final override func destinationInstances(
    forEntityMappingName mappingName: String?, sourceInstances: [ManagedObject]
  ) -> [ManagedObject] {
    guard let mappingName else {
      return super.destinationInstances(forEntityMappingName: nil, sourceInstances: sourceInstances)
    }
    let given: [NSManagedObject]? = sourceInstances.map(managed)
    return destinationInstances(forEntityMappingName: mappingName, sourceInstances: given)
  }

  /// Calls `sourceInstances(forEntityMappingName:destinationInstances:)` with objects of this module's class.
  @_disfavoredOverload public final override func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [ManagedObject]
  ) -> [ManagedObject] {
    let given: [NSManagedObject]? = destinationInstances.map(managed)
    return sourceInstances(forEntityMappingName: mappingName, destinationInstances: given)
  }
}

extension StagedMigrationManager {
  /// The container that has the store open; nil while no handler runs.
  public var container: NSPersistentContainer? { anyContainer.map { NSPersistentContainer($0) } }
}

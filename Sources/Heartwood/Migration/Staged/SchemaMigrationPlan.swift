import Foundation

/// One version of a model, as classes in a namespace of their own.
///
/// ```swift
/// enum FirstSchema: VersionedSchema {
///   static let versionIdentifier = SchemaVersion(1, 0, 0)
///   static let models: [ManagedObject.Type] = [Trip.self]
///
///   final class Trip: ManagedObject {
///     @Attribute var name = ""
///   }
/// }
/// ```
public protocol VersionedSchema: Sendable {
  /// The classes of the version: all of them, also those that are as they were before.
  static var models: [ManagedObject.Type] { get }
  /// The version.
  static var versionIdentifier: SchemaVersion { get }
}

/// The number of a version of a model.
public struct SchemaVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The first number.
  public let major: Int
  /// The second number.
  public let minor: Int
  /// The third number.
  public let patch: Int

  /// A version.
  ///
  /// - Parameters:
  ///   - major: The first number.
  ///   - minor: The second number.
  ///   - patch: The third number.
  public init(_ major: Int, _ minor: Int, _ patch: Int) {
    (self.major, self.minor, self.patch) = (major, minor, patch)
  }

  /// Whether the first version is older.
  public static func < (left: SchemaVersion, right: SchemaVersion) -> Bool {
    (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
  }

  /// The numbers, with dots.
  public var description: String { "\(major).\(minor).\(patch)" }
}

/// The versions of a model and the stages between them.
public protocol SchemaMigrationPlan: Sendable {
  /// The versions, oldest first.
  static var schemas: [any VersionedSchema.Type] { get }
  /// The stages between them, in the same order.
  static var stages: [SchemaMigrationStage] { get }
}

/// A step between two versions of a schema.
public enum SchemaMigrationStage: Sendable {
  /// A step that is inferred.
  case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
  /// A step with code before and after it. The closures run on the queue of their context, which has the model of the one version
  /// or the other.
  case custom(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    willMigrate: (@Sendable (ManagedObjectContext) throws -> Void)?,
    didMigrate: (@Sendable (ManagedObjectContext) throws -> Void)?)
}

extension VersionedSchema {
  /// The model of the version. Each call makes another one.
  ///
  /// - Throws: An error in the classes' declarations.
  public static func makeManagedObjectModel() throws -> ManagedObjectModel {
    let model = try ManagedObjectModel(types: models)
    model.versionIdentifiers = [versionIdentifier.description]
    try model.freeze()
    return model
  }
}

extension SchemaMigrationPlan {
  /// A manager of the plan's stages.
  ///
  /// - Throws: An error in the classes' declarations.
  public static func makeManager() throws -> StagedMigrationManager {
    var references: [ObjectIdentifier: ManagedObjectModelReference] = [:]
    func reference(_ schema: any VersionedSchema.Type) throws -> ManagedObjectModelReference {
      if let known = references[ObjectIdentifier(schema)] { return known }
      let made = ManagedObjectModelReference(model: try schema.makeManagedObjectModel())
      references[ObjectIdentifier(schema)] = made
      return made
    }
    return StagedMigrationManager(
      try stages.map { stage in
        switch stage {
        case .lightweight(let from, let to):
          let made = LightweightMigrationStage(models: [try reference(from), try reference(to)])
          made.label = "\(from.versionIdentifier) to \(to.versionIdentifier)"
          return made
        case .custom(let from, let to, let will, let did):
          let made = CustomMigrationStage(migratingFrom: try reference(from), to: try reference(to))
          made.label = "\(from.versionIdentifier) to \(to.versionIdentifier)"
          made.willMigrateHandler = handler(will)
          made.didMigrateHandler = handler(did)
          return made
        }
      })
  }

  private static func handler(
    _ body: (@Sendable (ManagedObjectContext) throws -> Void)?
  ) -> CustomMigrationStage.Handler? {
    guard let body else { return nil }
    return { manager, _ in
      guard let context = manager.container?.newBackgroundContext() else { return }
      try context.performAndWait { try body(context) }
    }
  }
}

extension PersistentContainer {
  /// A container of a version of a schema, with its store open. A store of an earlier version is migrated.
  ///
  /// - Parameters:
  ///   - name: The container's name, and the name of the store's folder if `url` is nil.
  ///   - schema: The newest version.
  ///   - plan: The stages from earlier versions; nil for an inferred migration.
  ///   - url: The store's folder; `/dev/null` for a store in memory, nil for the default folder.
  /// - Throws: An error in the classes' declarations, or the reason why the store cannot be opened or migrated.
  public convenience init(
    name: String, schema: any VersionedSchema.Type, migrationPlan plan: (any SchemaMigrationPlan.Type)? = nil,
    at url: URL? = nil
  ) throws {
    self.init(name: name, managedObjectModel: try schema.makeManagedObjectModel())
    let descriptions = url.map { [PersistentStoreDescription(url: $0)] } ?? persistentStoreDescriptions
    for description in descriptions { description.stagedMigrationManager = try plan?.makeManager() }
    persistentStoreDescriptions = descriptions
    try loadPersistentStores()
  }
}

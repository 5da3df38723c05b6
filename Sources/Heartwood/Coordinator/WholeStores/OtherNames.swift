import Foundation

/// The names that the module `CoreData` re-exports of this module, and no others: its names then stand for types of a module that their programs have
/// imported, as public and inlinable code needs, and no other name of Heartwood's is visible to them.
public enum _CoreDataTypes {}

/// The same under names that the module `CoreData` does not have: its own members of these names have other types.
extension PersistentStore {
  package final var givenOptions: Options { options }
  package final var anyURL: URL { url }
  package final var anyConfigurationName: String? { configurationName }
}

extension EntityDescription {
  package var constraintNames: [[String]] {
    get { uniquenessConstraints }
    set { uniquenessConstraints = newValue }
  }
  package var anyClassName: String {
    get { managedObjectClassName }
    set { managedObjectClassName = newValue }
  }
}

extension ManagedObjectModel {
  package var versionTexts: Set<String> {
    get { versionIdentifiers }
    set { versionIdentifiers = newValue }
  }
}

extension PersistentStoreCoordinator {
  package static var anyRegisteredStoreTypes: [PersistentStore.StoreType: PersistentStore.Type] {
    registeredStoreTypes
  }

  package func anyMetadata(for store: PersistentStore) throws -> [String: Any] { try metadata(for: store) }

  package func setAnyMetadata(_ metadata: [String: Any]?, for store: PersistentStore) throws {
    try setMetadata(metadata, for: store)
  }

  package static func anyMetadata(of type: PersistentStore.StoreType, at url: URL) throws -> [String: Any] {
    try metadataForPersistentStore(type: type, at: url)
  }

  package static func setAnyMetadata(
    _ metadata: [String: Any]?, of type: PersistentStore.StoreType, at url: URL
  ) throws {
    try setMetadata(metadata, type: type, at: url)
  }

  package func destroyAnyStore(
    at url: URL, type: PersistentStore.StoreType, options: PersistentStore.Options
  ) throws {
    try destroyPersistentStore(at: url, type: type, options: options)
  }

  package func replaceAnyStore(
    at destination: URL, from source: URL, type: PersistentStore.StoreType, options: PersistentStore.Options
  ) throws {
    try replacePersistentStore(
      at: destination, destinationOptions: options, withPersistentStoreFrom: source, type: type)
  }

  package func migrateAnyStore(
    _ store: PersistentStore, to url: URL, type: PersistentStore.StoreType
  ) throws -> PersistentStore {
    try migratePersistentStore(store, to: url, type: type)
  }

  package func enqueueBlock(_ block: @escaping @Sendable () -> Void) { perform(block) }
  package func waitForBlock(_ block: () -> Void) { performAndWait(block) }
  package func performBlock<Result: Sendable>(_ block: @escaping @Sendable () -> Result) async -> Result {
    await perform(block)
  }
}

extension ManagedObject {
  /// The entities with this class, in the order in which their models were first used.
  package static var entitiesInUse: [EntityDescription] { FrozenModels.entities(of: self) }
}

extension EntityDescription {
  /// Whether it is that of the objects from which declarations are read.
  package var isOfPrototypes: Bool { self === PropertyRecorder.entity }
}

extension ManagedObjectModel {
  /// Fixes the model.
  package func fix() throws { try freeze() }
}

extension MergeConflict {
  package var object: ManagedObject { sourceObject }
  package var ownSnapshot: [String: Any]? { objectSnapshot }
  package var storeSnapshot: [String: Any]? { persistedSnapshot }
}

extension ConstraintConflict {
  package var values: [Any] { constraintValues }
  package var objects: [ManagedObject] { conflictingObjects }
  package var snapshots: [[String: Any]] { conflictingSnapshots }
  package var storeObject: ManagedObject? { databaseObject }
  package var storeSnapshot: [String: Any]? { databaseSnapshot }
}

extension PersistentHistoryTransaction {
  package var anyBundleID: String? { bundleID }
  package var anyProcessID: String? { processID }
  package static var anyEntityDescription: EntityDescription { entityDescription }
}

extension PersistentHistoryChange {
  package var anyTombstone: [String: Any]? { tombstone }
  package var owner: PersistentHistoryTransaction { transaction }
  package static var anyEntityDescription: EntityDescription { entityDescription }
}

extension FetchIndexElementDescription {
  package var anyProperty: PropertyDescription { property }
}

extension FetchedPropertyDescription {
  package var anyFetchRequest: FetchRequest<ManagedObject>? {
    get { fetchRequest }
    set { fetchRequest = newValue }
  }
}

extension DerivedAttributeDescription {
  package func setDerivation(_ text: String) { derivationExpression = text }
}

extension EntityDescription {
  package var anyVersionHash: Data { versionHash }
}

extension ManagedObjectModel {
  package var anyVersionHashes: [String: Data] { entityVersionHashesByName }
  package var anyVersionChecksum: String { versionChecksum }

  package func isConfiguration(named name: String?, compatibleWith metadata: [String: Any]) -> Bool {
    isConfiguration(withName: name, compatibleWithStoreMetadata: metadata)
  }

  package static func anyMergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
  ) -> ManagedObjectModel? { try? mergedModel(from: bundles, forStoreMetadata: metadata) }

  package var fetchRequestTemplateNames: [String] { fetchRequestTemplates.keys.sorted() }

  package func setAnyFetchRequestTemplate(_ template: FetchRequest<ManagedObject>?, _ name: String) throws {
    try setFetchRequestTemplate(template, forName: name)
  }

  package func anyFetchRequestTemplate(
    _ name: String, _ variables: [String: any PredicateArgument]
  ) -> FetchRequest<ManagedObject>? {
    variables.isEmpty
      ? fetchRequestTemplate(forName: name)
      : fetchRequestFromTemplate(withName: name, substitutionVariables: variables.mapValues { $0 })
  }
}

extension NamedSort {
  /// The path, whether the order is ascending, and the options.
  package var parts: (path: String, isAscending: Bool, options: ComparisonOptions)? {
    sortKey.expression.keyPath.map { ($0, sortKey.isAscending, sortKey.options) }
  }
}

extension AttributeDescription {
  package var validationFormats: [FormatPredicate] { validationPredicates }
  package var givenValueClassName: String? {
    get { attributeValueClassName }
    set { attributeValueClassName = newValue }
  }
  package var validationTexts: [String] { validationWarnings }

  package func setValidationFormats(_ formats: [FormatPredicate]?, warnings: [String]?) {
    setValidationPredicates(formats, withValidationWarnings: warnings)
  }
}

extension IncrementalStore {
  package final func anyObjectID(for entity: EntityDescription, _ reference: any Sendable) -> ManagedObjectID
  {
    newObjectID(for: entity, referenceObject: reference)
  }

  package final func anyReference(for objectID: ManagedObjectID) -> any Sendable {
    referenceObject(for: objectID)
  }
}

extension AtomicStore {
  package final func anyObjectID(for entity: EntityDescription, _ reference: any Sendable) -> ManagedObjectID
  {
    objectID(for: entity, withReferenceObject: reference)
  }

  package final func anyReference(for objectID: ManagedObjectID) -> (any Sendable)? {
    referenceObject(for: objectID)
  }
}

extension EntityMapping {
  package final var anyName: String {
    get { name }
    set { name = newValue }
  }
  package final var annotations: [String: String] {
    get { userInfo }
    set { userInfo = newValue }
  }

  package final var anyAttributeMappings: [PropertyMapping] {
    get { attributeMappings }
    set { attributeMappings = newValue }
  }

  package final var anyRelationshipMappings: [PropertyMapping] {
    get { relationshipMappings }
    set { relationshipMappings = newValue }
  }
}

extension MappingModel {
  package final var anyEntityMappings: [EntityMapping] {
    get { entityMappings }
    set { entityMappings = newValue }
  }

  package static func anyInferred(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) throws -> MappingModel {
    try inferredMappingModel(forSourceModel: source, destinationModel: destination)
  }
}

extension PropertyMapping {
  package final var anyName: String {
    get { name }
    set { name = newValue }
  }
  package final var annotations: [String: String] {
    get { userInfo }
    set { userInfo = newValue }
  }

  package final var expressionText: String? { valueExpression }
}

extension MigrationManager {
  package final func migrateAnyStore(
    _ source: PersistentStoreDescription, _ mapping: MappingModel, _ destination: PersistentStoreDescription
  ) throws { try migrate(source, mapping, destination) }
}

extension CustomMigrationStage {
  package var anyWillMigrateHandler: Handler? {
    get { willMigrateHandler }
    set { willMigrateHandler = newValue }
  }
  package var anyDidMigrateHandler: Handler? {
    get { didMigrateHandler }
    set { didMigrateHandler = newValue }
  }
}

extension ManagedObjectModelReference {
  package var anyResolvedModel: ManagedObjectModel { get throws { try resolvedModel } }
}

extension StagedMigrationManager {
  package var anyContainer: PersistentContainer? { container }
}

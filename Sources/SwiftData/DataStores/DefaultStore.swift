import Foundation
import Heartwood

/// The store of a `ModelConfiguration`, as a custom store would be.
public final class DefaultStore: DataStore, DataStoreBatching, HistoryProviding {
  /// The configuration that the store is opened with.
  public typealias Configuration = ModelConfiguration
  /// The values of one of its models.
  public typealias Snapshot = DefaultSnapshot
  /// A transaction of its history.
  public typealias HistoryType = DefaultHistoryTransaction
  /// A position in its history.
  public typealias TokenType = DefaultHistoryToken

  /// The configuration that the store was opened with.
  public let configuration: ModelConfiguration
  /// The name of the configuration.
  public var name: String { configuration.name }
  /// Its models.
  public let schema: Schema
  private let container: ModelContainer

  /// Opens the store of a configuration that names its models.
  ///
  /// - Throws: `SwiftDataError.unknownSchema` without models; the errors of a container.
  public init(
    _ configuration: ModelConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)? = nil
  ) throws {
    guard let schema = configuration.schema else {
      throw SwiftDataError(.unknownSchema, "the configuration \(configuration.name) names no models")
    }
    self.configuration = configuration
    self.schema = schema
    container = try ModelContainer(for: schema, migrationPlan: migrationPlan, configurations: [configuration])
  }

  /// The identifier of the store, which a copy of it has as well.
  public var identifier: String { container.contents.stores.all.first?.identifier ?? "" }

  /// The models that a fetch asks for, as snapshots.
  ///
  /// - Throws: As `ModelContext.fetch(_:)`.
  public func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
    let context = ModelContext(container)
    let models = try context.fetch(request.descriptor)
    return DataStoreFetchResult(
      descriptor: request.descriptor, fetchedSnapshots: models.map { DefaultSnapshot($0) })
  }

  /// How many models a fetch would return.
  ///
  /// - Throws: As `ModelContext.fetchCount(_:)`.
  public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
    try ModelContext(container).fetchCount(request.descriptor)
  }

  /// The identifiers of the models that a fetch would return.
  ///
  /// - Throws: As `ModelContext.fetchIdentifiers(_:)`.
  public func fetchIdentifiers<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] { try ModelContext(container).fetchIdentifiers(request.descriptor) }

  /// Writes changes as one transaction.
  ///
  /// - Throws: `SwiftDataError.unknownSchema` for a model that the store does not have; as `ModelContext.save()`.
  public func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    let context = ModelContext(container)
    context.author = request.editingState.author
    var models: [PersistentIdentifier: any PersistentModel] = [:]
    for snapshot in request.inserted {
      guard let type = schema.types[snapshot.persistentIdentifier.entityName] else {
        throw SwiftDataError(
          .unknownSchema, "\(snapshot.persistentIdentifier.entityName) is no model of the store")
      }
      models[snapshot.persistentIdentifier] = insertModel(type, context)
    }
    func model(_ identifier: PersistentIdentifier) -> any PersistentModel {
      models[identifier] ?? context.model(for: identifier)
    }
    for snapshot in request.inserted + request.updated {
      try snapshot.apply(to: model(snapshot.persistentIdentifier), related: model)
    }
    for snapshot in request.deleted { delete(model(snapshot.persistentIdentifier), context) }
    try context.save()
    return DataStoreSaveChangesResult(
      for: identifier, remappedIdentifiers: models.mapValues { $0.persistentModelID })
  }

  private func insertModel<Model: PersistentModel>(_ type: Model.Type, _ context: ModelContext)
    -> any PersistentModel
  {
    let model = Model(backingData: _FreeBackingData<Model.Root>())
    context.insert(model)
    return model
  }

  private func delete(_ model: some PersistentModel, _ context: ModelContext) { context.delete(model) }

  /// Deletes the models that satisfy a condition, and those that delete rules name, as one transaction.
  ///
  /// - Throws: As `ModelContext.delete(model:where:includeSubclasses:)` and `ModelContext.save()`.
  public func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
    let context = ModelContext(container)
    context.author = request.editingState.author
    try context.delete(
      model: T.self, where: request.predicate, includeSubclasses: request.includeSubclasses)
    try context.save()
  }

  /// Deletes all models and their history.
  ///
  /// - Throws: If the store cannot be written.
  public func erase() throws { try container.erase() }

  /// The transactions that satisfy a condition, oldest first.
  ///
  /// - Throws: As `ModelContext.fetchHistory(_:)`.
  public func fetchHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws
    -> [DefaultHistoryTransaction]
  {
    try ModelContext(container).fetchHistory(descriptor)
  }

  /// Deletes the transactions that satisfy a condition, and those before them.
  ///
  /// - Throws: As `ModelContext.deleteHistory(_:)`.
  public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
    try ModelContext(container).deleteHistory(descriptor)
  }
}

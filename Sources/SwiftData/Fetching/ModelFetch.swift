import Foundation
import Heartwood
import HeartwoodBytes

/// A fetch of models.
struct ModelFetch<Model: PersistentModel> {
  private let descriptor: FetchDescriptor<Model>
  private let context: ModelContext
  private var objects: ModelObjectContext { context.objects }

  init(_ descriptor: FetchDescriptor<Model>, in context: ModelContext) {
    self.descriptor = descriptor
    self.context = context
  }

  /// The request of the graph.
  ///
  /// - Throws: `SwiftDataError` for what no store can evaluate.
  func request<Object: FetchRequestResult>(_ type: Object.Type) throws -> FetchRequest<Object> {
    guard let entity = context.contents.models.entity(of: Model.self), let name = entity.name else {
      throw SwiftDataError(
        .unknownSchema,
        "\(Model.self) is no model of the container: add it to those that the container is made for")
    }
    let request = FetchRequest<Object>(entityName: name)
    if let predicate = descriptor.predicate {
      let made = ModelPredicate(predicate, descriptor, objects)
      do {
        _ = try made.conditionTree(for: entity)
      } catch {
        throw SwiftDataError(.unsupportedPredicate, underlying: error)
      }
      request.predicate = made
    }
    if !descriptor.sortBy.isEmpty {
      request.sortDescriptors = try descriptor.sortBy.map { try ModelSort($0) }
    }
    request.fetchLimit = descriptor.fetchLimit ?? 0
    request.fetchOffset = descriptor.fetchOffset ?? 0
    request.includesPendingChanges = descriptor.includePendingChanges
    if isOfProgramStore {
      request.origin = FetchOrigin.descriptor(descriptor)
      // A context learns only by a fetch what others have changed in such a store.
      request.shouldRefreshRefetchedObjects = true
    }
    if !descriptor.relationshipKeyPathsForPrefetching.isEmpty {
      request.relationshipKeyPathsForPrefetching = try descriptor.relationshipKeyPathsForPrefetching.map {
        path in
        let names = ModelClass.of(Model.self).names(of: path) ?? []
        guard ModelClass.of(Model.self).leadsToModels(names) else {
          throw SwiftDataError(
            .unsupportedKeyPath,
            "\(KeyPathText.of(path, Model.self)) is no relationship: relationshipKeyPathsForPrefetching has those only"
          )
        }
        return names.joined(separator: ".")
      }
    }
    return request
  }

  /// Whether the context has models that the next save deletes by a condition, which the fetch leaves out.
  var leavesOut: Bool {
    descriptor.includePendingChanges && StoreDeletion.hides(Model.self, in: objects)
  }

  func models() throws -> [Model] {
    objects.mergeReceived()
    guard !leavesOut else { return try modelsThatStay() }
    let request = try request(ManagedObject.self)
    return try ModelErrors.fetching {
      guard request.relationshipKeyPathsForPrefetching == nil else {
        return models(of: try objects.fetch(request))
      }
      let models = FetchedModels<Model>(in: objects)
      try objects.forEachFetched(request, expecting: { models.reserve($0) }) { models.add($0) }
      return models.all
    }
  }

  /// The models that the next save does not delete by a condition: limit and offset are those of them.
  private func modelsThatStay() throws -> [Model] {
    var all = descriptor
    all.fetchLimit = nil
    all.fetchOffset = nil
    let request = try ModelFetch(all, in: context).request(ManagedObject.self)
    let found = models(of: try ModelErrors.fetching { try objects.fetch(request) })
    let models = try StoreDeletion.staying(found, in: context)
    let start = min(max(descriptor.fetchOffset ?? 0, 0), models.count)
    let end =
      descriptor.fetchLimit.flatMap { $0 == 0 ? nil : $0 }.map { min(start + max($0, 0), models.count) }
      ?? models.count
    return Array(models[start..<end])
  }

  private func models(of fetched: [ManagedObject]) -> [Model] {
    objects.models(of: fetched, as: Model.self)
  }

  func model(of object: ManagedObject) -> Model? {
    // All objects of such a context are of this class.
    objects.model(of: unsafeDowncast(object, to: _ModelObject.self), as: Model.self)
  }

  /// Whether the fetch is of what is stored: the context has no changes, or they do not count.
  private var isOfStored: Bool { !(descriptor.includePendingChanges && context.hasChanges) }
  private var isOfProgramStore: Bool { !context.contents.bridged.isEmpty }

  func count() throws -> Int {
    objects.mergeReceived()
    // A custom store counts what it has.
    if isOfProgramStore, !isOfStored { return try models().count }
    let request = try request(ManagedObject.self)
    return try ModelErrors.fetching { try objects.count(for: request) }
  }

  func identifiers() throws -> [PersistentIdentifier] {
    objects.mergeReceived()
    guard isOfProgramStore ? isOfStored : descriptor.sortBy.isEmpty && !descriptor.includePendingChanges
    else { return try models().map(\.persistentModelID) }
    let request = try request(ManagedObjectID.self)
    return try ModelErrors.fetching { try objects.fetch(request) }.map { objects.identifier(of: $0) }
  }
}

extension ModelContext {
  /// Fetches models.
  ///
  /// - Throws: `SwiftDataError.unsupportedPredicate` or `.unsupportedSortDescriptor` for what no store can evaluate; the error of a store.
  public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try ModelFetch(descriptor, in: self).models()
  }

  /// Fetches models, whose values are loaded in batches.
  ///
  /// - Parameters:
  ///   - descriptor: The description of the fetch.
  ///   - batchSize: How many are loaded together.
  /// - Throws: As `fetch(_:)`; `SwiftDataError.includePendingChangesWithBatchSize` where there are changes that the descriptor includes.
  public func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<T> {
    if descriptor.includePendingChanges, hasChanges {
      throw SwiftDataError(
        .includePendingChangesWithBatchSize,
        "save first, or set includePendingChanges of the descriptor to false: batches are of what is stored")
    }
    var identifiers = descriptor
    identifiers.includePendingChanges = false
    return FetchResultsCollection(try ModelFetch(identifiers, in: self).objectIDs(), self, max(batchSize, 1))
  }

  /// How many models a fetch would return.
  public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try ModelFetch(descriptor, in: self).count()
  }

  /// The identifiers of the models that a fetch would return.
  public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws
    -> [PersistentIdentifier]
  {
    try ModelFetch(descriptor, in: self).identifiers()
  }

  /// The identifiers of the models that a fetch would return, for use in batches.
  public func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<PersistentIdentifier> {
    FetchResultsCollection(try fetchIdentifiers(descriptor))
  }

  /// Runs a block for each model of a fetch, of which only a batch is in memory.
  ///
  /// - Parameters:
  ///   - fetch: The description of the fetch.
  ///   - batchSize: How many are loaded together.
  ///   - allowEscapingMutations: Whether the block may change models, which then stay in memory until they are saved.
  ///   - block: The block that is called with each.
  /// - Throws: The error of the block; as `fetch(_:)`; `SwiftDataError.modelValidationFailure` if the block changes models and must not.
  public func enumerate<T: PersistentModel>(
    _ fetch: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
    block: (_ model: T) throws -> Void
  ) throws {
    let request = ModelFetch(fetch, in: self)
    let ids = try request.objectIDs()
    let hadChanges = hasChanges
    var start = 0
    while start < ids.count {
      let end = min(start + max(batchSize, 1), ids.count)
      for model in try request.models(of: Array(ids[start..<end])) { try block(model) }
      if !allowEscapingMutations, !hadChanges, hasChanges {
        throw SwiftDataError(
          .modelValidationFailure,
          "the block of enumerate changed models: pass allowEscapingMutations: true, and save from time to time"
        )
      }
      start = end
    }
  }

  /// The model of an identifier: the one of this context, or one whose values are loaded when they are read.
  ///
  /// A model is returned for any identifier. One whose row does not exist reads as the defaults of its class, and becomes a deleted one then.
  public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
    objects.mergeReceived()
    if let id = objects.objectID(of: persistentModelID) {
      if objects.anyRegisteredObject(for: id) == nil {
        for store in contents.bridged { store.willMake(id, in: objects) }
      }
      if let object = objects.anyObject(with: id) as? _ModelObject, let model = objects.model(of: object) {
        return model
      }
    }
    return ModelStandIn.make(persistentModelID, container)
  }

  /// The model of an identifier if this context has it already; nil otherwise.
  public func registeredModel<T: PersistentModel>(for persistentModelID: PersistentIdentifier) -> T? {
    objects.mergeReceived()
    guard let id = objects.objectID(of: persistentModelID),
      let object = objects.anyRegisteredObject(for: id) as? _ModelObject
    else { return nil }
    return objects.model(of: object) as? T
  }
}

/// A model for an identifier that no store has.
private enum ModelStandIn {
  static func make(_ identifier: PersistentIdentifier, _ container: ModelContainer) -> any PersistentModel {
    let types = container.schema.types
    guard let type = types[identifier.entityName] ?? types.min(by: { $0.key < $1.key })?.value else {
      programError("the container has no models, so there is none for \(identifier.primaryKey)")
    }
    return make(type, identifier)
  }

  private static func make<Model: PersistentModel>(_ type: Model.Type, _ identifier: PersistentIdentifier)
    -> Model
  {
    let values = _FreeValues()
    values.identifier = identifier
    return Model(backingData: _FreeBackingData<Model.Root>(values))
  }
}

extension ModelFetch {
  /// The identifiers of the objects, in order.
  func objectIDs() throws -> [ManagedObjectID] {
    objects.mergeReceived()
    if leavesOut { return try modelsThatStay().compactMap { $0._$storage.object?.objectID } }
    // A custom store returns the values with the identifiers.
    if !descriptor.sortBy.isEmpty || !isOfStored || isOfProgramStore {
      let request = try request(ManagedObject.self)
      request.includesPropertyValues = false
      return try ModelErrors.fetching { try objects.fetch(request) }.map(\.objectID)
    }
    let request = try request(ManagedObjectID.self)
    return try ModelErrors.fetching { try objects.fetch(request) }
  }

  /// The models of identifiers, loaded together. Those whose rows are gone are left out.
  func models(of ids: [ManagedObjectID]) throws -> [Model] {
    guard let name = context.contents.models.entity(of: Model.self)?.name else { return [] }
    let request = FetchRequest<ManagedObject>(entityName: name)
    request.predicate = ObjectIDCondition(ids)
    request.includesPendingChanges = descriptor.includePendingChanges
    request.origin = FetchOrigin.identifiers(ids)
    let found = try ModelErrors.fetching { try objects.fetch(request) }
    let byID = Dictionary(found.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
    return ids.compactMap { byID[$0].flatMap(model) }
  }
}

/// The condition to be one of some objects.
struct ObjectIDCondition: FetchPredicate {
  let ids: [ManagedObjectID]
  init(_ ids: [ManagedObjectID]) { self.ids = ids }

  func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition {
    try FormatPredicate("self IN %@", ids).conditionTree(for: entity)
  }
}

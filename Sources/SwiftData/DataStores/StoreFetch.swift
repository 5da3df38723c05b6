import Foundation
import Heartwood

/// The description that a request of the graph was made of, so that a custom store gets it in its own form.
enum FetchOrigin: Sendable {
  /// A `FetchDescriptor` of the class.
  case descriptor(any Sendable)
  /// The identifiers of the objects.
  case identifiers([ManagedObjectID])
}

/// A request of the graph for models of a class, as a custom store executes it.
///
/// The parts that the store leaves to the context, and those that no descriptor has, are done here with all models that the store returns:
/// so the result is that of the request in any case.
struct StoreFetch<Model: PersistentModel, Store: DataStore> {
  let bridge: BridgedStore
  let store: Store
  let request: FetchRequest<ManagedObject>
  let context: ModelObjectContext?

  /// The result in the form that the request asks for.
  func result() throws -> Any {
    switch request.resultType {
    case .countResultType: [try count()]
    case .managedObjectIDResultType: try identifiers()
    default: try nodes()
    }
  }

  // MARK: Requests to the store

  /// The descriptor that the request was made of; nil if it was made by the graph.
  private var descriptor: FetchDescriptor<Model>? {
    guard case .descriptor(let descriptor)? = request.origin as? FetchOrigin else { return nil }
    return descriptor as? FetchDescriptor<Model>
  }

  /// A descriptor that asks for all that the request asks for, in its order; nil if none does.
  private var whole: FetchDescriptor<Model>? {
    guard var whole = descriptor, takesSubclasses,
      whole.sortBy.count == request.sortDescriptors?.count ?? 0,
      (whole.predicate == nil) == (request.predicate == nil)
    else { return nil }
    // The graph may ask for more than the fetch is limited to.
    whole.fetchLimit = request.fetchLimit == 0 ? nil : request.fetchLimit
    whole.fetchOffset = request.fetchOffset == 0 ? nil : request.fetchOffset
    return whole
  }

  /// A descriptor that asks for all models that may be results.
  private func unordered(by predicate: Predicate<Model>?) -> FetchDescriptor<Model> {
    var all = descriptor ?? FetchDescriptor()
    all.predicate = predicate
    all.sortBy = []
    all.fetchLimit = nil
    all.fetchOffset = nil
    return all
  }

  private var takesSubclasses: Bool {
    request.includesSubentities || request.entity?.subentities.isEmpty != false
  }

  private func storeRequest(_ descriptor: FetchDescriptor<Model>) -> DataStoreFetchRequest<Model> {
    DataStoreFetchRequest(descriptor: descriptor, editingState: BridgedStore.editingState(context))
  }

  // MARK: Objects

  private func nodes() throws -> [IncrementalStoreNode] {
    if case .identifiers(let ids)? = request.origin as? FetchOrigin {
      return try bridge.newValues(forObjectsWith: ids, with: context)
    }
    do {
      if let whole { return try nodes(of: whole) }
    } catch DataStoreError.preferInMemorySort {
      // Filtered by the store, if it does.
    } catch DataStoreError.preferInMemoryFilter {
      return try select(try nodes(of: unordered(by: nil)))
    }
    guard let predicate = descriptor?.predicate else { return try select(try nodes(of: unordered(by: nil))) }
    do {
      return try select(try nodes(of: unordered(by: predicate)))
    } catch let error where DataStoreError.prefersMemory(error) {
      return try select(try nodes(of: unordered(by: nil)))
    }
  }

  /// The nodes of what the store returns.
  private func nodes(of descriptor: FetchDescriptor<Model>) throws -> [IncrementalStoreNode] {
    let pool = bridge.pool(of: context)
    return try contents(of: descriptor, pool, areRead: true).compactMap { bridge.node(of: $0) }
  }

  /// The snapshots that the store returns, which the pool keeps.
  ///
  /// - Parameter areRead: Whether objects are made of it now.
  func contents(
    of descriptor: FetchDescriptor<Model>, _ pool: SnapshotPool, areRead: Bool
  ) throws -> [SnapshotContents] {
    bridge.sweep(pool, context)
    let result = try store.fetch(storeRequest(descriptor))
    for snapshot in result.relatedSnapshots.values {
      bridge.keep(try SnapshotContents(snapshot), in: pool, isRead: false)
    }
    // A store may return objects of all its classes.
    let names = ModelClass.names(of: Model.self, in: store.schema)
    let contents = try result.fetchedSnapshots.filter { names.contains($0.persistentIdentifier.entityName) }
      .map { try SnapshotContents($0) }
    for one in contents { bridge.keep(one, in: pool, isRead: areRead) }
    return contents
  }

  /// Those of the nodes that the request asks for, in its order.
  private func select(_ nodes: [IncrementalStoreNode]) throws -> [IncrementalStoreNode] {
    let asksForAll =
      request.predicate == nil && request.sortDescriptors?.isEmpty != false && takesSubclasses
      && request.fetchLimit == 0 && request.fetchOffset == 0
    return asksForAll ? nodes : try bridge.select(nodes, for: request, readingFor: context)
  }

  // MARK: Counts and identifiers

  private func count() throws -> Int { try answered { try store.fetchCount($0) } ?? nodes().count }

  private func identifiers() throws -> [ManagedObjectID] {
    try answered { try store.fetchIdentifiers($0).compactMap { bridge.objectID(of: $0) } }
      ?? nodes().map(\.objectID)
  }

  /// The answer of the store to the whole request; nil if the objects are to be fetched instead.
  private func answered<Answer>(_ ask: (DataStoreFetchRequest<Model>) throws -> Answer) throws -> Answer? {
    guard let whole else { return nil }
    do {
      return try ask(storeRequest(whole))
    } catch let error as DataStoreError
      where error == .unsupportedFeature || DataStoreError.prefersMemory(error)
    {
      return nil
    }
  }
}

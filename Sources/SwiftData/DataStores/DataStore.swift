import Foundation
import Heartwood

/// A custom store.
public protocol DataStore: AnyObject {
  associatedtype Configuration: DataStoreConfiguration where Configuration.Store == Self
  associatedtype Snapshot: DataStoreSnapshot
  /// The configuration that the container was made with.
  var configuration: Configuration { get }
  /// A text that is the same each time the store is opened.
  var identifier: String { get }
  /// The models of the store.
  var schema: Schema { get }
  /// Opens the store.
  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws
  /// The objects that a fetch asks for.
  func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<
    T, Snapshot
  >
  /// How many objects a fetch would return.
  func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int
  /// The identifiers of the objects that a fetch would return.
  func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws
    -> [PersistentIdentifier]
  /// Writes changes, all or none.
  func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>
  /// Deletes everything.
  func erase() throws
  /// A context begins to use the store.
  func initializeState(for editingState: EditingState)
  /// A context ends to use the store.
  func invalidateState(for editingState: EditingState)
  /// The snapshots of objects that the store has in memory.
  func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
  /// The number of objects that `fetch(_:)` returns.
  ///
  /// - Throws: As `fetch(_:)`.
  public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
    try fetchIdentifiers(request).count
  }
  /// The identifiers of the objects that `fetch(_:)` returns.
  ///
  /// - Throws: As `fetch(_:)`.
  public func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws
    -> [PersistentIdentifier]
  {
    // A store may return objects of all its classes.
    let names = ModelClass.names(of: T.self, in: schema)
    return try fetch(request).fetchedSnapshots.map(\.persistentIdentifier).filter {
      names.contains($0.entityName)
    }
  }
  /// Refuses to delete everything.
  ///
  /// - Throws: `DataStoreError.unsupportedFeature`.
  public func erase() throws { throw DataStoreError.unsupportedFeature }
  /// Does nothing.
  public func initializeState(for editingState: EditingState) {}
  /// Does nothing.
  public func invalidateState(for editingState: EditingState) {}
  /// No snapshots: the store has none in memory.
  public func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// The configuration that a store is opened with.
public protocol DataStoreConfiguration: Hashable {
  associatedtype Store: DataStore where Store.Configuration == Self
  /// A name for messages.
  var name: String { get }
  /// The models of the store; nil for all of the container.
  var schema: Schema? { get set }
  /// - Throws: If the store could not be opened with it.
  func validate() throws
}

extension DataStoreConfiguration {
  /// Accepts every configuration.
  public func validate() throws {}
}

/// The values of one object, as they pass between a context and a store.
public protocol DataStoreSnapshot: Codable, Sendable {
  /// The identifier of the object.
  var persistentIdentifier: PersistentIdentifier { get }
  /// The values of a model.
  init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])
  /// The same values under another identifier, with the identifiers of related objects replaced.
  func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
  ) -> Self
}

/// A value of a snapshot.
public typealias DataStoreSnapshotValue = Codable & Sendable

/// The name of a value of a snapshot.
public enum DataStoreSnapshotCodingKey: CodingKey {
  /// The identifier of the object.
  case persistentIdentifier
  /// A property.
  case modeledProperty(String)

  /// The name of the property, or `persistentIdentifier`.
  public var stringValue: String {
    switch self {
    case .persistentIdentifier: "persistentIdentifier"
    case .modeledProperty(let name): name
    }
  }
  /// The key of a name.
  public init?(stringValue: String) {
    self = stringValue == "persistentIdentifier" ? .persistentIdentifier : .modeledProperty(stringValue)
  }
  /// Nil: values have names.
  public var intValue: Int? { nil }
  /// Nil: values have names.
  public init?(intValue: Int) { nil }
}

/// The context that asks.
public struct EditingState: Identifiable, Hashable, Sendable {
  /// Tells contexts apart.
  public let id: UUID
  /// Who makes the changes.
  public var author: String?
}

/// A fetch of a store.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
  /// The description of the fetch.
  public var descriptor: FetchDescriptor<T>
  /// The context that asks.
  public let editingState: EditingState

  /// A fetch of a context.
  public init(descriptor: FetchDescriptor<T>, editingState: EditingState) {
    self.descriptor = descriptor
    self.editingState = editingState
  }
}

/// The result of a store's fetch.
public struct DataStoreFetchResult<T: PersistentModel, Snapshot: DataStoreSnapshot>: Sendable {
  /// The description of the fetch.
  public let descriptor: FetchDescriptor<T>
  /// The objects.
  public let fetchedSnapshots: [Snapshot]
  /// Objects that are related to them.
  public let relatedSnapshots: [PersistentIdentifier: Snapshot]

  /// Objects, and those that are related to them.
  public init(
    descriptor: FetchDescriptor<T>, fetchedSnapshots: [Snapshot],
    relatedSnapshots: [PersistentIdentifier: Snapshot] = [:]
  ) {
    self.descriptor = descriptor
    self.fetchedSnapshots = fetchedSnapshots
    self.relatedSnapshots = relatedSnapshots
  }
}

/// Changes for a store.
public struct DataStoreSaveChangesRequest<Snapshot: DataStoreSnapshot>: Sendable {
  /// The context that saves.
  public let editingState: EditingState
  /// New objects, under temporary identifiers.
  public let inserted: [Snapshot]
  /// Changed objects.
  public let updated: [Snapshot]
  /// Deleted objects.
  public let deleted: [Snapshot]

  /// Changes of a context.
  public init(
    editingState: EditingState, inserted: [Snapshot] = [], updated: [Snapshot] = [], deleted: [Snapshot] = []
  ) {
    self.editingState = editingState
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }
}

/// The result of a store's save.
public final class DataStoreSaveChangesResult<Snapshot: DataStoreSnapshot>: Sendable {
  /// The store.
  public let storeIdentifier: String
  /// The identifiers of new objects, by their temporary ones.
  public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
  /// Objects whose values the store has changed in the save.
  public let snapshotsToReregister: [PersistentIdentifier: Snapshot]

  /// The result of a save.
  public init(
    for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
    snapshotsToReregister: [PersistentIdentifier: Snapshot] = [:]
  ) {
    self.storeIdentifier = storeIdentifier
    self.remappedIdentifiers = remappedIdentifiers
    self.snapshotsToReregister = snapshotsToReregister
  }
}

/// A store that deletes by a condition.
public protocol DataStoreBatching: DataStore {
  /// Deletes the objects that satisfy a condition.
  func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}

/// A deletion by a condition.
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: Sendable {
  /// The condition; nil for all.
  public let predicate: Predicate<T>?
  /// The context that asks.
  public let editingState: EditingState
  /// Whether objects of subclasses are deleted.
  public let includeSubclasses: Bool

  /// A deletion of a context.
  public init(predicate: Predicate<T>? = nil, editingState: EditingState, includeSubclasses: Bool = true) {
    self.predicate = predicate
    self.editingState = editingState
    self.includeSubclasses = includeSubclasses
  }
}

/// An error of a store: an operation that it cannot execute.
public enum DataStoreError: Error, Sendable {
  /// The store does not have the feature.
  case unsupportedFeature
  /// The context filters: the store returns all objects of the class.
  case preferInMemoryFilter
  /// The context sorts.
  case preferInMemorySort
  /// The store cannot evaluate the predicate.
  case invalidPredicate
}

extension DataStoreError {
  /// Whether an error asks the context to filter or sort.
  static func prefersMemory(_ error: any Error) -> Bool {
    switch (error as? DataStoreError) ?? ((error as? HeartwoodError)?.underlying as? DataStoreError) {
    case .preferInMemoryFilter?, .preferInMemorySort?: true
    default: false
    }
  }
}

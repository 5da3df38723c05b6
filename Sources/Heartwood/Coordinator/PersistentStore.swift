import Foundation
import HeartwoodBytes
import HeartwoodFiles

/// An open store of a coordinator.
///
/// Custom stores derive from ``AtomicStore`` or ``IncrementalStore``.
open class PersistentStore: NSObject, @unchecked Sendable {
  /// A kind of store.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String

    /// A kind by its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The log-structured store, as a folder on disk.
    public static let log = StoreType(rawValue: "Log")
    /// The log-structured store, in memory.
    public static let inMemory = StoreType(rawValue: "InMemory")
    /// The whole graph in one file of bytes, which each save writes again.
    public static let binary = StoreType(rawValue: "Binary")
    /// As `binary`, in a JSON file that programs and people read.
    public static let json = StoreType(rawValue: "JSON")
    /// As `binary`, in an XML file that programs and people read.
    public static let xml = StoreType(rawValue: "XML")
    /// Core Data's name for its default store; here the same as `log`.
    public static let sqlite = StoreType(rawValue: "Log")
  }

  /// The folder or file of the store; `/dev/null` for one in memory.
  @_disfavoredOverload public final var url: URL { location.withLock { $0 } }
  private let location: Guarded<URL>
  /// The kind of store: `type`, under a name that the module `CoreData` does not have.
  package final var kind: StoreType { settings.type }
  /// Whether an inferred migration of the store can put the links of two relationships together that become inverses of each other.
  var joinsRelationshipsInMigrations: Bool { true }
  /// Whether the store is read-only: a save to it throws.
  public final var isReadOnly: Bool { settings.isReadOnly }
  /// `identifier`, which classes of stores may declare for themselves.
  package private(set) final var anyIdentifier = ""
  /// The name of the configuration whose entities the store has; nil for all entities of the model.
  @_disfavoredOverload public final var configurationName: String? { configuration.name }
  final var configuration: StoreConfiguration
  /// The options that it was opened with, by key.
  @_disfavoredOverload public final var options: Options { settings.options }
  /// The coordinator that has the store open; nil before and after.
  public internal(set) final weak var persistentStoreCoordinator: PersistentStoreCoordinator?
  /// Nil until the store is open.
  private final var opened: (any ContextStore)?
  /// The store on the engine; nil until the store is open, and for an incremental store.
  private(set) final var log: LogStore?
  /// Nil if commits are not observed.
  private let commits = Guarded<SaveObservation?>(nil)

  /// How it was opened: a copy, which is not changed.
  final var settings: PersistentStoreDescription
  /// How the store was opened: a copy, whose changes have no effect.
  public final var storeDescription: PersistentStoreDescription {
    PersistentStoreDescription(copying: settings)
  }

  /// Kind and place.
  open override var description: String { "\(kind.rawValue) store at \(place)" }

  init(
    _ contents: LogStore, url: URL, type: StoreType, _ description: PersistentStoreDescription,
    _ configuration: StoreConfiguration
  ) {
    self.configuration = configuration
    location = Guarded(url)
    settings = description
    super.init()
    begin(contents)
  }

  /// A custom store, before it is opened. The coordinator calls it.
  ///
  /// - Parameters:
  ///   - coordinator: The coordinator that opens the store.
  ///   - url: Its place.
  ///   - options: Options by key.
  public required init(
    persistentStoreCoordinator coordinator: PersistentStoreCoordinator?, at url: URL, options: Options?
  ) {
    location = Guarded(url)
    configuration = StoreConfiguration.all
    settings = PersistentStoreDescription(type: .log, url: url, options: options)
    super.init()
    persistentStoreCoordinator = coordinator
  }

  /// Called when the store was added to a coordinator; does nothing.
  open func didAdd(to coordinator: PersistentStoreCoordinator) {}

  /// Called before the store is removed from a coordinator; does nothing. The coordinator is nil if it is going away itself.
  open func willRemove(from coordinator: PersistentStoreCoordinator?) {}

  /// Called before a custom store is loaded, to check its place and read its metadata; does nothing.
  ///
  /// - Throws: Why the store cannot be opened.
  open func loadMetadata() throws {}

  /// Whether what is at a place is a store of this class, as its first bytes say. False by default. Commands and programs that open
  /// stores of any kind ask the registered classes: `PersistentStoreCoordinator.typeOfPersistentStore(at:)`.
  open class func recognises(_ url: URL) -> Bool { false }

  /// The model that a store of this class says it was written with; nil by default. Called for stores that the class `recognises(_:)`.
  ///
  /// - Throws: Why the store has none, or cannot be read.
  open class func managedObjectModel(ofStoreAt url: URL) throws -> ManagedObjectModel? { nil }

  /// Opens the store with what it has on the engine.
  final func begin(_ contents: LogStore) {
    log = contents
    begin(as: contents)
  }

  /// Opens the store with what contexts see of it.
  final func begin(as contents: any ContextStore) {
    opened = contents
    anyIdentifier = contents.identity.uuid?.uuidString ?? ""
    OpenStores.add(self)
  }

  /// The store as contexts see it.
  final var objectStore: any ContextStore {
    guard let opened else {
      programError("The store at \(url.path) is used before a coordinator has opened it.")
    }
    return opened
  }

  /// Has the next save write the store to another place.
  ///
  /// - Returns: False if it is no store that each save writes as a whole, or if something is at the place.
  final func move(to url: URL) -> Bool {
    guard url.isFileURL, let log, log.move(to: LogStore.path(of: url)) else { return false }
    location.withLock { $0 = url }
    return true
  }

  // MARK: Methods that custom stores override

  /// Whether stores of the class have all their objects in memory and their file, which a migration writes as a whole.
  class var isWhole: Bool { false }

  /// Whether stores of the class are read-only, whatever their descriptions say.
  class var isReadOnlyClass: Bool { false }

  /// Opens a custom store with the model of its coordinator.
  ///
  /// - Parameter mayMigrate: Whether it may be migrated.
  /// - Returns: The store, or another one of the class in its place.
  /// - Throws: `ProgramStoreMigration.IsDue` if it has to be migrated, and may not be.
  func opened(
    _ description: PersistentStoreDescription, by coordinator: PersistentStoreCoordinator, mayMigrate: Bool
  ) throws -> PersistentStore {
    throw HeartwoodError(
      .persistentStoreInvalidType,
      "\(Swift.type(of: self)), which is registered for \(kind.rawValue), derives from neither AtomicStore nor IncrementalStore"
    )
  }

  /// Calls `body` with what a custom store that is not opened says about itself.
  ///
  /// - Parameter model: Any model, with which its class reads the metadata.
  func withMetadata<Result>(
    readBy model: ManagedObjectModel, _ body: ([String: any Sendable]) throws -> Result
  ) throws -> Result { try body([:]) }

  /// Notes in the metadata of a custom store that no stage of a migration is pending.
  func endPendingStage() throws {}

  /// Whether what the class throws reaches the program as it is.
  package final var passesErrorsOn = false

  /// Called when the objects of another store were copied to the store, whose saves were deferred meanwhile.
  func endCopying() throws {}

  /// A transfer that copies the store by the numbers of its objects; nil if they have none.
  func transfer(_ model: ManagedObjectModel, _ log: MigrationLog) throws -> (any ObjectTransfer)? { nil }

  /// Whether the store gives new objects their keys: `newKey(for:inStore:)`.
  var namesObjects: Bool { false }

  /// The key of a new object.
  ///
  /// - Parameter number: The number of the store, where there are several.
  /// - Throws: `.persistentStoreSave` if the store calls another object the same.
  func newKey(for object: ManagedObject, inStore number: Int) throws -> UInt64 {
    programError("The store at \(url.path) does not name objects.")
  }

  /// Several stores, of which this is one, as contexts see them together.
  func union(
    _ members: [StoreMember], _ numbers: StoreNumbers, _ model: ManagedObjectModel
  ) -> any ContextStore { StoreUnion(members, numbers, model) }

  /// The identifier of the parts of a URI; nil if the store has no such entity, or cannot name the object. The row need not exist.
  func managedObjectID(of parts: ManagedObjectID.URIParts) -> ManagedObjectID? {
    let model = persistentStoreCoordinator?.managedObjectModel ?? contents.schema.model
    return contents.entity(inURI: parts.entityName, model).map { named in
      ManagedObjectID(
        entity: contents.storedEntity(named, parts.key), key: parts.key, store: contents.identity)
    }
  }

  /// Sets what the program may set of the metadata, for the next save.
  func setMetadata(_ metadata: StoreMetadata) throws { try contents.setMetadata(metadata) }

  /// The metadata with the store's own values.
  func allMetadata() throws -> [String: Any] {
    try contents.metadata().completed(contents.schema.record, contents.identity, kind)
  }

  /// - Precondition: It is no incremental store.
  final var contents: LogStore {
    guard let log else { programError("The store at \(url.path) is none on the engine.") }
    return log
  }

  /// The store on the engine.
  ///
  /// - Throws: `.persistentStoreUnsupportedRequestType` for an incremental store.
  final func requireLog() throws(HeartwoodError) -> LogStore {
    if let log { return log }
    throw HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "the store at \(place) is a custom store of type \(kind.rawValue): it cannot do this, as it needs a store that "
        + "comes with Heartwood")
  }

  /// Where the store is, for messages: without a password that the URL may have.
  final var place: String { url.isFileURL ? url.path : url.withoutPassword }

  /// Whether closing it loses everything.
  final var isInMemory: Bool { url.isOfMemory }

  /// Keeps an observation of commits until the store is closed.
  final func keep(_ observation: SaveObservation?) { SaveObservation.replace(commits, by: observation) }

  // MARK: Whole stores of a program's classes

  /// Removes the store at a place: see `IncrementalStore`.
  class func destroyStore(at url: URL, options: Options) throws {
    throw HeartwoodError.foreign(self, url, "destroyed")
  }

  /// Replaces a store by another one of the class: see `IncrementalStore`.
  class func replaceStore(
    at destination: URL, options: Options, from source: URL, sourceOptions: Options
  ) throws {
    throw HeartwoodError.foreign(self, destination, "replaced")
  }

  /// Calls `body` with the place of a copy of the store: see `IncrementalStore`.
  class func withCopy(ofStoreAt url: URL, options: Options, _ body: (URL) throws -> Void) throws {
    throw HeartwoodError.foreign(self, url, "copied")
  }

  /// Ends the use of the store.
  final func close() throws {
    keep(nil)
    OpenStores.remove(self)
    try log?.close()
  }
}

extension HeartwoodError {
  /// The error of an operation that a class of stores does not have.
  static func foreign(_ storeClass: PersistentStore.Type, _ url: URL, _ done: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "the store at \(url.isFileURL ? url.path : url.withoutPassword) cannot be \(done) here: it is of the class \(storeClass) of the "
        + "program, which alone knows what it consists of")
  }
}

extension URL {
  /// The text of the URL, without a password.
  var withoutPassword: String {
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: false) else { return path }
    parts.password = nil
    return parts.string ?? path
  }
}

/// Members that classes of stores may declare themselves, as those of the module `CoreData` do: members of a class or of its extensions could only be
/// overridden.
public protocol _PersistentStoreValues {}

extension PersistentStore: _PersistentStoreValues {}

extension _PersistentStoreValues where Self: PersistentStore {
  /// The UUID of the store, which object identifiers contain too.
  @_disfavoredOverload public var identifier: String { anyIdentifier }

  /// The kind of store.
  @_disfavoredOverload public var type: PersistentStore.StoreType { kind }
}

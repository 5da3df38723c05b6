import Foundation
import Heartwood
import HeartwoodBytes

/// An object of an atomic store.
public typealias NSAtomicStoreCacheNode = AtomicStoreCacheNode

/// A custom store that is in memory as a whole. It is made by a coordinator: override `load()` and `save()`, and register the class.
open class NSAtomicStore: AtomicStore, ProgramStoreClass, @unchecked Sendable {
  /// A store, before it is opened.
  ///
  /// - Parameters:
  ///   - root: The coordinator that opens the store.
  ///   - name: The configuration whose entities the store has; nil for all.
  ///   - url: Its place.
  ///   - options: Options by their names.
  public init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    super.init(persistentStoreCoordinator: root, at: url, options: StoreTypes.options(options))
    passesErrorsOn = true
    ownMetadata = OwnMetadata(
      get: { [unowned self] in (metadata ?? [:]).mapValues { SentValue.of($0) } },
      set: { [unowned self] in metadata = $0 })
  }

  /// A store, as the coordinator makes it.
  public required convenience init(
    persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, at url: URL, options: Options?
  ) {
    self.init(
      persistentStoreCoordinator: coordinator, configurationName: nil, at: url,
      options: StoreTypes.named(options))
  }

  /// The metadata of a store that is not open, as its coordinator asks for it. By default the store is opened for it.
  ///
  /// - Throws: Why it cannot be read.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try readMetadata(at: url)
  }

  /// Sets the metadata of a store that is not open, as its coordinator asks for it.
  ///
  /// - Throws: Why it cannot be written.
  open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    try writeMetadata(metadata, at: url)
  }

  /// The class of migration managers for stores of this class. It is not asked for: such stores are migrated as it is inferred.
  open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

  /// The name of the kind of the store.
  open var type: String { StoreTypes.name(of: kind) }

  /// The store's metadata: `loadMetadata()`, the initialiser or `load()` sets it, and `save()` writes it. It is also set when the program
  /// sets the metadata of the store.
  open var metadata: [String: Any]! {
    get { storedMetadata }
    set { storedMetadata = (newValue ?? [:]).mapValues { SentValue.of($0) } }
  }

  /// The UUID of the store. Before it is opened, setting it sets the one in the metadata.
  open var identifier: String! {
    get { anyIdentifier.isEmpty ? metadata?[NSStoreUUIDKey] as? String ?? "" : anyIdentifier }
    set { metadata?[NSStoreUUIDKey] = newValue }
  }

  /// Has the metadata that `metadataForPersistentStore(with:)` reads, if the class overrides that, and has none yet.
  open override func loadMetadata() throws {
    guard metadata?.isEmpty != false else { return }
    let found = StoreTypes.$asksClassOnly.withValue(true) {
      try? Self.metadataForPersistentStore(with: anyURL)
    }
    if let found, !found.isEmpty { metadata = found }
  }

  /// The node of a new object, without values.
  open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    super.newCacheNode(for: managedObject as ManagedObject)
  }

  /// Sets the values of a node to those of an object, which is new or has changed.
  open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    super.updateCacheNode(node, from: managedObject as ManagedObject)
  }

  /// The reference object of a new object: by default a random UUID.
  open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID() }

  /// The identifier of an object by what the store calls it.
  public final func objectID(for entity: NSEntityDescription, withReferenceObject data: Any)
    -> NSManagedObjectID
  { anyObjectID(for: entity, SentValue.of(SentValue.reference(data))) }

  /// The reference object of an object; a number as `NSNumber`.
  public final func referenceObject(for objectID: NSManagedObjectID) -> Any {
    anyReference(for: objectID).map { FoundationValue.of($0) } ?? NSNull()
  }

  /// Calls `newCacheNode(for:)` with an object of this module's class.
  public final override func newCacheNode(for object: ManagedObject) -> NSAtomicStoreCacheNode {
    newCacheNode(for: own(object))
  }

  /// Calls `updateCacheNode(_:from:)` with an object of this module's class.
  public final override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from object: ManagedObject) {
    updateCacheNode(node, from: own(object))
  }

  /// Calls `newReferenceObject(for:)` with an object of this module's class.
  public final override func newReferenceObject(for object: ManagedObject) -> any Sendable {
    SentValue.of(SentValue.reference(newReferenceObject(for: own(object)) as Any))
  }

  private final func own(_ object: ManagedObject) -> NSManagedObject {
    guard let own = object as? NSManagedObject else {
      programError(
        "\(Swift.type(of: object)) is no NSManagedObject, as \(Swift.type(of: self)) needs: make the coordinator with init(managedObjectModel:)"
      )
    }
    return own
  }
}

import Foundation
import Heartwood

/// An open store.
public typealias NSPersistentStore = PersistentStore
/// A token of the generation at which a context's reads are held.
public typealias NSQueryGenerationToken = QueryGenerationToken

/// A store of Heartwood's engine. Core Data's are of SQLite: its files are not read, and this name means a store of Heartwood's.
public let NSSQLiteStoreType = "SQLite"
/// A store in one XML file.
public let NSXMLStoreType = "XML"
/// A store in one binary file.
public let NSBinaryStoreType = "Binary"
/// A store in memory.
public let NSInMemoryStoreType = "InMemory"

extension _PersistentStoreValues where Self: PersistentStore {
  /// The UUID of the store.
  public var identifier: String! { anyIdentifier }

  /// The kind of the store, by Core Data's names.
  public var type: String { StoreTypes.name(of: kind) }
}

extension PersistentStore {
  /// The place of the store; `/dev/null` for one in memory. Setting it has the next save write the store there, where the kind of the store
  /// allows it: see `NSPersistentStoreCoordinator.setURL(_:for:)`.
  public var url: URL? {
    get { anyURL }
    set { if let newValue { _ = persistentStoreCoordinator?.setURL(newValue, for: self) } }
  }

  /// The name of the configuration whose entities the store has: `PF_DEFAULT_CONFIGURATION_NAME` for all entities of the model.
  public var configurationName: String { anyConfigurationName ?? StoreTypes.defaultConfiguration }

  /// The options with which the store was opened.
  public var options: [AnyHashable: Any]? {
    Dictionary(uniqueKeysWithValues: givenOptions.map { (AnyHashable($0.key.rawValue), $0.value as Any) })
  }
}

extension _PersistentStoreValues where Self: PersistentStore {
  /// The store's metadata. Setting it has the next save write it.
  public var metadata: [String: Any]! {
    get { persistentStoreCoordinator.map { $0.metadata(for: self) } ?? [:] }
    nonmutating set { persistentStoreCoordinator?.setMetadata(newValue, for: self) }
  }
}

enum StoreTypes {
  /// Core Data's name of the configuration of all entities.
  static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

  /// The name of a configuration; nil for that of all entities.
  static func configuration(_ name: String?) -> String? { name == defaultConfiguration ? nil : name }

  /// The name of a configuration in a model; nil for that of all entities, which a model without configurations has under every name.
  static func configuration(_ name: String?, of model: NSManagedObjectModel) -> String? {
    model.entityNamesByConfiguration.isEmpty ? nil : configuration(name)
  }

  /// The kind for a name of Core Data's or Heartwood's.
  static func kind(_ name: String) -> PersistentStore.StoreType {
    name == NSSQLiteStoreType ? .log : PersistentStore.StoreType(rawValue: name)
  }

  /// Metadata with the type's name of Core Data's, and with numbers of Foundation, which `as?` takes for numbers of every type.
  static func named(_ metadata: [String: Any]) -> [String: Any] {
    var named = metadata.mapValues(FoundationValue.ofPropertyList)
    if let type = metadata[NSStoreTypeKey] as? String { named[NSStoreTypeKey] = name(of: kind(type)) }
    return named
  }

  /// A type's name; that of the first one which reads the store at a place, if none is given.
  static func found(_ name: String?, at url: URL) throws -> String {
    if let name { return name }
    var failure: (any Error)?
    for name in [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType] {
      do {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: name, at: url, options: nil)
        return name
      } catch {
        failure = failure ?? error
      }
    }
    throw failure ?? CocoaError(.persistentStoreInvalidType)
  }

  static func name(of kind: PersistentStore.StoreType) -> String {
    kind == .log ? NSSQLiteStoreType : kind.rawValue
  }
}

import Foundation
import Heartwood

/// An open store.
public typealias NSPersistentStore = PersistentStore
/// What a context's reads are held at.
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
  /// The kind of the store, by Core Data's names.
  public var type: String { StoreTypes.name(of: kind) }
}

extension PersistentStore {
  /// The options with which the store was opened.
  public var options: [AnyHashable: Any]? {
    Dictionary(uniqueKeysWithValues: givenOptions.map { (AnyHashable($0.key.rawValue), $0.value as Any) })
  }
}

enum StoreTypes {
  /// The kind for a name of Core Data's or Heartwood's.
  static func kind(_ name: String) -> PersistentStore.StoreType {
    name == NSSQLiteStoreType ? .log : PersistentStore.StoreType(rawValue: name)
  }

  /// Metadata with the type's name of Core Data's.
  static func named(_ metadata: [String: Any]) -> [String: Any] {
    guard let type = metadata[NSStoreTypeKey] as? String else { return metadata }
    var named = metadata
    named[NSStoreTypeKey] = name(of: kind(type))
    return named
  }

  static func name(of kind: PersistentStore.StoreType) -> String {
    kind == .log ? NSSQLiteStoreType : kind.rawValue
  }
}

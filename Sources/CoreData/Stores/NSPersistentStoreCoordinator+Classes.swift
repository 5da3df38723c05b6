import Foundation
import Heartwood
import HeartwoodBytes

extension PersistentStoreCoordinator {
  /// Registers a class of stores for a type; nil removes the class of the type.
  ///
  /// - Precondition: The class is one of stores.
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    guard let storeClass else {
      return registerStoreClass(nil as PersistentStore.Type?, type: StoreTypes.kind(storeType))
    }
    guard let type = storeClass as? PersistentStore.Type else {
      programError("registerStoreClass(_:forStoreType:): \(storeClass) is no class of stores")
    }
    registerStoreClass(type, type: StoreTypes.kind(storeType))
  }

  /// Registers a class of stores for a type, as `registerStoreClass(_:forStoreType:)`.
  public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
    registerStoreClass(storeClass, forStoreType: type.rawValue)
  }

  /// The types of stores that can be opened, with their classes.
  public class var registeredStoreTypes: [String: AnyClass] {
    let all = anyRegisteredStoreTypes
    var types: [String: AnyClass] = [
      NSInMemoryStoreType: PersistentStore.self, NSSQLiteStoreType: PersistentStore.self,
    ]
    for (kind, type) in all { types[StoreTypes.name(of: kind)] = type }
    return types
  }
}

/// A class of custom stores.
protocol ProgramStoreClass: PersistentStore {
  static func metadataForPersistentStore(with url: URL) throws -> [String: Any]
  static func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws
}

extension ProgramStoreClass {
  /// The type that the class is registered for.
  fileprivate static var registeredKind: PersistentStore.StoreType {
    let all = NSPersistentStoreCoordinator.anyRegisteredStoreTypes
    return all.first { $0.value == self }?.key ?? PersistentStore.StoreType(rawValue: "\(self)")
  }

  /// Reads the metadata as Heartwood does.
  static func readMetadata(at url: URL) throws -> [String: Any] {
    if StoreTypes.asksClassOnly { return [:] }
    return try NSPersistentStoreCoordinator.anyMetadata(of: registeredKind, at: url)
  }

  /// Writes the metadata as Heartwood does.
  static func writeMetadata(_ metadata: [String: Any]?, at url: URL) throws {
    try NSPersistentStoreCoordinator.setAnyMetadata(metadata, of: registeredKind, at: url)
  }
}

extension StoreTypes {
  /// Whether only classes that read the metadata of their stores themselves are to be asked: the store that asks is being opened.
  @TaskLocal static var asksClassOnly = false

  /// The class of a type, if it is one of the program.
  static func programClass(_ name: String) -> (any ProgramStoreClass.Type)? {
    let all = NSPersistentStoreCoordinator.anyRegisteredStoreTypes
    return all[kind(name)] as? any ProgramStoreClass.Type
  }
}

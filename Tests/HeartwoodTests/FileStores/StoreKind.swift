import Foundation
import TestSupport

@testable import Heartwood

/// A kind of store that is somewhere on the disk.
enum StoreKind: String, CaseIterable, Sendable {
  case log = "Log"
  case binary = "Binary"
  case json = "JSON"
  case xml = "XML"

  var type: PersistentStore.StoreType { PersistentStore.StoreType(rawValue: rawValue) }
  var format: StoreFileFormat? { StoreFileFormat(rawValue: rawValue) }
  /// Those that are one file, which each save writes.
  static var files: [StoreKind] { [.binary, .json, .xml] }

  /// A container with a store of this kind.
  func open(
    _ types: [ManagedObject.Type], at url: URL, options: PersistentStore.Options? = nil
  ) throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Test", managedObjectModel: try ManagedObjectModel(types: types))
    try container.persistentStoreCoordinator.addPersistentStore(type: type, at: url, options: options)
    return container
  }

  /// The options for opening a store of this kind without syncs.
  var quick: LogStoreOptions {
    var options = LogStoreOptions.quick
    options.format = format
    return options
  }
}

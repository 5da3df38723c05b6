import Foundation
import TestSupport

@testable import Heartwood

/// A kind of store that is somewhere on the disk.
package enum StoreKind: String, CaseIterable, Sendable {
  case log = "Log"
  case binary = "Binary"
  case json = "JSON"
  case xml = "XML"

  package var type: PersistentStore.StoreType { PersistentStore.StoreType(rawValue: rawValue) }
  package var format: StoreFileFormat? { StoreFileFormat(rawValue: rawValue) }
  /// Those that are one file, which each save writes.
  package static var files: [StoreKind] { [.binary, .json, .xml] }

  /// A container with a store of this kind.
  package func open(
    _ types: [ManagedObject.Type], at url: URL, options: PersistentStore.Options? = nil
  ) throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Test", managedObjectModel: try ManagedObjectModel(types: types))
    try container.persistentStoreCoordinator.addPersistentStore(type: type, at: url, options: options)
    return container
  }
}

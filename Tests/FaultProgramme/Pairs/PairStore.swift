import Foundation
import Heartwood

/// A store that two programs use at the same time, of any kind that comes with the library.
struct PairStore: Sendable {
  static let types: [PersistentStore.StoreType] = [.log, .binary, .json, .xml]
  /// How many items it has at first, besides three boxes.
  static let items = 12

  let url: URL
  let type: PersistentStore.StoreType

  var options: PersistentStore.Options { [.timeout: 60.0] }

  func edit(_ description: PersistentStoreDescription) {
    description.type = type
    description.timeout = 60
  }

  /// Makes the store, with the first version of the model.
  func make(items: Int = items) throws { try MigratedBoxes.make(url, items: items, edit) }

  /// The contents of a store.
  struct Contents {
    /// Of the model, from 1.
    var version = 0
    /// Of items and boxes.
    var names: [String] = []
    var note: String?
    var findings: [String] = []
  }

  /// The contents of the store now; nil if there is none.
  func contents() throws -> Contents? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    for (index, model) in MigratedBoxes.models.enumerated().reversed() {
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      let description = PersistentStoreDescription(url: url)
      edit(description)
      (description.createsStore, description.isReadOnly) = (false, true)
      description.shouldMigrateStoreAutomatically = false
      do {
        try coordinator.addPersistentStore(with: description)
      } catch let error as HeartwoodError where error.code == .persistentStoreIncompatibleVersionHash {
        continue
      } catch let error as HeartwoodError where error.code == .persistentStoreOpen && isEmpty {
        return nil
      }
      defer { try? coordinator.close() }
      var found = Contents(version: index + 1)
      let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      found.names = try context.performAndWait {
        try ["Item", "Box"].flatMap { entity in
          try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).map(MigratedBoxes.title)
        }.sorted()
      }
      found.note = try coordinator.metadata(for: coordinator.persistentStores[0])[PairDeed.noteKey] as? String
      if type == .log { found.findings = try coordinator.verify().findings.map { "\($0)" } }
      return found
    }
    throw Finding("the store has none of the models")
  }

  /// A destroyed log store leaves its folder, with the files of coordination; a file that was made for a lock is empty.
  private var isEmpty: Bool {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else { return true }
    guard isFolder.boolValue else { return (try? Data(contentsOf: url))?.isEmpty ?? true }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    return !names.contains("anchor")
  }
}

extension MigratedBoxes {
  static let models = [first, second, last]
}

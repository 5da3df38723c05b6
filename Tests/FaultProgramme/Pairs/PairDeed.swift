import Foundation
import Heartwood

/// The deed of one of two programs on a store.
enum PairDeed: String, CaseIterable, Sendable {
  case open, inferred, mapping, staged, save, metadata, copy, replace, destroy, backup

  static let noteKey = "note"

  /// Whether the store has something else afterwards, whatever it had.
  var isDestructive: Bool { self == .replace || self == .destroy }

  /// The version of the model that the store has at least when it has succeeded.
  var version: Int {
    switch self {
    case .inferred, .mapping: 2
    case .staged: 3
    default: 1
    }
  }

  func fits(_ type: PersistentStore.StoreType) -> Bool { self != .backup || type == .log }

  /// - Parameter number: Distinguishes the programs.
  func perform(on store: PairStore, _ number: Int) throws {
    switch self {
    case .open: try Self.opened(store, MigratedBoxes.first, migrates: false) { _ in }
    case .inferred: try MigrationWay.inferred.migrate(store.url, store.edit)
    case .mapping: try MigrationWay.mapping.migrate(store.url, store.edit)
    case .staged: try MigrationWay.staged.migrate(store.url, store.edit)
    case .save: try save(store, number)
    case .metadata:
      try PersistentStoreCoordinator.setMetadata(
        [Self.noteKey: "note \(number)"], type: store.type, at: store.url, options: store.options)
    case .copy:
      try Self.openedAsItIs(store) { coordinator in
        try coordinator.migratePersistentStore(
          coordinator.persistentStores[0], to: Self.copy(of: store, number).url, type: store.type)
      }
    case .backup:
      try Self.openedAsItIs(store) { coordinator in
        _ = try coordinator.backup(to: Self.copy(of: store, number).url)
      }
    case .replace:
      try PersistentStoreCoordinator(managedObjectModel: MigratedBoxes.first).replacePersistentStore(
        at: store.url, destinationOptions: store.options, withPersistentStoreFrom: Self.source(of: store).url,
        sourceOptions: [.readOnly: true], type: store.type)
    case .destroy:
      try PersistentStoreCoordinator(managedObjectModel: MigratedBoxes.first).destroyPersistentStore(
        at: store.url, type: store.type, options: store.options)
    }
  }

  /// The item that is saved: each save has its own.
  static func added(_ number: Int) -> String { "added \(number)" }

  private func save(_ store: PairStore, _ number: Int) throws {
    try Self.openedAsItIs(store) { coordinator in
      let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      try context.performAndWait {
        guard let item = coordinator.managedObjectModel.entitiesByName["Item"] else { return }
        let object = ManagedObject(entity: item, insertInto: context)
        object.setValue(
          Self.added(number), forKey: item.attributesByName["title"] == nil ? "name" : "title")
        try context.save()
      }
    }
  }

  static func copy(of store: PairStore, _ number: Int) -> PairStore {
    PairStore(url: store.url.deletingLastPathComponent().appending(path: "copy-\(number)"), type: store.type)
  }

  static func source(of store: PairStore) -> PairStore {
    PairStore(url: store.url.deletingLastPathComponent().appending(path: "source"), type: store.type)
  }

  /// Opens the store with the one of its models that it has.
  private static func openedAsItIs(
    _ store: PairStore, _ body: (PersistentStoreCoordinator) throws -> Void
  ) throws {
    for (index, model) in MigratedBoxes.models.enumerated() {
      do {
        return try opened(store, model, migrates: false, body)
      } catch let error as HeartwoodError
        where error.code == .persistentStoreIncompatibleVersionHash && index < MigratedBoxes.models.count - 1
      {
        continue
      }
    }
  }

  private static func opened(
    _ store: PairStore, _ model: ManagedObjectModel, migrates: Bool,
    _ body: (PersistentStoreCoordinator) throws -> Void
  ) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let description = PersistentStoreDescription(url: store.url)
    store.edit(description)
    description.shouldMigrateStoreAutomatically = migrates
    try coordinator.addPersistentStore(with: description)
    defer { try? coordinator.close() }
    try body(coordinator)
  }
}

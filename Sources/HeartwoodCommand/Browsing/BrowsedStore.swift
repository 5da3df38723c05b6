import Foundation
import Heartwood

/// A store that a page shows. Each request reads it by a context of its own, so that requests do not wait for each other.
struct BrowsedStore: Sendable {
  private let store: CommandStore
  /// The generation that all of the page shows; nil for the one that a request names, or the newest.
  let generation: UInt64?
  /// The model as documents have it, which knows the names of types.
  let model: DocumentModel

  init(_ store: CommandStore, generation: UInt64?) {
    (self.store, self.generation) = (store, generation)
    model = DocumentModel(store.model)
  }

  var path: String { store.path }
  var type: PersistentStore.StoreType { store.type }
  var identifier: String { store.identifier }
  var isApple: Bool { store.isApple }
  var coordinator: PersistentStoreCoordinator { store.coordinator }
  var notes: [String] { store.notes }

  /// Whether past generations can be read. Stores of one file have none.
  var hasGenerations: Bool { !store.isApple && store.type == .log }

  /// Whether the page shows one generation only.
  var isFixed: Bool { generation != nil }

  /// The number of the newest transaction; nil for a store without history.
  var newest: UInt64? {
    guard hasGenerations else { return nil }
    return coordinator.currentPersistentHistoryToken()?.transactionNumber
  }

  /// How many objects each entity has, without those of its subentities.
  func objectCounts(at generation: UInt64? = nil) throws(CommandFailure) -> [String: Int] {
    try reading(at: generation) { reader in
      Dictionary(try reader.objectCounts().map { ($0.entity, $0.objects) }, uniquingKeysWith: +)
    }
  }

  /// How many objects an entity and its subentities have.
  func count(of entity: String, in counts: [String: Int]) -> Int {
    model.entities.filter { model.isKind($0.name, of: entity) }.reduce(0) { $0 + (counts[$1.name] ?? 0) }
  }

  /// Reads the store as of a generation.
  ///
  /// - Parameters:
  ///   - wanted: The generation; nil for the newest.
  ///   - body: It is given the store with a context that it alone uses.
  func reading<Result>(
    at wanted: UInt64? = nil, _ body: (CommandStore) throws -> Result
  ) throws(CommandFailure) -> Result {
    try GraphFailure.catching(path) {
      let reader = store.withContextOfItsOwn()
      return try reader.context.performAndWait {
        let moment = wanted ?? generation
        try reader.pin(to: moment.map(Moment.generation))
        do {
          let result = try body(reader)
          try reader.checkReadings()
          return result
        } catch let error as HeartwoodError
          where error.code == .persistentStoreIncompatibleVersionHash && moment == nil
        {
          var failure = GraphFailure.failure(error, path)
          failure.isOfFormerModel = true
          throw failure
        }
      }
    }
  }
}

extension CommandStore {
  /// An object as its context reads it; nil if there is none.
  func existingObject(_ id: ManagedObjectID) throws -> ManagedObject? {
    do {
      return try context.existingObject(with: id)
    } catch let error as HeartwoodError where error.code == .managedObjectReferentialIntegrity {
      return nil
    }
  }
}

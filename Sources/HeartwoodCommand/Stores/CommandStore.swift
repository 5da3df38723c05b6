import Foundation
import Heartwood

/// A store that a command line names, open for the time of one command.
struct CommandStore {
  let path: String
  let coordinator: PersistentStoreCoordinator
  let context: ManagedObjectContext
  private let store: PersistentStore
  private let isReadOnly: Bool

  private init(
    _ path: String, model: ManagedObjectModel, _ adapt: (PersistentStoreDescription) -> Void
  ) throws {
    self.path = path
    let description = PersistentStoreDescription(url: CommandStore.url(path))
    adapt(description)
    isReadOnly = description.isReadOnly
    coordinator = try PersistentStoreCoordinator(checking: model)
    store = try coordinator.addPersistentStore(with: description)
    context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    context.transactionAuthor = "heartwood"
  }

  static func url(_ path: String) -> URL { URL(fileURLWithPath: path) }

  var model: ManagedObjectModel { coordinator.managedObjectModel }

  /// The store's UUID, the first part of its objects' URIs.
  var identifier: String { store.identifier }
}

// MARK: Opening and closing

extension CommandStore {
  enum Purpose {
    case reading, changing
    /// To see what is there, without completing a store that was not closed.
    case inspecting
  }

  /// Opens the store that stands at `path` with the model it was made with, and closes it behind `body`.
  static func with<Result>(
    _ path: String, for purpose: Purpose, _ console: any Console, _ body: (CommandStore) throws -> Result
  ) throws(CommandFailure) -> Result {
    try checkExists(path, maker: "heartwood import makes one")
    return try GraphFailure.catching(path) {
      try opened(path, for: purpose, console).closing(body)
    }
  }

  private static func opened(
    _ path: String, for purpose: Purpose, _ console: any Console
  ) throws -> CommandStore {
    let model = try model(path)
    guard purpose != .changing else { return try present(path, model, isReadOnly: false) }
    let store = try present(path, model, isReadOnly: true)
    let hidden = try store.coordinator.statistics().unrecoveredTransactions
    guard hidden > 0 else { return store }
    if purpose == .reading, let completed = try completed(store, model) { return completed }
    console.noteHidden(hidden, in: path)
    return purpose == .inspecting ? store : try present(path, model, isReadOnly: true)
  }

  /// The model that the store at `path` was made with.
  private static func model(_ path: String) throws -> ManagedObjectModel {
    do {
      return try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: url(path))
    } catch {
      guard (try? KeyValueStore.holdsOnlyKeys(path)) == true else { throw error }
      throw CommandFailure.data(
        "\(path): this store holds keys and values, and no graph; see heartwood kv --help")
    }
  }

  /// The store with what was acknowledged by a writer that did not close it; `nil` where that may not be written.
  private static func completed(_ store: CommandStore, _ model: ManagedObjectModel) throws -> CommandStore? {
    try store.close()
    do {
      return try present(store.path, model, isReadOnly: false)
    } catch {
      guard GraphFailure.exitCode(of: error) == .noPermission else { throw error }
      return nil
    }
  }

  private static func present(
    _ path: String, _ model: ManagedObjectModel, isReadOnly: Bool
  ) throws -> CommandStore {
    try CommandStore(path, model: model) {
      $0.createsStore = false
      $0.isReadOnly = isReadOnly
    }
  }

  /// Makes a store at `path`, and closes it behind `body`. What was made is taken away again if `body` fails.
  static func making<Result>(
    _ path: String, model: ManagedObjectModel, _ body: (CommandStore) throws -> Result
  ) throws(CommandFailure) -> Result {
    let isNew = !FileManager.default.fileExists(atPath: path)
    return try GraphFailure.catching(path) {
      var isUseless = false
      do {
        return try CommandStore(path, model: model) { _ in }.closing { store in
          // Somebody else may have filled it in the meantime; then it stays, whatever happens.
          isUseless = try isNew && store.objectCounts().allSatisfy { $0.objects == 0 }
          let result = try body(store)
          isUseless = false
          return result
        }
      } catch {
        if isUseless { try? FileManager.default.removeItem(atPath: path) }
        throw error
      }
    }
  }

  private func closing<Result>(_ body: (CommandStore) throws -> Result) throws -> Result {
    let result: Result
    do {
      result = try context.performAndWait { try body(self) }
    } catch {
      // The first failure is the one to tell.
      try? coordinator.remove(store)
      throw error
    }
    try close()
    return result
  }

  private func close() throws {
    let before = isReadOnly ? "" : "everything is saved, but "
    do {
      try coordinator.remove(store)
    } catch {
      let failure = GraphFailure.failure(error, path)
      throw CommandFailure(failure.code, before + failure.message, isDamage: failure.isDamage)
    }
  }

  /// Whether a store, or at least a directory with something in it, stands at `path`.
  static func exists(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue
    else {
      return false
    }
    return (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty != true
  }

  /// - Parameter maker: What makes a store; told where there is none.
  static func checkExists(_ path: String, maker: String) throws(CommandFailure) {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw CommandFailure(.noInput, "\(path): there is no store here; \(maker)")
    }
    guard isDirectory.boolValue else {
      throw .data("\(path): this is a file, and a store is a directory")
    }
  }
}

// MARK: Reading

extension CommandStore {
  /// Lets the context see the store as it was at a generation.
  func pin(to generation: UInt64?) throws {
    guard let generation else { return }
    do {
      let token = try coordinator.queryGenerationToken(forGeneration: generation)
      try context.setQueryGenerationFrom(token)
    } catch let error as HeartwoodError where error.underlying == nil {
      throw CommandFailure(.noInput, "\(path): \(error.message)")
    }
  }

  /// Ends a reading of properties, which can't throw themselves: fails if a row could not be read.
  func checkReadings() throws {
    try context.throwIfUnreadable()
  }

  /// The entity of this name.
  func entity(named name: String) throws(CommandFailure) -> EntityDescription {
    let known = model.entitiesByName
    if let entity = known[name] { return entity }
    let hint = Spelling.hint(name, among: known.keys.sorted())
    let all =
      known.isEmpty ? "; its model is empty" : "; there are \(known.keys.sorted().joined(separator: ", "))"
    let list = hint.isEmpty ? all : hint
    throw .usage("the store has no entity \"\(name)\"\(list)")
  }

  /// A request for the objects of an entity that a predicate is true for.
  ///
  /// - Throws: a usage failure where the predicate or the sorting is wrong.
  func request(
    _ entity: EntityDescription, where predicate: String?, sort: [NamedSort] = []
  ) throws -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: entity.name ?? "")
    do {
      if !sort.isEmpty {
        request.sortDescriptors = sort
        _ = try context.plan(for: request)
      }
      request.predicate = try predicate.map { try FormatPredicate($0) }
      _ = try context.plan(for: request)
    } catch let error as HeartwoodError where error.code == .coreData {
      // What is not known to the model, or no predicate at all, stands on the command line.
      throw CommandFailure.usage(error.message)
    }
    return request
  }

  /// How many objects there are of exactly each entity that can have some, by the entities' names.
  func objectCounts() throws -> [(entity: String, objects: Int)] {
    let entities = model.entitiesByName.sorted { $0.key < $1.key }
    return try entities.filter { !$0.value.isAbstract }.map { name, entity in
      let request = try request(entity, where: nil)
      request.includesSubentities = false
      return (name, try context.count(for: request))
    }
  }
}

import Foundation
import Heartwood
import HeartwoodAppleStores
import HeartwoodEngine

/// The store of a command line, open for the duration of one command.
struct CommandStore {
  let path: String
  let coordinator: PersistentStoreCoordinator
  let context: ManagedObjectContext
  private let store: PersistentStore
  private let isReadOnly: Bool

  private init(_ path: String, _ description: PersistentStoreDescription, model: ManagedObjectModel) throws {
    // A command changes the model of a store only if that is what it is for.
    description.shouldMigrateStoreAutomatically = false
    // A fetched property that cannot be used is the program's concern.
    let coordinator = try PersistentStoreCoordinator(checkingStoredProperties: model)
    let store = try coordinator.addPersistentStore(with: description)
    self.init(path, coordinator, store, isReadOnly: description.isReadOnly)
  }

  private init(
    _ path: String, _ coordinator: PersistentStoreCoordinator, _ store: PersistentStore, isReadOnly: Bool
  ) {
    self.path = path
    self.coordinator = coordinator
    self.store = store
    self.isReadOnly = isReadOnly
    context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    context.transactionAuthor = "heartwood"
  }

  /// The same store with another context, which one thread may use beside others.
  func withContextOfItsOwn() -> CommandStore {
    CommandStore(path, coordinator, store, isReadOnly: isReadOnly)
  }

  static func url(_ path: String) -> URL { URL(fileURLWithPath: path) }

  /// How the store at a path is opened, of whatever kind it is.
  static func description(_ path: String) -> PersistentStoreDescription {
    let description = PersistentStoreDescription(url: url(path))
    description.type = PersistentStoreCoordinator.typeOfPersistentStore(at: url(path)) ?? .log
    return description
  }

  /// The path of a folder for the engine, which takes no symbolic link for one: where the link leads.
  ///
  /// - Throws: `.noInput` if it leads nowhere.
  static func folder(_ path: String) throws(CommandFailure) -> String {
    let files = FileManager.default
    if files.fileExists(atPath: path) { return url(path).resolvingSymlinksInPath().path }
    guard (try? files.destinationOfSymbolicLink(atPath: path)) == nil else {
      throw CommandFailure(
        .noInput, "\(path): this is a symbolic link that leads nowhere: make the folder that it names")
    }
    return url(path).path
  }

  /// The parts of a path without symbolic links, also if its end does not exist yet.
  static func resolved(_ path: String) -> [String] {
    var (url, missing) = (url(path).standardizedFileURL, [String]())
    while !FileManager.default.fileExists(atPath: url.path), url.pathComponents.count > 1 {
      missing.append(url.lastPathComponent)
      url.deleteLastPathComponent()
    }
    return url.resolvingSymlinksInPath().pathComponents + missing.reversed()
  }

  var model: ManagedObjectModel { coordinator.managedObjectModel }

  /// Whether rows of a former model are in the store.
  var hasDeferredMigration: Bool {
    get throws { try store.metadata[PersistentStore.MetadataKey.hasDeferredLightweightMigration] != nil }
  }

  /// The kind of the store.
  var type: PersistentStore.StoreType { store.type }

  /// The UUID of the store, which is the first part of its objects' URIs.
  var identifier: String { store.identifier }

  /// Whether it is a store of Core Data, which is read only.
  var isApple: Bool { store is AppleSQLiteStore }

  /// The parts of a store of Core Data that were not read as they are: sentences.
  var notes: [String] { (store as? AppleSQLiteStore)?.notes ?? [] }

  /// Looks for links of a store of Core Data that lead nowhere, for who reads all of it: `notes` has them then.
  func checkLinks() throws { try (store as? AppleSQLiteStore)?.checkLinks() }

  /// Reads all of a store of Core Data.
  func readAll() throws { try (store as? AppleSQLiteStore)?.readAll() }

  /// The rows that a request finds in a store of Core Data, without an order; nil for another store, and for a condition that needs
  /// objects.
  func appleRows(_ request: FetchRequest<ManagedObject>) throws -> MatchingRows? {
    guard let store = store as? AppleSQLiteStore, request.sortDescriptors?.isEmpty ?? true else { return nil }
    return store.rows(of: try entity(named: request.entityName ?? ""), where: request.predicate)
  }

  /// Copies a store of Core Data to a place where none is.
  func copyContents(
    to copy: PersistentStoreDescription, progress: @escaping @Sendable (MigrationProgress) -> Void
  ) throws -> StoreTransferReport {
    try coordinator.copyContents(of: store, to: copy, progress: progress)
  }
}

// MARK: Opening and closing

extension CommandStore {
  enum Purpose {
    case reading, changing
    /// Reads for as long as the user wants, and is told of what other programs save.
    case following
    /// Inspects a store without recovering it if it was not closed.
    case inspecting
  }

  /// Opens the existing store at `path` with the model it was created with, and closes it after `body`.
  ///
  /// - Parameter given: The path of a model, for a store of Core Data that keeps none.
  static func with<Result>(
    _ path: String, for purpose: Purpose, model given: String? = nil, _ console: any Console,
    _ body: (CommandStore) throws -> Result
  ) throws(CommandFailure) -> Result {
    try checkExists(path, maker: "heartwood import makes one")
    let isApple = isApple(path)
    guard given == nil || isApple else {
      throw .usage("\(path) is a store with a model already: --model is for stores of Core Data")
    }
    return try GraphFailure.catching(path) {
      guard isApple else { return try opened(path, for: purpose, console).closing(body) }
      guard purpose != .changing else { throw CommandFailure(.noPermission, readOnly(path)) }
      return try apple(path, model: given, console).closing { store in
        let result = try body(store)
        for note in store.notes { console.writeNote("heartwood: note: \(path): \(note.escapingControls)\n") }
        return result
      }
    }
  }

  /// Opens the store at `path` to read it for as long as the result is used, without a word to the user.
  ///
  /// - Parameter given: As for `with`.
  static func following(_ path: String, model given: String?) throws(CommandFailure) -> CommandStore {
    try checkExists(path, maker: "heartwood import makes one")
    return try GraphFailure.catching(path) {
      let console = SilentConsole()
      return try isApple(path)
        ? apple(path, model: given, console) : opened(path, for: .following, console)
    }
  }

  /// Whether a file begins as those of Core Data's stores on Apple's systems do.
  static func isApple(_ path: String) -> Bool { AppleSQLiteStore.recognises(url(path)) }

  /// - Throws: If the file is a store of Core Data, which a command cannot work on.
  static func refuseApple(_ path: String) throws(CommandFailure) {
    if isApple(path) { throw CommandFailure(.noPermission, readOnly(path)) }
  }

  /// - Parameter advice: Advice on a store that has no folder.
  /// - Throws: If the store is one file, of Heartwood or of Core Data.
  static func requireFolder(_ path: String, _ advice: String) throws(CommandFailure) {
    try refuseApple(path)
    guard isFile(path) else { return }
    let type = StoreTypeOption.name(description(path).type)
    throw .data("\(path): a store of type \(type) is one file: \(advice)")
  }

  private static func readOnly(_ path: String) -> String {
    "\(path): this is a store of Core Data, a SQLite database, which is read and not changed; heartwood import NEW \(path) makes a store of it"
  }

  private static func apple(_ path: String, model given: String?, _ console: any Console) throws
    -> CommandStore
  {
    let model =
      try given.map { try ModelArgument.model($0, ofStoreAt: path, console) }
      ?? PersistentStoreCoordinator.managedObjectModel(ofStoreAt: url(path))
    // The command knows no transformers.
    model.keepsBytesWithoutTransformers()
    return try present(path, model, Access(isReadOnly: true))
  }

  private static func opened(
    _ path: String, for purpose: Purpose, _ console: any Console
  ) throws -> CommandStore {
    guard purpose != .changing else { return try present(path, Access(isReadOnly: false)) }
    let access = Access(isReadOnly: true, isFollowed: purpose == .following)
    let store = try present(path, access)
    let hidden = try store.coordinator.statistics().unrecoveredTransactions
    guard hidden > 0 else { return store }
    if purpose != .inspecting, let completed = try completed(store, access) { return completed }
    console.noteHidden(hidden, in: path)
    return purpose == .inspecting ? store : try present(path, access)
  }

  /// The model of the store at `path`; if it is to be read only, as of the last transaction that needs no recovery.
  private static func model(_ path: String, isReadOnly: Bool) throws -> ManagedObjectModel {
    do {
      return try PersistentStoreCoordinator.managedObjectModel(
        ofStoreAt: url(path), options: [PersistentStore.OptionKey.readOnly: isReadOnly])
    } catch {
      guard (try? KeyValueStore.holdsOnlyKeys(path)) == true else { throw error }
      throw CommandFailure.data(
        "\(path): this store holds keys and values, and no graph; see heartwood kv --help")
    }
  }

  /// Recovers a store that its writer did not close. Returns nil if the store can't be written.
  private static func completed(_ store: CommandStore, _ access: Access) throws -> CommandStore? {
    try store.close()
    do {
      return try present(store.path, Access(isReadOnly: false, isFollowed: access.isFollowed))
    } catch {
      // A migration in stages that was interrupted is finished by the program that has its code. Until then the store can be read.
      if try isInStage(store.path) { return try present(store.path, Access(isReadOnly: true)) }
      guard GraphFailure.exitCode(of: error) == .noPermission else { throw error }
      return nil
    }
  }

  private static func isInStage(_ path: String) throws -> Bool {
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: url(path))
    return metadata[PersistentStore.MetadataKey.pendingMigrationStage] != nil
  }

  /// How a store is opened.
  private struct Access {
    let isReadOnly: Bool
    /// Whether the coordinator notifies of what other processes commit.
    var isFollowed = false
  }

  private static func present(_ path: String, _ access: Access) throws -> CommandStore {
    let model = try model(path, isReadOnly: access.isReadOnly)
    do {
      return try present(path, model, access)
    } catch let error as HeartwoodError where error.code == .persistentStoreIncompatibleVersionHash {
      // Another process has just migrated it.
      let newer = try Self.model(path, isReadOnly: access.isReadOnly)
      guard newer.versionChecksum != model.versionChecksum else { throw error }
      return try present(path, newer, access)
    }
  }

  private static func present(
    _ path: String, _ model: ManagedObjectModel, _ access: Access
  ) throws -> CommandStore {
    let description = description(path)
    description.createsStore = false
    description.isReadOnly = access.isReadOnly
    description.postsRemoteChangeNotifications = access.isFollowed
    return try CommandStore(path, description, model: model)
  }

  /// Calls `body` with a store that has what this one has saved, and whose changes are lost afterwards.
  func withTrial<Result>(_ body: (CommandStore) throws -> Result) throws -> Result {
    try CommandStore.description(path).withTrial { description in
      try CommandStore(path, description, model: model).closing(body)
    }
  }

  /// Makes the store at `path`, where none is, and closes it after `body`. If `body` fails, or the command is killed, there is none.
  static func making<Result>(
    _ path: String, model: ManagedObjectModel, _ type: PersistentStore.StoreType,
    _ body: (CommandStore) throws -> Result
  ) throws(CommandFailure) -> Result {
    try GraphFailure.catching(path) {
      let description = PersistentStoreDescription(url: url(path))
      description.type = type
      let coordinator = try PersistentStoreCoordinator(checkingStoredProperties: model)
      return try coordinator.makeStore(with: description) { store in
        let made = CommandStore(path, coordinator, store, isReadOnly: false)
        return try made.context.performAndWait { try body(made) }
      }
    }
  }

  private func closing<Result>(_ body: (CommandStore) throws -> Result) throws -> Result {
    let result: Result
    do {
      result = try context.performAndWait { try body(self) }
    } catch {
      // The first error is the one to report.
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

  /// Whether `path` is a store or at least a non-empty directory.
  static func exists(_ path: String) -> Bool {
    if isFile(path) { return true }
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue
    else {
      return false
    }
    // A store that was removed leaves the files by which processes wait for one another.
    return (try? Engine.containsStore(at: path)) ?? true
  }

  /// Whether `path` is a directory with what a copy has left that was not finished, and which another copy to it replaces.
  static func isUnfinishedCopy(_ path: String) -> Bool {
    (try? Engine.containsStore(at: path, orRest: false)) == false
  }

  /// Whether `path` is a store in one file.
  static func isFile(_ path: String) -> Bool {
    PersistentStoreCoordinator.typeOfPersistentStore(at: url(path)).map { $0 != .log } ?? false
  }

  /// - Parameter maker: A hint for the error message: the command that creates a store.
  static func checkExists(_ path: String, maker: String) throws(CommandFailure) {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      guard !InputFile.isHidden(path) else { throw InputFile.notPermitted(path) }
      throw CommandFailure(.noInput, "\(path): there is no store here; \(maker)")
    }
    guard isDirectory.boolValue || FileManager.default.isReadableFile(atPath: path) else {
      throw InputFile.notPermitted(path)
    }
    guard isDirectory.boolValue || isFile(path) else {
      throw .data(
        "\(path): this file is no store: \(ForeignFile.kind(at: path) ?? (isEmpty(path) ? "it is empty" : Self.forms))"
      )
    }
    if isDirectory.boolValue, !FileManager.default.fileExists(atPath: path + "/anchor"),
      let kind = ForeignFile.kind(at: path)
    {
      throw .data("\(path): this folder is no store: \(kind)")
    }
  }

  /// Whether nothing was written to a file yet.
  static func isEmpty(_ path: String) -> Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: resolved(path).joined(separator: "/"))
    return attributes?[.type] as? FileAttributeType == .typeRegular && attributes?[.size] as? Int == 0
  }

  private static let forms =
    "a store is a directory, a binary, JSON or XML file that heartwood copy made, or a SQLite file of Core Data"
}

// MARK: Reading

extension CommandStore {
  /// Makes the context read the store as of a moment.
  func pin(to moment: Moment?) throws {
    guard let moment else { return }
    try context.setQueryGenerationFrom(token(at: moment))
  }

  /// The number of the generation of a moment.
  func number(of moment: Moment) throws -> UInt64 {
    if case .generation(let number) = moment { return number }
    return try pastNumber(of: moment)
  }

  /// The number of the generation of a moment, which the store has had.
  func pastNumber(of moment: Moment) throws -> UInt64 { try token(at: moment).generation ?? 0 }

  private func token(at moment: Moment) throws -> QueryGenerationToken {
    guard !isApple else {
      throw CommandFailure.usage(
        "\(path): a store of Core Data has no past generations: leave out --as-of")
    }
    do {
      return try coordinator.queryGenerationToken(at: moment)
    } catch let error as HeartwoodError where error.underlying == nil {
      throw CommandFailure(.noInput, "\(path): \(error.message)")
    }
  }

  /// Throws if a row could not be read. Property getters can't throw, so this is called after they were used.
  func checkReadings() throws {
    try context.throwIfUnreadable()
  }

  /// The entity with this name.
  func entity(named name: String) throws(CommandFailure) -> EntityDescription {
    try Self.entity(named: name, in: model)
  }

  /// The entity of a model with this name.
  static func entity(
    named name: String, in model: ManagedObjectModel
  ) throws(CommandFailure) -> EntityDescription {
    let known = model.entitiesByName
    if let entity = known[name] { return entity }
    let hint = Spelling.hint(name, among: known.keys.sorted())
    let all =
      known.isEmpty ? "; its model is empty" : "; there are \(known.keys.sorted().joined(separator: ", "))"
    let list = hint.isEmpty ? all : hint
    throw .usage("the store has no entity \"\(name)\"\(list)")
  }

  /// Creates a fetch request for the objects of an entity that match a predicate.
  ///
  /// - Throws: A usage failure if the predicate or the sort order is invalid.
  func request(
    _ entity: EntityDescription, where predicate: String?, sort: [any FetchSort] = []
  ) throws -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: entity.name ?? "")
    do {
      if !sort.isEmpty {
        request.sortDescriptors = sort
        try context.check(planOf: request)
      }
      request.predicate = try predicate.map { try FormatPredicate($0) }
      // A plan counts the rows first, which those of Core Data's stores need not.
      if try appleRows(request) == nil { try context.check(planOf: request) }
    } catch let error as HeartwoodError where [.coreData, .invalidPredicate].contains(error.code) {
      // The invalid name or predicate comes from the command line.
      throw CommandFailure.usage(GraphFailure.inOptions(error.message))
    }
    return request
  }

  /// The number of objects of each non-abstract entity, without its subentities, sorted by entity name.
  func objectCounts() throws -> [(entity: String, objects: Int)] {
    let entities = model.entitiesByName.sorted { $0.key < $1.key }
    return try entities.filter { !$0.value.isAbstract }.map { name, entity in
      let request = try request(entity, where: nil)
      request.includesSubentities = false
      return (name, try context.count(for: request))
    }
  }
}

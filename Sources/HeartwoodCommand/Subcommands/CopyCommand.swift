import Foundation
import Heartwood

/// Copies a store to one of another kind.
enum CopyCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "copy",
    summary: "copy the objects of a store to a new store, which may be of another kind",
    arguments: [
      .store,
      SubcommandSyntax.Argument(
        name: "copy",
        summary: "a directory or file that is missing or empty, or has a copy that was not finished"),
    ],
    options: [
      StoreTypeOption.option("the kind of the copy (default log)"), .model,
    ],
    discussion: """
      A store of type log is a directory; binary, JSON and XML stores are one file, which each change writes again. All
      commands find the kind of an existing store by themselves. The copy has the store's identifier, and its objects have
      the same URIs. The history is copied from log to log only. To PostgreSQL and back copies heartwood-postgres copy, a
      command of the package Sources/HeartwoodPostgres.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood copy world.heartwood world.json --type json", meaning: "a file to read and compare")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let (path, copy) = (arguments.argument(0) ?? "", arguments.argument(1) ?? "")
    for place in [path, copy] where place.hasPrefix("postgres://") || place.hasPrefix("postgresql://") {
      throw .usage(
        "\(place): stores in PostgreSQL are copied by heartwood-postgres copy, a command of the package Sources/HeartwoodPostgres, "
          + "as this one has no dependencies")
    }
    let type = try StoreTypeOption.type(arguments) ?? .log
    guard CommandStore.resolved(copy) != CommandStore.resolved(path) else {
      throw .usage("\(copy): this is the store itself, and a copy needs a place of its own; name another one")
    }
    try BackupCommand.checkPlace(copy, of: path)
    guard !CommandStore.exists(copy) || CommandStore.isUnfinishedCopy(copy) else {
      throw CommandFailure(.cannotCreate, "\(copy): there is something here already; name another place")
    }
    if CommandStore.isApple(path) {
      return try AppleImport(copying: path, to: copy, arguments, console).run()
    }
    let count = try copied(path, to: copy, type, model: arguments.value("model"), console)
    try console.writeLine("copied \(Amount.text(count, "object")) to \(copy)")
    return .success
  }

  /// How often a store is copied again because another process has migrated it meanwhile.
  private static let mostCopies = 20

  /// Copies a store with the model that it has, and returns how many objects that are.
  ///
  /// - Parameter write: Copies the store at a path, whose model is given, to another path.
  static func copied(
    _ path: String, to copy: String, _ type: PersistentStore.StoreType, model given: String?,
    _ console: any Console,
    by write: (String, ManagedObjectModel, String, PersistentStore.StoreType) throws -> Void = write
  ) throws(CommandFailure) -> Int {
    var rest = mostCopies
    while true {
      // Opens it first as other commands do: what its last program has left to be recovered is recovered.
      let (model, counted) = try CommandStore.with(path, for: .reading, model: given, console) { store in
        (store.model, Result { try store.objectCounts().reduce(0) { $0 + $1.objects } })
      }
      do {
        let count = try counted.get()
        try write(path, model, copy, type)
        return count
      } catch {
        rest -= 1
        guard rest > 0, isMigrated(path, from: model) else { throw GraphFailure.failure(error, path) }
      }
    }
  }

  static func write(
    _ path: String, _ model: ManagedObjectModel, to copy: String, _ type: PersistentStore.StoreType
  ) throws {
    let coordinator = try PersistentStoreCoordinator(checkingStoredProperties: model)
    let description = CommandStore.description(path)
    description.isReadOnly = true
    description.shouldMigrateStoreAutomatically = false
    let store = try coordinator.addPersistentStore(with: description)
    try coordinator.migratePersistentStore(store, to: CommandStore.url(copy), type: type)
    try coordinator.close()
  }

  /// Whether a store has another model now.
  private static func isMigrated(_ path: String, from model: ManagedObjectModel) -> Bool {
    let now = try? PersistentStoreCoordinator.managedObjectModel(ofStoreAt: CommandStore.url(path))
    return now.map { $0.versionChecksum != model.versionChecksum } ?? false
  }
}

import Foundation
import Heartwood

/// Migrates a store to another model, or tries to.
enum MigrateCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "migrate",
    summary: "migrate a store to the model in a file, or try it without changing the store",
    arguments: [
      .store,
      SubcommandSyntax.Argument(
        name: "model",
        summary: "a file as of heartwood schema --format json, or another store; with --back the backup"),
    ],
    options: [
      SubcommandSyntax.Option(name: "dry-run", summary: "say what would be done, and change nothing"),
      SubcommandSyntax.Option(
        name: "backup", value: "directory", summary: "first copy the store, as heartwood backup does"),
      SubcommandSyntax.Option(
        name: "back", summary: "replace the store by a backup that was made of it before"),
      SubcommandSyntax.Option(
        name: "force", summary: "with --back, also if objects were saved after the backup: they are lost"),
      SubcommandSyntax.Option(name: "steps", summary: "say how long each step takes"),
      SubcommandSyntax.Option(
        name: "rewrite", summary: "also rewrite rows that would be converted when they are read"),
    ],
    discussion: """
      What the change of the model means is inferred. "renamed" of an entity or a property of the model is its name in
      the store. A crash leaves the store as it was, or migrated. --dry-run only reads the store, which others may use
      meanwhile, and lists the objects that the new model does not allow.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood migrate world.heartwood model.json --dry-run",
        meaning: "what would change, and which objects the new model does not allow"),
      SubcommandSyntax.Example(
        line: "heartwood migrate world.heartwood model.json --backup /backups/world",
        meaning: "with a way back"),
      SubcommandSyntax.Example(
        line: "heartwood migrate world.heartwood /backups/world --back",
        meaning: "the store as it was, with its former model"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    try CommandStore.checkExists(path, maker: "heartwood import makes one")
    if arguments.has("back") {
      try goBack(path, arguments.argument(1) ?? "", isForced: arguments.has("force"), console)
      return .success
    }
    let model = try ModelArgument.model(arguments.argument(1) ?? "")
    let isRehearsal = arguments.has("dry-run")
    if !isRehearsal, let backup = arguments.value("backup") {
      try CommandStore.with(path, for: .reading, console) { store in
        let report = try GraphFailure.catching(backup) {
          try store.coordinator.backup(to: CommandStore.url(backup))
        }
        try console.writeLine(BackupCommand.text(report))
      }
    }
    let log = arguments.has("steps") ? writeStep : nil
    var progress = ProgressLine(isRehearsal ? "trying" : "migrating", total: 1, on: console)
    progress.show(isRehearsal ? "trying the migration" : "migrating")
    defer { progress.finish() }
    let report = try GraphFailure.catching(path) {
      let url = CommandStore.url(path)
      return isRehearsal
        ? try PersistentStoreCoordinator.rehearseMigration(ofStoreAt: url, to: model, log: log)
        : try PersistentStoreCoordinator.migrateStore(at: url, to: model, log: log)
    }
    progress.finish()
    guard let report else {
      try console.writeLine("the store has this model already; nothing was changed")
      return .success
    }
    for line in lines(report, isRehearsal: isRehearsal) { try console.writeLine(line) }
    if report.violations.contains(where: \.preventsMigration) { return .dataError }
    if !isRehearsal, arguments.has("rewrite") {
      try CommandStore.with(path, for: .changing, console) { store in
        progress.show("rewriting the rows of the former model")
        while try store.coordinator.finishDeferredLightweightMigrationTask() {}
      }
    }
    return .success
  }

  private static let writeStep: @Sendable (String) -> Void = { step in
    try? FileHandle.standardError.write(contentsOf: Data("heartwood: \(step)\n".utf8))
  }

  /// What was done, or would be.
  static func lines(_ report: MigrationReport, isRehearsal: Bool) -> [String] {
    var lines = report.changes
    func add(_ counts: [String: Int], _ what: String, _ done: String) {
      for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
        lines.append("\(name): \(count) \(what)\(count == 1 ? "" : "s") \(done)")
      }
    }
    add(report.deletedObjects, "object", isRehearsal ? "to delete" : "deleted")
    add(report.rewrittenObjects, "object", isRehearsal ? "to write again" : "written again")
    add(report.rewrittenLinks, "link", isRehearsal ? "to write" : "written")
    for index in report.builtIndexes { lines.append("\(index): index \(isRehearsal ? "to build" : "built")") }
    if report.hasDeferredWork {
      lines.append("the other rows are converted when they are read (--rewrite writes them again)")
    }
    lines += report.violations.flatMap(violationLines)
    let seconds = String(format: "%.1f", report.seconds)
    if let written = report.bytesWritten, let before = report.bytesBefore, let after = report.bytesAfter {
      lines.append(
        "\(Amount.bytes(written)) would be written, and the store would grow from \(Amount.bytes(before)) to \(Amount.bytes(after))"
      )
    }
    let prevents = report.violations.contains(where: \.preventsMigration)
    lines.append(
      prevents
        ? "the store cannot be migrated to this model; nothing was changed"
        : isRehearsal ? "nothing was changed; it took \(seconds) s" : "migrated in \(seconds) s")
    return lines
  }

  /// Replaces a store by its backup.
  private static func goBack(
    _ path: String, _ backup: String, isForced: Bool, _ console: any Console
  ) throws(CommandFailure) {
    let (identifier, token) = try CommandStore.with(backup, for: .inspecting, console) {
      ($0.identifier, $0.coordinator.currentPersistentHistoryToken())
    }
    let saved = try CommandStore.with(path, for: .reading, console) { store in
      guard store.identifier == identifier else {
        throw CommandFailure.data("\(backup): this is no backup of \(path), but another store")
      }
      let request = PersistentHistoryChangeRequest.fetchHistory(after: token)
      return try store.context.execute(request).transactions.count
    }
    guard saved == 0 || isForced else {
      throw CommandFailure.data(
        "\(path): \(Amount.text(saved, "transaction")) were saved after the backup, and would be lost; --force replaces the store "
          + "all the same")
    }
    try GraphFailure.catching(path) {
      try PersistentStoreCoordinator(managedObjectModel: ManagedObjectModel()).replacePersistentStore(
        at: CommandStore.url(path), withPersistentStoreFrom: CommandStore.url(backup))
    }
    try console.writeLine("the store is as it was when the backup was made")
  }

  /// What is wrong with objects, and which they are.
  private static func violationLines(_ violation: MigrationViolation) -> [String] {
    let shown = violation.objectIDs.prefix(10).map { "\($0.entity.name ?? "")/p\($0.key)" }
    let others = violation.count - shown.count
    let effect =
      violation.preventsMigration ? "prevents the migration" : "can be read, and not be saved as it is"
    return [
      "\(violation), which \(effect)",
      "  \(shown.joined(separator: ", "))\(others > 0 ? " and \(others) others" : "")",
    ]
  }
}

/// The model that a path names: of a file or of a store.
enum ModelArgument {
  static func model(_ path: String) throws(CommandFailure) -> ManagedObjectModel {
    if CommandStore.exists(path) {
      return try GraphFailure.catching(path) {
        try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: CommandStore.url(path))
      }
    }
    return try InputFile.naming(path) { () throws(CommandFailure) in
      let root = JSONPlace(path: "", value: try ImportDocument.parse(InputFile.read(path)))
      let section = try root.optionalMember("model") ?? root
      return try DocumentModel(reading: section).graphModel()
    }
  }
}

extension JSONPlace {
  /// A member of an object; nil if it is missing or this is no object.
  fileprivate func optionalMember(_ name: String) throws(CommandFailure) -> JSONPlace? {
    guard case .object = value else { return nil }
    return try member(name)
  }
}

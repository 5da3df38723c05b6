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
        summary:
          "a file as of heartwood schema --format json, a model of Xcode, or another store; with --back the backup"
      ),
    ],
    options: [
      SubcommandSyntax.Option(name: "dry-run", summary: "say what would be done, and change nothing"),
      SubcommandSyntax.Option(
        name: "backup", value: "directory", summary: "first copy the store, as heartwood backup does"),
      SubcommandSyntax.Option(
        name: "mapping", value: "file",
        summary: "migrate by a mapping model, as encodedDocument() writes it, instead of by inference"),
      SubcommandSyntax.Option(
        name: "back", summary: "replace the store by a backup that was made of it before"),
      SubcommandSyntax.Option(
        name: "force",
        summary:
          "go back also if that loses what the backup, or the store's former model, does not have"
      ),
      SubcommandSyntax.Option(name: "steps", summary: "say how long each step takes"),
      SubcommandSyntax.Option(
        name: "rewrite", summary: "also rewrite rows that would be converted when they are read"),
    ],
    discussion: """
      What the change of the model means is inferred. "renamed" of an entity or a property of the model is its name in
      the store. A crash leaves the store as it was, or migrated. --dry-run only reads the store, which others may use
      meanwhile, and lists the objects that the new model does not allow; with --back it says what would be lost. A
      mapping makes a new store that takes the place of the former one: objects get new identifiers, unless it says
      no more than what is inferred. With --dry-run that store is made in the folder of temporary files, and removed.
      On the way back to a model that the store had before, what is renamed gets its former name; what that model
      does not have is lost only with --force.
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
    try check(arguments)
    try CommandStore.checkExists(path, maker: "heartwood import makes one")
    try CommandStore.refuseApple(path)
    if arguments.has("back") {
      try MigrationReturn.run(path, arguments.argument(1) ?? "", arguments, console)
      return .success
    }
    let model = try ModelArgument.model(arguments.argument(1) ?? "", console)
    if let file = arguments.value("mapping") {
      return try migrate(path, to: model, mapping: file, arguments, console)
    }
    let isRehearsal = arguments.has("dry-run")
    if let backup = arguments.value("backup") { try BackupCommand.backUp(path, to: backup, console) }
    let log = arguments.has("steps") ? writeStep : nil
    var progress = ProgressLine(isRehearsal ? "trying" : "migrating", total: 1, on: console)
    progress.show(isRehearsal ? "trying the migration" : "migrating")
    defer { progress.finish() }
    let url = CommandStore.url(path)
    let report = try GraphFailure.catching(path) {
      try LiveProgress.run(&progress, isShown: console.showsProgress) { say in
        let note: @Sendable (MigrationProgress) -> Void = { say("\($0)") }
        return isRehearsal
          ? try PersistentStoreCoordinator.rehearseMigration(
            ofStoreAt: url, to: model, log: log, progress: note)
          : try migrate(url, to: model, mayLose: arguments.has("force"), log, note)
      }
    }
    progress.finish()
    let rewrites = arguments.has("rewrite")
    if let report {
      let lines = lines(report, isRehearsal: isRehearsal, rewrites: rewrites)
      for line in lines { try console.writeLine(line) }
      if report.violations.contains(where: \.preventsMigration) { return .dataError }
      if isRehearsal, let refusal = try refusalOfReturn(path, to: model) {
        try console.writeLine(returnText(refusal))
        return .dataError
      }
    }
    let rewritten = rewrites ? try rewrite(path, console) : false
    if report == nil {
      try console.writeLine(
        "the store has this model already; \(rewritten ? "the rows of its former model are rewritten" : "nothing was changed")"
      )
    } else if rewritten {
      try console.writeLine("the rows of the former model are rewritten")
    }
    return .success
  }

  /// - Parameter mayLose: Whether values may be lost on the way back to a model that the store had.
  private static func migrate(
    _ url: URL, to model: ManagedObjectModel, mayLose: Bool, _ log: (@Sendable (String) -> Void)?,
    _ progress: @escaping @Sendable (MigrationProgress) -> Void
  ) throws -> MigrationReport? {
    do {
      return try PersistentStoreCoordinator.migrateStore(
        at: url, to: model, mayLoseOnReturn: mayLose, log: log, progress: progress)
    } catch let error as HeartwoodError where error.code == .stagedMigrationBackwardMigration {
      throw CommandFailure.data(returnText(error))
    }
  }

  private static func refusalOfReturn(
    _ path: String, to model: ManagedObjectModel
  ) throws(CommandFailure) -> HeartwoodError? {
    try GraphFailure.catching(path) {
      try PersistentStoreCoordinator.refusalOfReturn(ofStoreAt: CommandStore.url(path), to: model)
    }
  }

  private static func returnText(_ refusal: HeartwoodError) -> String {
    "\(refusal.message); --force does it all the same, --back goes back to a backup, and --mapping says what becomes of the values"
  }

  /// - Throws: A usage failure if options have no meaning together.
  private static func check(_ arguments: ParsedArguments) throws(CommandFailure) {
    func refuse(_ others: [String], _ reason: String) throws(CommandFailure) {
      for option in others where arguments.has(option) || arguments.value(option) != nil {
        throw .usage("\(reason): --\(option) has no meaning with it")
      }
    }
    if arguments.has("back") {
      try refuse(["steps", "rewrite", "mapping"], "--back replaces the store by a backup")
    } else {
      if arguments.has("dry-run") { try refuse(["force"], "--dry-run changes nothing") }
    }
    if arguments.has("dry-run") {
      try refuse(["backup", "rewrite"], "--dry-run changes nothing")
    }
    if arguments.value("mapping") != nil {
      try refuse(["force"], "--mapping says what becomes of all values")
      try refuse(["rewrite"], "--mapping makes a new store with all rows written again")
    }
  }

  /// Writes the rows of the former model again, and says whether there were any.
  private static func rewrite(_ path: String, _ console: any Console) throws(CommandFailure) -> Bool {
    var progress = ProgressLine("rewriting", total: 1, on: console)
    defer { progress.finish() }
    var wrote = false
    do {
      try CommandStore.with(path, for: .changing, console) { store in
        wrote = try store.hasDeferredMigration
        progress.show("rewriting the rows of the former model")
        while try store.coordinator.finishDeferredLightweightMigrationTask() {}
      }
    } catch {
      throw CommandFailure(
        error.code, "the store has its new model, but not all rows could be rewritten: \(error.message)",
        isDamage: error.isDamage)
    }
    return wrote
  }

  /// Migrates by the mapping model in a file.
  private static func migrate(
    _ path: String, to model: ManagedObjectModel, mapping file: String, _ arguments: ParsedArguments,
    _ console: any Console
  ) throws(CommandFailure) -> ExitCode {
    // A mapping model of Xcode is a folder.
    if MappingModel.xcodeFile(at: CommandStore.url(file)) == nil { try InputFile.open(file).closeFile() }
    let mapping = try GraphFailure.catching(file) {
      try MappingModel(contentsOf: CommandStore.url(file)) { console.writeNote("heartwood: \($0)\n") }
    }
    if arguments.has("dry-run") {
      let log = arguments.has("steps") ? writeStep : nil
      return try rehearsed(path, console) { say in
        let description = mapped(path, mapping)
        description.migrationLog = log
        description.migrationProgress = { say("\($0)") }
        return try PersistentStoreCoordinator.rehearseMigration(with: description, to: model)
      }
    }
    let isCurrent = try GraphFailure.catching(path) {
      try model.isConfiguration(
        withName: nil,
        compatibleWithStoreMetadata: PersistentStoreCoordinator.metadataForPersistentStore(
          type: CommandStore.description(path).type, at: CommandStore.url(path)))
    }
    guard !isCurrent else {
      try console.writeLine("the store has this model already; nothing was changed")
      return .success
    }
    if let backup = arguments.value("backup") { try BackupCommand.backUp(path, to: backup, console) }
    let start = ContinuousClock.now
    let log = arguments.has("steps") ? writeStep : nil
    var progress = ProgressLine("migrating", total: 1, on: console)
    defer { progress.finish() }
    try GraphFailure.catching(path) {
      try LiveProgress.run(&progress, isShown: console.showsProgress) { say in
        let description = mapped(path, mapping)
        description.createsStore = false
        description.migrationLog = log
        description.migrationProgress = { say("\($0)") }
        let coordinator = try PersistentStoreCoordinator(checking: model)
        try coordinator.addPersistentStore(with: description)
        try coordinator.close()
      }
    }
    progress.finish()
    try CommandStore.with(path, for: .reading, console) { store in
      for (entity, count) in try store.objectCounts() {
        try console.writeLine("\(entity): \(Amount.text(count, "object"))")
      }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    try console.writeLine("migrated by the mapping in \(String(format: "%.1f", seconds)) s")
    return .success
  }

  /// A mapping says what becomes of all objects, also on the way back to a model that the store had.
  private static func mapped(_ path: String, _ mapping: MappingModel) -> PersistentStoreDescription {
    let description = CommandStore.description(path)
    description.mappingModel = mapping
    description.allowsMigrationToFormerModel = true
    return description
  }

  /// Tries a migration, and says what it would do.
  private static func rehearsed(
    _ path: String, _ console: any Console,
    _ body: @escaping @Sendable (@escaping @Sendable (String) -> Void) throws -> MigrationReport?
  ) throws(CommandFailure) -> ExitCode {
    var progress = ProgressLine("trying", total: 1, on: console)
    progress.show("trying the migration")
    defer { progress.finish() }
    let report = try GraphFailure.catching(path) {
      try LiveProgress.run(&progress, isShown: console.showsProgress, body)
    }
    progress.finish()
    guard let report else {
      try console.writeLine("the store has this model already; nothing was changed")
      return .success
    }
    for line in lines(report, isRehearsal: true) { try console.writeLine(line) }
    return report.violations.contains(where: \.preventsMigration) ? .dataError : .success
  }

  private static let writeStep: @Sendable (String) -> Void = { step in
    try? FileHandle.standardError.write(contentsOf: Data("heartwood: \(step)\n".utf8))
  }

  /// The report of a migration in lines, done or rehearsed.
  static func lines(_ report: MigrationReport, isRehearsal: Bool, rewrites: Bool = false) -> [String] {
    var lines = report.changes
    func add(_ counts: [String: Int], _ what: String, _ done: String) {
      for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
        lines.append("\(name): \(count) \(what)\(count == 1 ? "" : "s") \(done)")
      }
    }
    add(report.deletedObjects, "object", isRehearsal ? "to delete" : "deleted")
    add(report.rewrittenObjects, "object", isRehearsal ? "to write again" : "written again")
    add(report.rewrittenLinks, "link", isRehearsal ? "to write" : "written")
    add(
      report.lostLinks, "link",
      isRehearsal ? "to lose: the destination goes" : "lost: the destination is gone")
    add(report.lostValues, "object", "with a value that is lost")
    for index in report.builtIndexes { lines.append("\(index): index \(isRehearsal ? "to build" : "built")") }
    if report.hasDeferredWork, !rewrites {
      lines.append("the other rows are converted when they are read (--rewrite writes them again)")
    }
    lines += report.violations.flatMap(violationLines)
    let seconds = String(format: "%.1f", report.seconds)
    if let written = report.bytesWritten, let before = report.bytesBefore, let after = report.bytesAfter {
      lines.append(
        "\(Amount.bytes(written)) would be written, and the store would \(after < before ? "shrink" : "grow") from \(Amount.bytes(before)) to \(Amount.bytes(after))"
      )
    }
    let prevents = report.violations.contains(where: \.preventsMigration)
    lines.append(
      prevents
        ? "the store cannot be migrated to this model; nothing was changed"
        : isRehearsal ? "nothing was changed; it took \(seconds) s" : "migrated in \(seconds) s")
    return lines
  }

  /// The lines about a violation: the fault, and the objects that have it.
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

import Heartwood

/// Deletes objects and applies their delete rules.
enum DeleteCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "delete",
    summary: "delete objects and apply the delete rules of their relationships",
    arguments: [.store, .selection],
    options: [
      .predicate,
      SubcommandSyntax.Option(name: "dry-run", summary: "print what would be deleted, and delete nothing"),
      .author,
    ],
    discussion: """
      Everything is deleted in one transaction, or nothing if a delete rule denies it. --where TRUEPREDICATE means every
      object of the entity.


      """ + PredicateHelp.text,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood delete world.heartwood Country --where 'code == \"FR\"' --dry-run",
        meaning: "shows what would be deleted with it")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let word = arguments.argument(1) ?? ""
    let isDryRun = arguments.has("dry-run")
    guard ObjectName.isObject(word) || arguments.value("where") != nil else {
      throw .usage("delete needs --where with an entity; --where TRUEPREDICATE means every \(word)")
    }
    try CommandStore.with(arguments.argument(0) ?? "", for: isDryRun ? .reading : .changing, console) {
      store in
      if let author = arguments.value("author") { store.context.transactionAuthor = author }
      PredicateHelp.noteHabits(arguments.value("where"), console)
      let chosen = try Selection(word, where: arguments.value("where"), in: store).objects
      let report = delete(chosen, in: store.context)
      if isDryRun {
        try store.checkReadings()
        try Save(store.context).validateChanges()
      } else {
        try store.context.save()
      }
      try console.writeLine((isDryRun ? "would delete " : "deleted ") + report)
    }
    return .success
  }

  /// Deletes the chosen objects, applies their delete rules, and returns a report.
  private static func delete(_ chosen: [ManagedObject], in context: ManagedObjectContext) -> String {
    for object in chosen { context.delete(object) }
    context.processPendingChanges()
    guard !chosen.isEmpty else { return "nothing: no object matches" }
    let cascaded = context.deletedObjects.subtracting(chosen)
    let touched = context.updatedObjects
    var parts = [Amount.byEntity(chosen.map(entityName))]
    if !cascaded.isEmpty { parts.append("by cascade \(Amount.byEntity(cascaded.map(entityName)))") }
    if !touched.isEmpty {
      parts.append("taken out of the relationships of \(Amount.byEntity(touched.map(entityName)))")
    }
    return parts.joined(separator: "; ")
  }

  private static func entityName(_ object: ManagedObject) -> String { object.entity.name ?? "" }
}

import Heartwood

/// Takes back what one transaction has changed, or all of an author's.
enum UndoCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "undo",
    summary: "take back what one transaction has changed, or all of an author's, as a new transaction",
    arguments: [
      .store,
      SubcommandSyntax.Argument(
        name: "number", summary: "the number of the transaction, as history prints it", isOptional: true),
    ],
    options: [
      SubcommandSyntax.Option(
        name: "by", value: "author", summary: "take back all that this author has changed, newest first"),
      SubcommandSyntax.Option(
        name: "after", value: "number", summary: "with --by: only what follows this transaction"),
      SubcommandSyntax.Option(
        name: "dry-run", summary: "only say what would be changed and what is in the way"),
      SubcommandSyntax.Option(name: "force", summary: "take back the rest where something is in the way"),
    ],
    discussion: """
      Objects get their former values, deleted ones come back, inserted ones are deleted. What a later transaction has
      changed again is in the way: nothing is done then, unless --force is given. So are unique values that another object
      has by now. The generation before the transaction must still be there: generations lists those that are. --dry-run
      checks the rules of the model, too.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood undo world.heartwood 12", meaning: "takes transaction 12 back"),
      SubcommandSyntax.Example(
        line: "heartwood undo world.heartwood --by importer --after 12 --dry-run",
        meaning: "what taking back the importer's later transactions would change"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    try CommandStore.refuseApple(path)
    let undone = try Undone(arguments)
    let isTrial = arguments.has("dry-run")
    let conflicts = try CommandStore.with(path, for: isTrial ? .reading : .changing, console) { store in
      let found = try undone.revert(in: store)
      for conflict in found { console.writeNote("heartwood: note: \(text(conflict))\n") }
      store.context.processPendingChanges()
      let changed = store.context.listsOfChanges
      let steps = [("restore", changed.inserted), ("change", changed.updated), ("delete", changed.deleted)]
      let count = steps.reduce(0) { $0 + $1.1.count }
      if isTrial { try Save(store.context).validateChanges() }
      guard found.isEmpty || arguments.has("force") else {
        store.context.rollback()
        return found
      }
      if found.isEmpty, count == 0 {
        console.writeNote("heartwood: note: \(undone.name) has changed no object\n")
      }
      if !isTrial { try store.context.save() } else { store.context.rollback() }
      for (verb, objects) in steps {
        for name in objects.map({ ObjectName.text($0.objectID) }).sorted() {
          try console.writeLine("\(verb) \(name)")
        }
      }
      try console.writeLine("\(isTrial ? "would change" : "changed") \(Amount.text(count, "object"))")
      return []
    }
    guard conflicts.isEmpty else {
      throw .data(
        "\(Amount.text(conflicts.count, "change")) of \(undone.name) cannot be taken back, and nothing was changed; --force takes back the rest"
      )
    }
    return .success
  }

  private static func text(_ conflict: RevertConflict) -> String {
    let name = ObjectName.text(conflict.objectID) + (conflict.property.map { ".\($0)" } ?? "")
    let other = conflict.other.map { ObjectName.text($0) } ?? "another object"
    return switch conflict.reason {
    case .wasChanged: "\(name) was changed since"
    case .isDeleted: "\(name) was deleted since"
    case .existsAgain: "\(name) exists again"
    case .destinationIsDeleted: "\(name) referred to an object that is not there any more"
    case .isReordered: "the order of \(name) was changed since"
    case .isReferredTo: "\(name) is referred to by \(other)"
    case .isTaken: "\(other) has the unique values of \(name) by now"
    }
  }
}

/// The changes that are reverted.
private enum Undone {
  case transaction(UInt64)
  case author(String, after: UInt64?)

  init(_ arguments: ParsedArguments) throws(CommandFailure) {
    let given = arguments.argument(1)
    guard let author = arguments.value("by") else {
      guard arguments.value("after") == nil else { throw .usage("--after needs --by") }
      guard let number = Self.number(given), number > 0 else {
        throw .usage(
          "a transaction is named by its number, as history prints it, not \"\(given ?? "")\"; --by takes back an author's"
        )
      }
      self = .transaction(number)
      return
    }
    guard given == nil else { throw .usage("give either a number or --by") }
    let after = arguments.value("after")
    guard after == nil || Self.number(after) != nil else {
      throw .usage("--after needs the number of a transaction, not \"\(after ?? "")\"")
    }
    self = .author(author, after: Self.number(after))
  }

  private static func number(_ text: String?) -> UInt64? { text.flatMap { UInt64($0) } }

  var name: String {
    switch self {
    case .transaction(let number): "transaction \(number)"
    case .author(let author, nil): "the author \(author)"
    case .author(let author, let number?): "the author \(author) after transaction \(number)"
    }
  }

  func revert(in store: CommandStore) throws -> [RevertConflict] {
    switch self {
    case .transaction(let number): return try store.context.revert(transaction: number)
    case .author(let author, let number):
      let token = number.map {
        PersistentHistoryToken(
          storeID: store.coordinator.persistentStores.first?.identifier ?? "", transactionNumber: $0)
      }
      return try store.context.revertTransactions(by: author, after: token)
    }
  }
}

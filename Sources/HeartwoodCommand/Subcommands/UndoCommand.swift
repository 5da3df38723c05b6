import Heartwood

/// Takes back what one transaction has changed.
enum UndoCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "undo",
    summary: "take back what one transaction has changed, as a new transaction",
    arguments: [
      .store,
      SubcommandSyntax.Argument(
        name: "number", summary: "the number of the transaction, as history prints it"),
    ],
    options: [
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
        line: "heartwood undo world.heartwood 12", meaning: "takes transaction 12 back")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    try CommandStore.refuseApple(path)
    guard let number = arguments.argument(1).flatMap({ UInt64($0) }), number > 0 else {
      throw .usage(
        "a transaction is named by its number, as history prints it, not \"\(arguments.argument(1) ?? "")\"")
    }
    let isTrial = arguments.has("dry-run")
    let conflicts = try CommandStore.with(path, for: isTrial ? .reading : .changing, console) { store in
      let found = try store.context.revert(transaction: number)
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
        console.writeNote("heartwood: note: transaction \(number) has changed no object\n")
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
        "\(Amount.text(conflicts.count, "change")) of transaction \(number) cannot be taken back, and nothing was changed; --force takes back the rest"
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

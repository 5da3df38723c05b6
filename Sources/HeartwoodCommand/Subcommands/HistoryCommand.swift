import Heartwood

/// Prints the transactions that were saved to a store.
enum HistoryCommand: Subcommand {
  enum Format: String, CaseIterable { case text, json }

  static let syntax = SubcommandSyntax(
    name: "history",
    summary: "print what was saved, when and by whom",
    arguments: [.store],
    options: [
      SubcommandSyntax.Option(name: "since", value: "number", summary: "only transactions after this one"),
      SubcommandSyntax.Option(
        name: "entity", value: "name", summary: "only changes of its objects and of those of its subentities"),
      SubcommandSyntax.Option(
        name: "object", value: "Entity/key", summary: "only changes of this object, which may be deleted"),
      SubcommandSyntax.Option(
        name: "limit", value: "number", summary: "only this many transactions, the newest"),
      SubcommandSyntax.Option(
        name: "changes", value: "number", summary: "how many changes of each to list; 0 for all (default 10)"),
      SubcommandSyntax.Option(name: "format", value: "text|json", summary: "how to write it (default text)"),
      SubcommandSyntax.Option(
        name: "follow", summary: "go on with what is saved from now on, until the command is interrupted"),
      SubcommandSyntax.Option(
        name: "purge", value: "number|date",
        summary: "delete the history of the transactions before this one, or before this date"),
      .model,
    ],
    discussion: """
      The number of a transaction is the generation that it made: fetch --as-of shows the store as it was then.
      With --follow each transaction is printed as soon as it is saved, by any program, until the command is
      interrupted, the store is moved, replaced or deleted, or history is deleted that it has not read; --format json
      then writes a line for each. With --purge nothing is printed but how many transactions were deleted from the
      history; objects stay as they are. Programs that have not read the deleted transactions yet have to read the
      objects instead.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood history world.heartwood --limit 1", meaning: "what happened last"),
      SubcommandSyntax.Example(
        line: "heartwood history world.heartwood --object City/p12", meaning: "what happened to one object"),
      SubcommandSyntax.Example(
        line: "heartwood history world.heartwood --follow --limit 0",
        meaning: "only what is saved from now on"),
      SubcommandSyntax.Example(
        line: "heartwood history world.heartwood --purge 2026-01-01", meaning: "forgets what was saved before"
      ),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let format = try arguments.choice("format", Format.self) ?? .text
    if let before = arguments.value("purge") { return try purge(before, arguments, console) }
    let follows = arguments.has("follow")
    let printer = Printer(
      isJSON: format == .json, follows: follows, listed: try arguments.count("changes") ?? 10, console)
    let since = try arguments.count("since") ?? 0
    let limit = try arguments.count("limit")
    if follows { try CommandStore.refuseApple(arguments.argument(0) ?? "") }
    try CommandStore.with(
      arguments.argument(0) ?? "", for: .reading, model: arguments.value("model"), console
    ) { store in
      var reading = HistoryReading(store, since: UInt64(since), try predicate(arguments, store))
      // It sees what is saved from now on, before what is there is read.
      let news = follows ? News(store.coordinator) : nil
      try printer.begin()
      if let limit {
        // As many as may be the newest.
        var newest: [PersistentHistoryTransaction] = []
        try reading.all { transaction in
          newest.append(transaction)
          if newest.count > 2 * limit { newest.removeFirst(newest.count - limit) }
        }
        for transaction in newest.suffix(limit) { try printer.print(transaction) }
      } else {
        try reading.all { try printer.print($0) }
      }
      let place = StorePlace(store.path)
      while let news {
        try console.flush()
        if news.wait() {
          try reading.all { try printer.print($0) }
        } else {
          try StorePlace.check(store.path, isAt: place)
        }
      }
      try printer.end()
    }
    return .success
  }

  /// Which changes are meant; nil for all.
  private static func predicate(
    _ arguments: ParsedArguments, _ store: CommandStore
  ) throws -> (any FetchPredicate)? {
    var (formats, values): ([String], [(any PredicateArgument)?]) = ([], [])
    if let name = arguments.value("entity") {
      var (names, waiting) = ([String](), [try store.entity(named: name)])
      while let entity = waiting.popLast() {
        names.append(entity.name ?? "")
        waiting += entity.subentities
      }
      formats.append("entityName IN %@")
      values.append(names)
    }
    if let word = arguments.value("object") {
      formats.append("changedObjectURI == %@")
      values.append("\(try ObjectName.identifier(word, in: store))")
    }
    return formats.isEmpty
      ? nil : try FormatPredicate(formats.joined(separator: " AND "), argumentArray: values)
  }

  private static func purge(
    _ text: String, _ arguments: ParsedArguments, _ console: any Console
  ) throws(CommandFailure) -> ExitCode {
    for name in ["since", "limit", "changes", "format", "entity", "object", "follow"]
    where arguments.value(name) != nil || arguments.has(name) {
      throw .usage("--purge deletes the history of whole transactions, and is given without --\(name)")
    }
    let path = arguments.argument(0) ?? ""
    let deleted = try CommandStore.with(path, for: .changing, console) { store in
      let all = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
      all.resultType = .transactionsOnly
      let transactions = try store.context.execute(all).transactions
      let first: PersistentHistoryTransaction?
      if let number = Int64(text) {
        first = transactions.first { $0.transactionNumber >= number }
      } else {
        guard let date = DateText.date(text) else {
          throw CommandFailure.usage(
            "--purge needs the number of a transaction, or a date such as 2024-01-31T12:00:00Z, not \"\(text)\""
          )
        }
        first = transactions.first { $0.timestamp >= date }
      }
      // Without one that stays, all are deleted but the last, by which readers know where they are.
      guard let kept = first ?? transactions.last else { return 0 }
      _ = try store.context.execute(PersistentHistoryChangeRequest.deleteHistory(before: kept))
      return transactions.count { $0.transactionNumber < kept.transactionNumber }
    }
    try console.writeLine("deleted \(Amount.text(deleted, "transaction")) from the history of \(path)")
    return .success
  }
}

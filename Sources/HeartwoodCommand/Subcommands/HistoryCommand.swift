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
        name: "limit", value: "number", summary: "only this many transactions, the newest"),
      SubcommandSyntax.Option(
        name: "changes", value: "number", summary: "how many changes of each to list; 0 for all (default 10)"),
      SubcommandSyntax.Option(name: "format", value: "text|json", summary: "how to write it (default text)"),
    ],
    discussion: """
      The number of a transaction is the generation that it made: fetch --generation shows the store as it was then.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood history world.heartwood --limit 1", meaning: "what happened last")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let since = try arguments.count("since") ?? 0
    let limit = try arguments.count("limit") ?? .max
    let listed = try arguments.count("changes") ?? 10
    let format = try arguments.choice("format", Format.self) ?? .text
    try CommandStore.with(arguments.argument(0) ?? "", for: .reading, console) { store in
      let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
      let all = try store.context.execute(request).transactions
      let chosen = all.filter { $0.transactionNumber > since }.suffix(limit)
      switch format {
      case .text:
        for transaction in chosen {
          try console.write(HistoryText.text(transaction, listing: listed == 0 ? .max : listed))
        }
      case .json:
        let list = JSONValue.array(chosen.map(HistoryText.json))
        try console.writeLine(JSONWriter.pretty(list))
      }
    }
    return .success
  }
}

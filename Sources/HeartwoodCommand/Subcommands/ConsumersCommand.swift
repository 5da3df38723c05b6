import Heartwood

/// Lists the consumers of a store's history, or removes one.
enum ConsumersCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "consumers",
    summary: "list who follows the history of a store, and how far",
    arguments: [.store],
    options: [
      SubcommandSyntax.Option(
        name: "remove", value: "name", summary: "remove this consumer: no history is kept for it any more"),
      .format,
    ],
    discussion: """
      A consumer is a program, or a part of one, that reads what others save and has its position in the store. waiting
      is the number of transactions that it has not seen, its own among them. One that has missed history which was
      deleted is expired: the program has to read the objects instead.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood consumers world.heartwood", meaning: "who follows the store"),
      SubcommandSyntax.Example(
        line: "heartwood consumers world.heartwood --remove indexer",
        meaning: "forgets the position of the indexer"
      ),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    try CommandStore.refuseApple(path)
    if let name = arguments.value("remove") { return try remove(name, path, console) }
    let format = try arguments.choice("format", OutputFormat.self) ?? .table
    try CommandStore.with(path, for: .reading, console) { store in
      var table = ResultTable(columns: ["consumer", "transaction", "waiting", "saved", "expired"])
      table.noun = ("consumer", "consumers")
      table.rows = try store.coordinator.historyConsumers().map { consumer in
        [
          .text(consumer.name), .integer(Int64(clamping: consumer.position.transactionNumber)),
          .integer(Int64(consumer.waitingCount)), .date(consumer.savedAt), .bool(consumer.isExpired),
        ]
      }
      try table.write(format, to: console)
    }
    return .success
  }

  private static func remove(
    _ name: String, _ path: String, _ console: any Console
  ) throws(CommandFailure) -> ExitCode {
    try CommandStore.with(path, for: .changing, console) { store in
      let known = try store.coordinator.historyConsumers().map(\.name)
      guard known.contains(name) else {
        throw CommandFailure.usage(
          known.isEmpty
            ? "the store has no consumers"
            : "the store has no consumer \"\(name)\"; it has \(known.joined(separator: ", "))")
      }
      try store.coordinator.historyConsumer(name).unregister()
      try console.writeLine("removed the consumer \(name)")
    }
    return .success
  }
}

import HeartwoodEngine

/// Writes keys and values as text that `kv load` reads.
enum KeyValueDumpCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv dump",
    summary: "write keys and values as lines that kv load reads, whatever their bytes",
    arguments: [.folder],
    options: SubcommandSyntax.Option.range + [.moment, .hexadecimal],
    discussion: Dump.help,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood kv dump old.store | heartwood kv load new.store",
        meaning: "a copy with one generation for each batch")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let (range, notation) = (try arguments.range(), arguments.notation)
    try KeyValueStore.reading(arguments.argument(0) ?? "", at: arguments.moment(), console) { snapshot in
      try console.writeLine(Dump.head(notation))
      var count = 0
      var line: [UInt8] = []
      try snapshot.scan(range) { key, value in
        line.removeAll(keepingCapacity: true)
        EntryLine.append(key, value, notation, to: &line)
        try console.write(line)
        snapshot.forgetDecompressedValues()
        count += 1
        return true
      }
      try console.writeLine("\(Dump.end)\(count)")
    }
    return .success
  }
}

/// Writes the entries of a `kv dump` into a store.
enum KeyValueLoadCommand: Subcommand {
  private static let batchBytes = 64 << 20

  static let syntax = SubcommandSyntax(
    name: "kv load",
    summary: "put the keys and values of a dump into a store, which is created if it is missing",
    arguments: [
      .folder,
      SubcommandSyntax.Argument(
        name: "file", summary: "the dump; - or nothing for standard input", isOptional: true),
    ],
    options: [
      SubcommandSyntax.Option(
        name: "batch", value: "number", summary: "how many keys go into one transaction (default 10000)"),
      .hexadecimal, .force,
    ],
    discussion: """
      Keys that are there get the new values, and others stay. Each batch is committed for itself: where a line is wrong,
      the batches before it are in the store, and how many keys that is is told. Batches of more than 64 MiB are cut.


      """ + Dump.help)

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    let limit = try arguments.count("batch") ?? 10_000
    guard limit > 0 else { throw .usage("--batch needs a whole number, 1 or more") }
    var reader = try DumpReader(arguments.argument(1) ?? "-", arguments.notation)
    // Reads the first batch before the store is created, so that a file with an invalid beginning creates
    // none.
    var batch = try reader.next(limit, bytes: batchBytes)
    try KeyValueStore.changing(path, creating: true) { engine in
      var progress = ProgressLine("loading", total: 0, on: console)
      defer { progress.finish() }
      var (keys, transactions) = (0, 0)
      while !batch.isEmpty {
        try commit(batch, to: engine, arguments)
        keys += batch.count
        transactions += 1
        progress.show("loading \(Amount.text(keys, "key"))")
        batch = try telling(keys) { () throws(CommandFailure) in try reader.next(limit, bytes: batchBytes) }
      }
      progress.finish()
      try console.writeLine(
        "loaded \(Amount.text(keys, "key")) in \(Amount.text(transactions, "transaction")); "
          + "generation \(engine.newestGeneration)")
    }
    return .success
  }

  private static func commit(
    _ batch: [DumpReader.Entry], to engine: Engine, _ arguments: ParsedArguments
  ) throws {
    try engine.write { transaction in
      try transaction.checkHoldsNoGraph(arguments)
      for entry in batch { try transaction.put(entry.key, entry.value) }
    }
  }

  /// Adds to a failure how much is already stored.
  private static func telling<Result>(
    _ keys: Int, _ body: () throws(CommandFailure) -> Result
  ) throws(CommandFailure) -> Result {
    do {
      return try body()
    } catch {
      throw CommandFailure(
        error.code,
        "\(error.message); \(Amount.text(keys, "key")) from before it \(keys == 1 ? "is" : "are") loaded")
    }
  }
}

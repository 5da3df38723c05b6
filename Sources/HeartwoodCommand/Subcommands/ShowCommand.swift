import Heartwood

/// Prints one object with its relationships.
enum ShowCommand: Subcommand {
  enum Format: String, CaseIterable { case text, json }

  static let syntax = SubcommandSyntax(
    name: "show",
    summary: "show one object with its relationships",
    arguments: [.store, .selection],
    options: [
      .predicate,
      SubcommandSyntax.Option(
        name: "limit", value: "number",
        summary: "how many objects to list of a relationship; 0 for all (default 20)"),
      SubcommandSyntax.Option(
        name: "format", value: "text|json", summary: "how to write the object (default text)"),
      .moment, .model,
    ],
    discussion: PredicateHelp.text,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood show world.heartwood Country/p76", meaning: "by the first column of fetch"),
      SubcommandSyntax.Example(
        line: "heartwood show world.heartwood Country --where 'code == \"FR\"'",
        meaning: "by a predicate that is true for one object"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let limit = try arguments.count("limit") ?? 20
    let format = try arguments.choice("format", Format.self) ?? .text
    let moment = arguments.moment()
    try CommandStore.with(
      arguments.argument(0) ?? "", for: .reading, model: arguments.value("model"), console
    ) { store in
      try store.pin(to: moment)
      let object = try onlyObject(arguments, store)
      let text =
        format == .json
        ? JSONWriter.pretty(ObjectText.json(object)) + "\n"
        : ObjectText.text(object, limit: limit == 0 ? .max : limit, cuts: console.cutsLongCells)
      try store.checkReadings()
      try console.write(text)
    }
    return .success
  }

  private static func onlyObject(_ arguments: ParsedArguments, _ store: CommandStore) throws -> ManagedObject
  {
    let word = arguments.argument(1) ?? ""
    let selection = try Selection(word, where: arguments.value("where"), in: store)
    guard let object = selection.objects.first else {
      throw CommandFailure(.noInput, "\(store.path): no \(word) matches")
    }
    guard selection.objects.count == 1 else {
      throw CommandFailure.usage(
        "\(selection.objects.count) objects of \(word) match, and show shows one: "
          + "narrow it with --where, or use fetch")
    }
    return object
  }
}

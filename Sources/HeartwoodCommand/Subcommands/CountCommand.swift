/// Counts objects.
enum CountCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "count",
    summary: "count the objects of an entity",
    arguments: [.store, .entity],
    options: [.predicate, .moment, .model],
    discussion: PredicateHelp.text,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood count world.heartwood Country --where 'ANY neighbours.code == \"FR\"'",
        meaning: "how many countries border on France")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let moment = arguments.moment()
    try CommandStore.with(
      arguments.argument(0) ?? "", for: .reading, model: arguments.value("model"), console
    ) { store in
      try store.pin(to: moment)
      let entity = try store.entity(named: arguments.argument(1) ?? "")
      PredicateHelp.noteHabits(arguments.value("where"), console)
      let request = try store.request(entity, where: arguments.value("where"))
      let count = try store.appleRows(request)?.count() ?? store.context.count(for: request)
      try console.writeLine("\(count)")
    }
    return .success
  }
}

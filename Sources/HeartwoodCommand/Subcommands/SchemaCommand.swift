import Heartwood

/// Prints the model of a store.
enum SchemaCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "schema",
    summary: "show the model of a store: its entities with their properties",
    arguments: [
      .store,
      SubcommandSyntax.Argument(name: "entity", summary: "only this entity (default all)", isOptional: true),
    ],
    options: [ModelFormat.option, .moment, .model],
    discussion: """
      With --as-of, the model that the store had then. Objects of a generation from before a migration cannot be read, but
      its model can.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood schema world.heartwood --format json > model.json",
        meaning: "a model for another store"),
      SubcommandSyntax.Example(
        line: "heartwood schema world.heartwood Country --as-of 2026-01-31",
        meaning: "the properties that countries had in January"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let format = try arguments.choice("format", ModelFormat.self) ?? .text
    let moment = arguments.moment()
    try CommandStore.with(
      arguments.argument(0) ?? "", for: .reading, model: arguments.value("model"), console
    ) { store in
      let asOf = try moment.map { try store.pastNumber(of: $0) }
      let full = try asOf.map(store.coordinator.managedObjectModel) ?? store.model
      var model = DocumentModel(full)
      if let name = arguments.argument(1) {
        _ = try CommandStore.entity(named: name, in: full)
        model.entities.removeAll { $0.name != name }
      }
      try format.write(model, to: console)
    }
    return .success
  }
}

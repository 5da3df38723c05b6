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
    options: [ModelFormat.option, .model],
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood schema world.heartwood --format json > model.json",
        meaning: "a model for another store")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let format = try arguments.choice("format", ModelFormat.self) ?? .text
    try CommandStore.with(
      arguments.argument(0) ?? "", for: .reading, model: arguments.value("model"), console
    ) { store in
      var model = DocumentModel(store.model)
      if let name = arguments.argument(1) {
        _ = try store.entity(named: name)
        model.entities.removeAll { $0.name != name }
      }
      try format.write(model, to: console)
    }
    return .success
  }
}

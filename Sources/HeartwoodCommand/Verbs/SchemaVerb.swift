/// Shows the model of a store.
enum SchemaVerb: Verb {
  static let syntax = VerbSyntax(
    name: "schema",
    summary: "show the model of a store: its entities with their properties",
    arguments: [
      .store,
      VerbSyntax.Argument(name: "entity", summary: "only this entity (default all)", isOptional: true),
    ],
    options: [
      VerbSyntax.Option(
        name: "format", value: "text|json",
        summary: "for people, or to edit and give to import (default text)")
    ],
    examples: [
      VerbSyntax.Example(
        line: "heartwood schema world.heartwood --format json > model.json",
        meaning: "a model for another store")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let format = try arguments.choice("format", ModelVerb.Format.self) ?? .text
    try OpenStore.with(arguments.argument(0) ?? "", for: .reading, console) { store in
      var model = DocumentModel(store.model)
      if let name = arguments.argument(1) {
        _ = try store.entity(named: name)
        model.entities.removeAll { $0.name != name }
      }
      switch format {
      case .text: try console.write(ModelText.text(model))
      case .json: try console.writeLine(JSONWriter.pretty(model.json))
      }
    }
    return .success
  }
}

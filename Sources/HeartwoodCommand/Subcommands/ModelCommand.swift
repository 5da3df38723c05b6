/// Prints the model in a JSON file, or the model inferred from its objects.
enum ModelCommand: Subcommand {
  enum Format: String, CaseIterable { case text, json }

  static let syntax = SubcommandSyntax(
    name: "model",
    summary: "show the model that a JSON file carries, or that import would infer from its objects",
    arguments: [SubcommandSyntax.Argument(name: "file", summary: "the JSON file; - for standard input")],
    options: [
      SubcommandSyntax.Option(
        name: "format", value: "text|json",
        summary: "for people, or to edit and give to import (default text)")
    ],
    discussion: ImportFormatHelp.text,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood model places.json --format json > model.json",
        meaning: "a model to begin with: add inverses, indexes and delete rules")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? "-"
    let model = try InputFile.naming(path) { () throws(CommandFailure) in
      let document = try ImportDocument(InputFile.read(path))
      return try document.givenOrInferredModel()
    }
    switch try arguments.choice("format", Format.self) ?? .text {
    case .text: try console.write(ModelText.text(model))
    case .json: try console.writeLine(JSONWriter.pretty(model.json))
    }
    return .success
  }
}

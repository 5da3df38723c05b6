import Heartwood

/// Prints the model in a JSON file, or the model inferred from its objects.
enum ModelCommand: Subcommand {
  enum Format: String, CaseIterable { case text, json }

  static let syntax = SubcommandSyntax(
    name: "model",
    summary: "show the model that a JSON file carries, or that import would infer from its objects",
    arguments: [
      SubcommandSyntax.Argument(name: "file", summary: "the JSON file; - for standard input; or diff"),
      SubcommandSyntax.Argument(
        name: "models", summary: "after diff: two models, each in a file or of a store", isOptional: true,
        isRepeated: true),
    ],
    options: [
      SubcommandSyntax.Option(
        name: "format", value: "text|json",
        summary: "for people, or to edit and give to import (default text)")
    ],
    discussion: ImportFormatHelp.text,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood model places.json --format json > model.json",
        meaning: "a model to begin with: add inverses, indexes and delete rules"),
      SubcommandSyntax.Example(
        line: "heartwood model diff world.heartwood model.json",
        meaning: "in words, what a migration of the store to the model does"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? "-"
    if path == "diff", let former = arguments.argument(1), let new = arguments.argument(2) {
      return try writeDifferences(former, new, console)
    }
    guard arguments.argument(1) == nil else {
      throw .usage("two models follow \"diff\", and nothing follows a file")
    }
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

  private static func writeDifferences(
    _ former: String, _ new: String, _ console: any Console
  ) throws(CommandFailure) -> ExitCode {
    let (former, new) = (try ModelArgument.model(former), try ModelArgument.model(new))
    let sentences = try GraphFailure.catching("") { try MappingModel.differences(from: former, to: new) }
    for sentence in sentences { try console.writeLine(sentence) }
    if sentences.isEmpty { try console.writeLine("the models do not differ in what a store has") }
    return .success
  }
}

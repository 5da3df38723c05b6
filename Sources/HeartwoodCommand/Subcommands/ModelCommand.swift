import Heartwood

/// Prints a model: of Xcode, of a store, in a JSON file, or inferred from its objects; or writes it for Xcode.
enum ModelCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "model",
    summary: "show the model of a file or a store, or that import would infer from objects",
    arguments: [
      SubcommandSyntax.Argument(
        name: "file", summary: "a JSON file, a model of Xcode, or a store; - for standard input; or diff"),
      SubcommandSyntax.Argument(
        name: "models", summary: "after diff: two models, each in a file or of a store", isOptional: true,
        isRepeated: true),
    ],
    options: [
      ModelFormat.option,
      SubcommandSyntax.Option(
        name: "output", value: "folder",
        summary: "write it for Xcode, to a folder named *.xcdatamodel or *.xcdatamodeld"),
    ],
    discussion: ImportFormatHelp.text,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood model places.json --format json > model.json",
        meaning: "a model to begin with: add inverses, indexes and delete rules"),
      SubcommandSyntax.Example(
        line: "heartwood model world.heartwood --output World.xcdatamodeld",
        meaning: "the model of a store, to edit in Xcode"),
      SubcommandSyntax.Example(
        line: "heartwood model world.heartwood --format svg > world.svg",
        meaning: "a diagram of the model; mermaid and dot are for tools that draw"),
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
    let model: DocumentModel
    if ModelArgument.isGraphModel(path) {
      let graph = try ModelArgument.model(path, console)
      if let folder = arguments.value("output") { return try write(graph, folder, console) }
      model = DocumentModel(graph)
    } else {
      model = try InputFile.naming(path) { () throws(CommandFailure) in
        let root = JSONPlace(path: "", value: try ImportDocument.parse(InputFile.read(path)))
        // What this command and "schema" write as JSON is only a model.
        if (try? root.member("entities")) != nil { return try DocumentModel(reading: root) }
        return try ImportDocument(root).givenOrInferredModel()
      }
      let graph = try InputFile.naming(path) { () throws(CommandFailure) in try model.graphModel() }
      if let folder = arguments.value("output") { return try write(graph, folder, console) }
    }
    try (arguments.choice("format", ModelFormat.self) ?? .text).write(model, to: console)
    return .success
  }

  private static func write(
    _ model: ManagedObjectModel, _ folder: String, _ console: any Console
  ) throws(CommandFailure) -> ExitCode {
    try GraphFailure.catching(folder) {
      try model.writeXcodeModel(to: CommandStore.url(folder)) { console.writeNote("heartwood: \($0)\n") }
    }
    return .success
  }

  private static func writeDifferences(
    _ former: String, _ new: String, _ console: any Console
  ) throws(CommandFailure) -> ExitCode {
    let (former, new) = (try ModelArgument.model(former, console), try ModelArgument.model(new, console))
    let sentences = try GraphFailure.catching("") { try MappingModel.differences(from: former, to: new) }
    for sentence in sentences { try console.writeLine(sentence) }
    if sentences.isEmpty { try console.writeLine("the models do not differ in what a store has") }
    return .success
  }
}

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
        name: "hashes", summary: "print the version hash of each entity, and the checksum of the model"),
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
        meaning:
          "whether the store can be migrated to the model without a mapping, and what that does in words"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? "-"
    try check(arguments)
    if path == "diff", let former = arguments.argument(1), let new = arguments.argument(2) {
      return try writeDifferences(former, new, console)
    }
    guard arguments.argument(1) == nil else {
      throw .usage("two models follow \"diff\", and nothing follows a file")
    }
    if arguments.has("hashes") { return try writeHashes(ModelArgument.model(path, console), console) }
    let model: DocumentModel
    if ModelArgument.isGraphModel(path) {
      let graph = try ModelArgument.model(path, console)
      if let folder = arguments.value("output") { return try write(graph, folder, console) }
      model = DocumentModel(graph)
    } else {
      model = try InputFile.naming(path) { () throws(CommandFailure) in
        let root = JSONPlace(path: "", value: try ImportDocument.parse(InputFile.read(path)))
        // A document that this command or "schema" writes as JSON is only a model.
        if (try? root.member("entities")) != nil { return try DocumentModel(reading: root) }
        return try ImportDocument(root).givenOrInferredModel()
      }
      let graph = try InputFile.naming(path) { () throws(CommandFailure) in try model.graphModel() }
      if let folder = arguments.value("output") { return try write(graph, folder, console) }
    }
    try (arguments.choice("format", ModelFormat.self) ?? .text).write(model, to: console)
    return .success
  }

  /// - Throws: A usage failure if options have no meaning together.
  private static func check(_ arguments: ParsedArguments) throws(CommandFailure) {
    func refuse(_ others: [String], _ reason: String) throws(CommandFailure) {
      for option in others where arguments.has(option) || arguments.value(option) != nil {
        throw .usage("\(reason): --\(option) has no meaning with it")
      }
    }
    if arguments.argument(0) == "diff", arguments.argument(1) != nil {
      try refuse(["hashes", "output", "format"], "diff prints what two models differ in")
    }
    if arguments.has("hashes") { try refuse(["output", "format"], "--hashes prints the version hashes") }
    if arguments.value("output") != nil { try refuse(["format"], "--output writes the model for Xcode") }
  }

  private static func write(
    _ model: ManagedObjectModel, _ folder: String, _ console: any Console
  ) throws(CommandFailure) -> ExitCode {
    try GraphFailure.catching(folder) {
      try model.writeXcodeModel(to: CommandStore.url(folder)) { console.writeNote("heartwood: \($0)\n") }
    }
    return .success
  }

  /// The hashes in base 64, as metadata of stores show them, and the checksum.
  private static func writeHashes(
    _ model: ManagedObjectModel, _ console: any Console
  ) throws(CommandFailure) -> ExitCode {
    let width = model.entities.map { TextWidth.columns(of: $0.name ?? "") }.max() ?? 0
    for (name, hash) in model.entityVersionHashesByName.sorted(by: { $0.key < $1.key }) {
      try console.writeLine("\(name.padded(toColumns: width))  \(hash.base64EncodedString())")
    }
    try console.writeLine("checksum of the model: \(model.versionChecksum)")
    return .success
  }

  private static func writeDifferences(
    _ former: String, _ new: String, _ console: any Console
  ) throws(CommandFailure) -> ExitCode {
    let (former, new) = (try ModelArgument.model(former, console), try ModelArgument.model(new, console))
    let (sentences, reasons) = try GraphFailure.catching("") {
      (
        try MappingModel.differences(from: former, to: new),
        try MappingModel.reasonsAgainstInference(from: former, to: new)
      )
    }
    guard reasons.isEmpty else {
      try console.writeLine(
        "a store cannot be migrated without a mapping, \(Amount.text(reasons.count, "reason")):")
      for reason in reasons { try console.writeLine("  \(reason)") }
      for sentence in sentences where !reasons.contains(sentence) { try console.writeLine(sentence) }
      return .dataError
    }
    guard !sentences.isEmpty else {
      try console.writeLine("the models do not differ in what a store has")
      return .success
    }
    try console.writeLine(
      "a store can be migrated without a mapping, if its objects allow it (see heartwood migrate --dry-run):")
    for sentence in sentences { try console.writeLine(sentence) }
    return .success
  }
}

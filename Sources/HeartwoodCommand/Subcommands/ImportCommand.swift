import Foundation

/// Imports the objects of a JSON file into a store.
enum ImportCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "import",
    summary: "import the objects of a JSON file into a store, which is created if it is missing",
    arguments: [
      .store, SubcommandSyntax.Argument(name: "file", summary: "the JSON file; - for standard input"),
    ],
    options: [
      SubcommandSyntax.Option(
        name: "model", value: "file", summary: "the model of the new store (the file's own, else inferred)"),
      SubcommandSyntax.Option(
        name: "batch", value: "number", summary: "how many objects go into one transaction (default 10000)"),
      .author,
    ],
    discussion: """
      A store that is there already keeps its model, and the file has to fit it. A file with no more objects than go into
      one transaction is imported whole or not at all. The whole file is checked before anything is written.


      """ + ImportFormatHelp.text,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood import world.heartwood world.json",
        meaning: "makes the store with the file's own model"),
      SubcommandSyntax.Example(
        line: "heartwood import places.heartwood places.json --model model.json",
        meaning: "a list of objects, with a model written beside it (see heartwood model)"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    let batchSize = try arguments.count("batch") ?? 10_000
    guard batchSize > 0 else { throw .usage("--batch needs a whole number, 1 or more") }
    let job = ImportJob(
      file: arguments.argument(1) ?? "-", batchSize: batchSize, author: arguments.value("author"),
      console: console)
    let begin = ContinuousClock.now
    let counts =
      CommandStore.exists(path)
      ? try job.intoStore(path, model: arguments.value("model"))
      : try job.makingStore(path, model: arguments.value("model"))
    let seconds = begin.duration(to: .now)
    try console.writeLine(
      "imported \(Amount.text(counts.objects, "object")) and \(Amount.text(counts.links, "link")) into \(path) in "
        + "\(seconds.formatted(.units(allowed: [.seconds], width: .wide, fractionalPart: .show(length: 2))))")
    return .success
  }

  private typealias Counts = (objects: Int, links: Int)

  private struct ImportJob {
    let file: String
    let batchSize: Int
    let author: String?
    let console: any Console

    func intoStore(_ path: String, model: String?) throws(CommandFailure) -> Counts {
      guard model == nil else {
        throw .usage("\(path) is a store with a model already: --model is for a new one")
      }
      let document = try document()
      return try CommandStore.with(path, for: .changing, console) { store in
        let model = DocumentModel(store.model)
        return try write(prepare(document, model), model, into: store, keepsPortions: true)
      }
    }

    func makingStore(_ path: String, model given: String?) throws(CommandFailure) -> Counts {
      let document = try document()
      let model = try model(given, document)
      let prepared = try prepare(document, model)
      return try CommandStore.making(path, model: model.graphModel()) { store in
        try write(prepared, model, into: store, keepsPortions: false)
      }
    }

    private func document() throws(CommandFailure) -> ImportDocument {
      var progress = ProgressLine("reading", total: 1, on: console)
      progress.show("reading \(file)")
      defer { progress.finish() }
      return try InputFile.naming(file) { () throws(CommandFailure) in
        try ImportDocument(InputFile.read(file))
      }
    }

    private func model(
      _ given: String?, _ document: ImportDocument
    ) throws(CommandFailure) -> DocumentModel {
      if let given {
        return ModelArgument.isGraphModel(given)
          ? DocumentModel(try ModelArgument.model(given, console)) : try ModelFile.read(given)
      }
      return try InputFile.naming(file) { () throws(CommandFailure) in try document.givenOrInferredModel() }
    }

    private func prepare(
      _ document: ImportDocument, _ model: DocumentModel
    ) throws(CommandFailure) -> PreparedImport {
      try InputFile.naming(file) { () throws(CommandFailure) in try PreparedImport(document, model: model) }
    }

    private func write(
      _ prepared: PreparedImport, _ model: DocumentModel, into store: CommandStore, keepsPortions: Bool
    ) throws -> Counts {
      if let author { store.context.transactionAuthor = author }
      var importer = Importer(
        prepared, model: model, batchSize: batchSize, into: store, keepsPortions: keepsPortions,
        console)
      try importer.run()
      return (prepared.objects.count, prepared.linkCount)
    }
  }
}

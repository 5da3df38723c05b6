import Foundation
import Heartwood

/// Imports the objects of a JSON or CSV file into a store.
enum ImportCommand: Subcommand {
  enum Format: String, CaseIterable { case json, csv, tsv }

  static let syntax = SubcommandSyntax(
    name: "import",
    summary:
      "import objects of a JSON or CSV file, or of a store of Core Data, into a store, created if missing",
    arguments: [
      .store,
      SubcommandSyntax.Argument(
        name: "file",
        summary: "the JSON or CSV file, - for standard input; or the SQLite file of a store of Core Data"),
    ],
    options: [
      SubcommandSyntax.Option(
        name: "model", value: "file", summary: "the model of the new store (the file's own, else inferred)"),
      StoreTypeOption.option("the kind of the new store (default log)"),
      SubcommandSyntax.Option(
        name: "format", value: "json|csv|tsv", summary: "what the file is (default by its name, else json)"),
      SubcommandSyntax.Option(
        name: "entity", value: "name",
        summary: "the entity of the records of a CSV file (default the file's name)"),
      SubcommandSyntax.Option(
        name: "upsert", value: "names",
        summary: "update the objects with the same values of these: code,City.name,Issue.project+number"),
      SubcommandSyntax.Option(
        name: "batch", value: "number", summary: "how many objects go into one transaction (default 10000)"),
      .author,
    ],
    discussion: """
      A new store is made as a whole or not at all, also if the command is killed: repeat it then. A store that is there
      already keeps its model and its kind, and the file has to fit it. A file with no more objects than go into one
      transaction is imported into it whole or not at all. The whole file is checked before anything is written:
      its values and references, and that unique values are of one object only, in the file and in the store. Stores of
      type binary, JSON and XML are one file, which each transaction with one that is there writes again: give --batch more
      for large ones. Rules between objects, such as how many destinations a relationship has, are checked by an import that
      goes to memory first.

      A store of Core Data or SwiftData, such as App.sqlite or default.store, is imported into a new store only, with its
      objects' keys and its identifier. The file, its log and what is beside it stay as they are. What cannot be taken is
      said. Its model is the one that it keeps; --model is for older ones, which keep none.

      With --upsert, an object whose value of a unique attribute is in the store already updates that object: attributes and
      relationships to one get the values given, null included; relationships to many that are given for the object get the
      objects given instead of those that they have: these are deleted if the relationship deletes with its object and the
      file does not name them, and otherwise leave it. A relationship to many that is not given keeps its objects.
      The properties of a uniqueness constraint are joined with +: attributes and relationships to one, whose destinations are
      in the file or are found with @find. An attribute that the file does not give counts with its default.

      """ + ImportFormatHelp.text,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood import world.heartwood world.json",
        meaning: "makes the store with the file's own model"),
      SubcommandSyntax.Example(
        line: "heartwood import places.heartwood places.json --model model.json",
        meaning: "a list of objects, with a model written beside it (see heartwood model)"),
      SubcommandSyntax.Example(
        line: "heartwood import world.heartwood Country.csv --upsert code",
        meaning: "updates the countries that are there, and adds the others"),
      SubcommandSyntax.Example(
        line: "heartwood import world.heartwood World.sqlite",
        meaning: "makes a store of one that Core Data or SwiftData wrote"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    if let file = arguments.argument(1), CommandStore.isApple(file) {
      return try AppleImport(importing: file, to: path, arguments, console).run()
    }
    let batchSize = try arguments.count("batch") ?? 10_000
    guard batchSize > 0 else { throw .usage("--batch needs a whole number, 1 or more") }
    let job = ImportJob(
      file: arguments.argument(1) ?? "-", batchSize: batchSize, author: arguments.value("author"),
      format: try arguments.choice("format", Format.self), entity: arguments.value("entity"),
      upserts: try arguments.list("upsert") ?? [], type: try StoreTypeOption.type(arguments), console: console
    )
    let begin = ContinuousClock.now
    let counts =
      CommandStore.exists(path)
      ? try job.intoStore(path, model: arguments.value("model"))
      : try job.makingStore(path, model: arguments.value("model"))
    let seconds = begin.duration(to: .now)
    let updated = job.upserts.isEmpty ? "" : " (\(counts.updated) of them updated)"
    try console.writeLine(
      "imported \(Amount.text(counts.objects, "object"))\(updated) and \(Amount.text(counts.links, "link")) into \(path) in "
        + "\(seconds.formatted(.units(allowed: [.seconds], width: .wide, fractionalPart: .show(length: 2))))")
    return .success
  }

  private typealias Counts = (objects: Int, updated: Int, links: Int)

  private struct ImportJob {
    let file: String
    let batchSize: Int
    let author: String?
    let format: Format?
    let entity: String?
    let upserts: [String]
    let type: PersistentStore.StoreType?
    let console: any Console

    func intoStore(_ path: String, model: String?) throws(CommandFailure) -> Counts {
      guard model == nil else {
        throw .usage("\(path) is a store with a model already: --model is for a new one")
      }
      let known = CommandStore.description(path).type
      guard type == nil || type == known else {
        throw .usage(
          "\(path) is a store of type \(StoreTypeOption.name(known)): --type is for a new one; heartwood copy makes one of another type"
        )
      }
      let source = try source()
      return try CommandStore.with(path, for: .changing, console) { store in
        let model = DocumentModel(store.model)
        let prepared = try prepare(document(source, model), model, upserts(source, model))
        return try write(prepared, model, into: store, keepsPortions: true)
      }
    }

    func makingStore(_ path: String, model given: String?) throws(CommandFailure) -> Counts {
      let source = try source()
      let known = try given.map { given throws(CommandFailure) in try self.model(given) }
      let document = try document(source, known)
      let model = try naming { () throws(CommandFailure) in
        guard let known else { return try document.givenOrInferredModel() }
        return known
      }
      let prepared = try prepare(document, model, upserts(source, model))
      return try CommandStore.making(path, model: model.graphModel(), type ?? .log) { store in
        try write(prepared, model, into: store, keepsPortions: false)
      }
    }

    private enum Source {
      case json(ImportDocument)
      case csv(CSVTable)
    }

    private func source() throws(CommandFailure) -> Source {
      let format = format ?? Format(rawValue: CommandStore.url(file).pathExtension.lowercased()) ?? .json
      guard format != .json || entity == nil else {
        throw .usage("--entity is for CSV files; the objects of a JSON file have \"@id\" or \"@entity\"")
      }
      var progress = ProgressLine("reading", total: 1, on: console)
      progress.show("reading \(file)")
      defer { progress.finish() }
      return try naming { () throws(CommandFailure) in
        let bytes = try InputFile.read(file)
        guard format != .json else {
          guard !bytes.isEmpty else { throw .data("the file is empty: there are no objects in it") }
          return .json(try ImportDocument(bytes))
        }
        return .csv(try CSVTable(bytes, separator: UInt8(ascii: format == .csv ? "," : "\t")))
      }
    }

    private func document(_ source: Source, _ model: DocumentModel?) throws(CommandFailure) -> ImportDocument
    {
      switch source {
      case .json(let document): return document
      case .csv(let table):
        let entity = try entityName(model)
        return try naming { () throws(CommandFailure) in
          try ImportDocument(table, entity: entity, model: model)
        }
      }
    }

    /// The entity that is named, or that the file is named after.
    private func entityName(_ model: DocumentModel?) throws(CommandFailure) -> String {
      if let entity { return entity }
      let name = CommandStore.url(file).deletingPathExtension().lastPathComponent
      if let found = model?.entities.first(where: { $0.name.lowercased() == name.lowercased() }) {
        return found.name
      }
      guard file != "-", model == nil, Identifier.isEntity(name) else {
        throw .usage("--entity is needed: no entity is named as the file \(file)")
      }
      return name.prefix(1).uppercased() + name.dropFirst()
    }

    /// The constraints by which objects are updated; those of a CSV file are of its entity.
    private func upserts(_ source: Source, _ model: DocumentModel) throws(CommandFailure) -> [String] {
      guard case .csv = source, !upserts.isEmpty else { return upserts }
      let entity = try entityName(model)
      return upserts.map { name in
        let first = name.prefix { $0 != "." }
        let namesEntity = first.count < name.count && model.entity(named: String(first)) != nil
        return namesEntity ? name : "\(entity).\(name)"
      }
    }

    private func model(_ given: String) throws(CommandFailure) -> DocumentModel {
      ModelArgument.isGraphModel(given)
        ? DocumentModel(try ModelArgument.model(given, console)) : try ModelFile.read(given)
    }

    private func prepare(
      _ document: ImportDocument, _ model: DocumentModel, _ upserts: [String]
    ) throws(CommandFailure) -> PreparedImport {
      try naming { () throws(CommandFailure) in
        try PreparedImport(document, model: model, updatingBy: upserts)
      }
    }

    private func write(
      _ prepared: PreparedImport, _ model: DocumentModel, into store: CommandStore, keepsPortions: Bool
    ) throws -> Counts {
      if let author { store.context.transactionAuthor = author }
      var prepared = prepared
      var importer: Importer
      do {
        try prepared.findExisting(in: store)
        importer = Importer(
          prepared, model: model, batchSize: batchSize, into: store, keepsPortions: keepsPortions,
          console)
        try importer.check()
        if keepsPortions, importer.needsTrial { try tryOut(prepared, model, store) }
      } catch let failure as CommandFailure {
        throw try naming { () throws(CommandFailure) -> CommandFailure in throw failure }
      }
      try importer.run()
      return (prepared.fileCount, prepared.updatedCount, prepared.linkCount)
    }

    /// Imports into a trial of the store, which has all rules of the model. What it refuses is found before anything is written.
    private func tryOut(_ prepared: PreparedImport, _ model: DocumentModel, _ store: CommandStore) throws {
      try store.withTrial { trial in
        var prepared = prepared
        try prepared.findExisting(in: trial)
        var importer = Importer(
          prepared, model: model, batchSize: batchSize, into: trial, keepsPortions: false, as: "checking",
          console)
        try importer.run()
      }
    }

    private func naming<Result>(_ body: () throws(CommandFailure) -> Result) throws(CommandFailure) -> Result
    {
      try InputFile.naming(file, body)
    }
  }
}

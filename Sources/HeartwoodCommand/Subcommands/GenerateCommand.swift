import Foundation
import Heartwood
import HeartwoodArchives
import HeartwoodGenerating

/// Writes Swift classes for the entities of a model.
enum GenerateCommand: Subcommand {
  enum Mode: String, CaseIterable {
    case `class`, category, model
  }

  static let syntax = SubcommandSyntax(
    name: "generate",
    summary: "write Swift classes for the entities of a model",
    arguments: [
      SubcommandSyntax.Argument(
        name: "model", summary: "a model of Xcode, a JSON file as of heartwood schema, or a store")
    ],
    options: [
      SubcommandSyntax.Option(
        name: "output", value: "folder",
        summary:
          "a folder for a file of each class, or one file that ends in .swift"),
      SubcommandSyntax.Option(
        name: "mode", value: "class|category|model",
        summary: "classes, extensions of classes, or what the model says of each entity (default class)"),
      SubcommandSyntax.Option(name: "public", summary: "make the classes and their members public"),
    ],
    discussion: """
      A property is optional where the model says so, and has the default value of the model. The user info of a property
      may have its documentation, and the type of its value as swiftType, such as an enum with raw values. Entities without
      a class are left out; those of a store or a JSON file, which names no classes, get classes with their own names. A
      composite attribute gets a struct of its name, or one with Value behind it where the name is taken. A class of several
      entities is that of the first by name. A file that has not changed is not written.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood generate Library.xcdatamodeld --output Sources/Library",
        meaning: "a file for each class"),
      SubcommandSyntax.Example(
        line: "heartwood generate world.heartwood --public", meaning: "the classes of a store, to read"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    let mode = try arguments.choice("mode", Mode.self) ?? .class
    let model = try ModelArgument.model(path, console)
    var generator = ClassGenerator(
      model, isPublic: arguments.has("public"), usesEntityNames: !ModelArgument.isXcodeModel(path))
    let sources =
      switch mode {
      case .class: generator.sources { _ in .class }
      case .category: generator.sources { _ in .category }
      case .model: generator.sourcesOfModel()
      }
    for note in generator.notes { console.writeNote("heartwood: note: \(note)\n") }
    if sources.isEmpty {
      let reason =
        mode == .model
        ? "\(path) asks for no class (codeGenerationType)" : "no entity of \(path) has a class of its own"
      console.writeNote("heartwood: note: nothing is written: \(reason)\n")
    }
    guard let folder = arguments.value("output") else {
      for source in sources { try console.write(source.text + (source == sources.last ? "" : "\n")) }
      return .success
    }
    do {
      try sources.write(to: URL(filePath: folder))
    } catch {
      throw CommandFailure(
        .cannotCreate, "\(folder): can't write the classes: \(DecodingText.text(of: error))")
    }
    return .success
  }
}

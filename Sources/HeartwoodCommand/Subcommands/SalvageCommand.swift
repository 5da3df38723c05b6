import Heartwood
import HeartwoodEngine

/// Copies the readable data of a damaged store into a new one.
enum SalvageCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "salvage",
    summary: "copy the readable data of a damaged store into a new one; exit status 1 if data is lost",
    arguments: [
      .folder,
      SubcommandSyntax.Argument(name: "new", summary: "the directory of the new store, missing or empty"),
    ],
    discussion: """
      Nothing is written to the damaged store, of which anything may be missing. Each line says what could not be read. Values
      that only an older part of the log still has may be older ones. Check the new store of a graph with heartwood verify:
      where rows are lost, so are indexes and relationships that lead to them. One of keys and values: heartwood kv verify.
      """)

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    let new = arguments.argument(1) ?? ""
    try CommandStore.requireFolder(
      path, "it is read as a whole or not at all: heartwood verify says which")
    let report = try GraphFailure.catching(path) {
      try Engine.salvage(from: CommandStore.folder(path), to: CommandStore.folder(new))
    }
    for loss in report.losses { try console.writeLine(loss.description.escapingControls) }
    if report.furtherLosses > 0 { try console.writeLine("and \(report.furtherLosses) more") }
    try console.writeLine(
      "\(Amount.text(report.keys, "key")) in \(new), of generation \(report.generation.rawValue)")
    return report.isComplete ? .success : .verificationFailed
  }
}

import Heartwood
import HeartwoodEngine

/// Copies a store to another directory, or updates an earlier copy there.
enum BackupCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "backup",
    summary: "copy a store, or what is new of it, to a directory that is a store too",
    arguments: [
      .store,
      SubcommandSyntax.Argument(
        name: "directory", summary: "a new or empty directory, or one with an earlier backup of this store"),
    ],
    discussion: """
      Everything that is copied is checked. A crash leaves the earlier backup or the new one. A backup that was written
      to, or is of another store, is not replaced. To go back to a backup, copy its directory.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood backup world.heartwood /backups/world",
        meaning: "the first time all of it, after that what is new")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let target = CommandStore.url(arguments.argument(1) ?? "")
    try CommandStore.with(arguments.argument(0) ?? "", for: .reading, console) { store in
      let report = try GraphFailure.catching(arguments.argument(1) ?? "") {
        try store.coordinator.backup(to: target)
      }
      try console.writeLine(text(report))
    }
    return .success
  }

  static func text(_ report: BackupReport) -> String {
    let reused = report.reusedBytes > 0 ? ", \(Amount.bytes(report.reusedBytes)) were there already" : ""
    return "generation \(report.generation.rawValue): \(Amount.bytes(report.copiedBytes)) copied\(reused)"
  }
}

import Foundation
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
    try CommandStore.refuseApple(arguments.argument(0) ?? "")
    try backUp(arguments.argument(0) ?? "", to: arguments.argument(1) ?? "", console)
    return .success
  }

  /// Copies a store, and says what was copied. What a copy that fails has made in a new or empty directory is removed.
  static func backUp(
    _ path: String, to backup: String, _ console: any Console
  ) throws(CommandFailure) {
    try CommandStore.checkExists(path, maker: "heartwood import makes one")
    try checkPlace(backup, of: path)
    let backup = try CommandStore.folder(backup)
    try CommandStore.with(path, for: .reading, console) { store in
      let report = try GraphFailure.catching(backup) {
        try TargetDirectory.filling(backup) { try store.coordinator.backup(to: CommandStore.url(backup)) }
      }
      try console.writeLine(text(report))
    }
  }

  /// - Throws: If one of the two directories is in the other: what replaces or removes the one would remove the other with it.
  static func checkPlace(_ backup: String, of path: String) throws(CommandFailure) {
    let (inner, outer) = (CommandStore.resolved(backup), CommandStore.resolved(path))
    if inner.starts(with: outer) {
      throw .usage(
        "\(backup): it cannot be in the directory of the store; name a directory outside of \(path)")
    }
    if outer.starts(with: inner) {
      throw .usage("\(backup): the store \(path) is in this directory; name another one")
    }
  }

  static func text(_ report: BackupReport) -> String {
    let reused = report.reusedBytes > 0 ? ", \(Amount.bytes(report.reusedBytes)) were there already" : ""
    return "generation \(report.generation.rawValue): \(Amount.bytes(report.copiedBytes)) copied\(reused)"
  }
}

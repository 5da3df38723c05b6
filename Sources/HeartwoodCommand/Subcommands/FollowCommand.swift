import Foundation
import Heartwood
import HeartwoodEngine

/// Keeps a copy of a store up to date with what is shipped to a directory.
enum FollowCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "follow",
    summary: "keep a copy of a store up to date with what is shipped to a directory",
    arguments: [
      SubcommandSyntax.Argument(
        name: "directory", summary: "what the store is shipped to: see heartwood ship"),
      SubcommandSyntax.Argument(
        name: "store", summary: "a new or empty directory, or one that has followed this store before"),
    ],
    options: [SubcommandSyntax.Option(name: "once", summary: "copy what is there and end")],
    discussion: """
      Runs until it is stopped. Meanwhile any program can open the copy for reading only, and sees each save about when it
      was shipped. What is missing, altered or out of order in the directory ends the command within a second, with the
      file and the reason; the copy has what was whole before it. To go on with the copy as a store of its own, stop the
      command and open the copy for writing: it cannot follow any more then. hold, reclaim and changes lineage write, too.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood follow /backups/world copy.heartwood", meaning: "as long as it runs")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let (place, path) = (arguments.argument(0) ?? "", arguments.argument(1) ?? "")
    try BackupCommand.checkPlace(place, of: path)
    let isOnce = arguments.has("once")
    try GraphFailure.catching(place) {
      let follower = Follower(from: try FolderDestination(place), to: try CommandStore.folder(path))
      defer { follower.close() }
      if isOnce {
        try console.writeLine(text(try follower.advance()))
      } else {
        try RepeatedSteps(console).run({ follower.run($0) }, text)
      }
    }
    return .success
  }

  private static func text(_ report: FollowingReport) -> String {
    "generation \(report.generation) of \(CellValue.text(ofTime: report.time)): \(Amount.bytes(report.bytes)), "
      + "piece \(report.piece)"
  }
}

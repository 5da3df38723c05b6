import Foundation
import Heartwood
import HeartwoodEngine

/// Restores a store from what was shipped to a directory.
enum RestoreCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "restore",
    summary: "make a store of what was shipped to a directory, as it was at any time",
    arguments: [
      SubcommandSyntax.Argument(
        name: "directory", summary: "what the store was shipped to: see heartwood ship"),
      SubcommandSyntax.Argument(name: "store", summary: "a new or empty directory"),
    ],
    options: [
      SubcommandSyntax.Option(
        name: "as-of", value: "moment",
        summary: "as it was after this transaction, or at this date, such as 2026-01-31T12:00:00Z")
    ],
    discussion: """
      Without an option, the newest save that was shipped. The store is there as a whole or not at all. It is a copy that
      goes its own way: ship it to another directory than the former one. If it has exchanged change sets, it begins a
      lineage: see heartwood changes --help.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood restore /backups/world again.heartwood --as-of 2026-01-31T12:00:00Z",
        meaning: "the store as it was at noon")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let (place, path) = (arguments.argument(0) ?? "", arguments.argument(1) ?? "")
    let target = try target(arguments)
    try BackupCommand.checkPlace(place, of: path)
    try GraphFailure.catching(place) {
      let pieces = try FolderDestination(place)
      let folder = try CommandStore.folder(path)
      let report = try TargetDirectory.filling(folder) {
        try Restoration(from: pieces).restore(to: folder, at: target)
      }
      try console.writeLine(
        "generation \(report.generation): \(Amount.bytes(report.bytes)) from \(Amount.text(report.pieces, "piece"))"
      )
      try beginLineage(path, console)
    }
    return .success
  }

  /// Begins a lineage for a store that has exchanged change sets: what is saved to it now is not in the store that was shipped.
  private static func beginLineage(_ path: String, _ console: any Console) throws {
    let positions = try? CommandStore.with(path, for: .inspecting, SilentConsole()) {
      try $0.coordinator.changeSetPositions()
    }
    guard let positions, positions.count > 1 else { return }
    try CommandStore.with(path, for: .changing, console) {
      try console.writeLine("lineage \(try $0.coordinator.beginLineage())")
    }
  }

  private static func target(_ arguments: ParsedArguments) throws(CommandFailure) -> RestoreTarget {
    switch arguments.moment() {
    case nil: return .newest
    case .generation(let number): return .generation(Generation(rawValue: number))
    case .date(let date): return .time(date.latestStoreTime)
    case .hold(let text):
      throw .usage("--as-of needs a number or a date such as 2026-01-31T12:00:00Z, not \"\(text)\"")
    }
  }
}

import Heartwood
import HeartwoodEngine

/// Reclaims the space of changed and deleted objects.
enum ReclaimCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "reclaim",
    summary: "reclaim the space of changed and deleted objects",
    arguments: [.store],
    discussion: """
      All objects and the history stay. Generations from before can no longer be read where they need what was given
      back.
      """)

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    try CommandStore.with(arguments.argument(0) ?? "", for: .changing, console) { store in
      try console.writeLine(text(try store.coordinator.reclaim()))
    }
    return .success
  }

  static func text(_ space: ReclaimedSpace) -> String {
    "\(Amount.bytes(space.bytesBefore)) on disk before, \(Amount.bytes(space.bytesAfter)) now; "
      + "\(Amount.text(space.movedValues, "value")) moved"
  }
}

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
      back. A store of type binary, JSON or XML is one file, which every save writes as a whole: it has nothing to reclaim.
      """)

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    try CommandStore.with(arguments.argument(0) ?? "", for: .changing, console) { store in
      guard store.type == .log else {
        return try console.writeLine(
          "\(store.path): a store of type \(StoreTypeOption.name(store.type)) is one file, which every save writes as a whole: "
            + "there is nothing to reclaim")
      }
      try console.writeLine(text(try store.coordinator.reclaim()))
    }
    return .success
  }

  static func text(_ space: ReclaimedSpace) -> String {
    "\(Amount.bytes(space.bytesBefore)) on disk before, \(Amount.bytes(space.bytesAfter)) now; "
      + "\(Amount.text(space.movedValues, "value")) moved"
  }
}

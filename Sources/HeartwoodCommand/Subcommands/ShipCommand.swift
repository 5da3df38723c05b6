import Foundation
import HeartwoodEngine

/// Ships what is committed to a store to a directory.
enum ShipCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "ship",
    summary: "copy every save of a store to a directory, from which it is followed and restored",
    arguments: [
      .folder,
      SubcommandSyntax.Argument(
        name: "directory", summary: "a new or empty directory, or one that this store was shipped to"),
    ],
    options: [
      SubcommandSyntax.Option(name: "once", summary: "ship what is there and end"),
      SubcommandSyntax.Option(
        name: "keep", value: "days", summary: "how long to keep what was shipped (default 7)"),
    ],
    discussion: """
      Runs until it is stopped, beside the programs that use the store, which is not changed. The directory is a backup at
      every moment: all of the store once a day, and what is new in between. A store of keys and values can be shipped too.
      An error that repeating does not help ends the command.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood ship world.heartwood /backups/world", meaning: "as long as it runs"),
      SubcommandSyntax.Example(
        line: "heartwood ship world.heartwood /backups/world --once", meaning: "for a timer that runs it"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let (path, place) = (arguments.argument(0) ?? "", arguments.argument(1) ?? "")
    var options = ShippingOptions()
    if let days = try arguments.count("keep") { options.retentionSeconds = Double(days) * 86_400 }
    try CommandStore.requireFolder(path, "heartwood copy makes one of it that is a directory")
    try CommandStore.checkExists(path, maker: "heartwood import makes one")
    try BackupCommand.checkPlace(place, of: path)
    let isOnce = arguments.has("once")
    try GraphFailure.catching(path) {
      let engine = try Engine(
        at: CommandStore.folder(path), options: EngineOptions(access: .readOnly, createsStore: false))
      let destination = try FolderDestination(place, creates: true)
      let shipper = Shipper(engine, to: destination, options: options)
      if isOnce {
        try console.writeLine(text(try shipper.ship()))
      } else {
        try RepeatedSteps(console).run(shipper.run, text)
      }
      try engine.close()
    }
    return .success
  }

  private static func text(_ report: ShippingReport) -> String {
    let what = report.isBase ? "all of the store" : "what is new"
    return "generation \(report.generation): \(Amount.bytes(report.bytes)), \(what), in piece \(report.piece)"
  }
}

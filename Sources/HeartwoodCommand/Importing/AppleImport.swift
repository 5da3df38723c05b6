import Foundation
import Heartwood

/// Makes a store of one that Core Data or SwiftData wrote.
struct AppleImport {
  /// The verb of messages about the objects: `imported` or `copied`.
  private let verb: String
  private let file: String
  private let path: String
  private let model: String?
  private let type: PersistentStore.StoreType
  private let console: any Console

  /// - Throws: If there is something at the place, or options are for other files.
  init(
    importing file: String, to path: String, _ arguments: ParsedArguments, _ console: any Console
  ) throws(CommandFailure) {
    for name in ["format", "entity", "upsert", "batch", "author"] where arguments.value(name) != nil {
      throw .usage("--\(name) is for JSON and CSV files, and \(file) is a store of Core Data")
    }
    guard !CommandStore.exists(path) else {
      throw CommandFailure(
        .cannotCreate,
        "\(path): there is something here already, and a store of Core Data is imported into a new store; name another place"
      )
    }
    try self.init(verb: "imported", file, path, arguments, console)
  }

  /// - Throws: If the arguments are wrong.
  init(
    copying file: String, to path: String, _ arguments: ParsedArguments, _ console: any Console
  ) throws(CommandFailure) {
    try self.init(verb: "copied", file, path, arguments, console)
  }

  private init(
    verb: String, _ file: String, _ path: String, _ arguments: ParsedArguments, _ console: any Console
  ) throws(CommandFailure) {
    (self.verb, self.file, self.path, self.console) = (verb, file, path, console)
    model = arguments.value("model")
    type = try StoreTypeOption.type(arguments) ?? .log
  }

  func run() throws(CommandFailure) -> ExitCode {
    let begin = ContinuousClock.now
    let report = try CommandStore.with(file, for: .reading, model: model, console) { store in
      let description = PersistentStoreDescription(url: CommandStore.url(path))
      description.type = type
      try store.checkLinks()
      var line = ProgressLine("importing", total: 1, on: console)
      defer { line.finish() }
      let report = try GraphFailure.catching(path) {
        try LiveProgress.run(&line, isShown: console.showsProgress) { say in
          try store.copyContents(to: description) { say("importing \($0)") }
        }
      }
      try write(report, begin)
      if let history = try? store.context.execute(.fetchHistory(after: nil as PersistentHistoryToken?)),
        history.count > 0
      {
        console.writeNote(
          "heartwood: note: \(file): its history of \(Amount.text(history.count, "transaction")) is not in the new store; heartwood history \(file) shows it\n"
        )
      }
      return report
    }
    console.noteMissing(report.missingDestinations, in: file)
    return .success
  }

  /// Writes a report of the transfer.
  private func write(_ report: StoreTransferReport, _ begin: ContinuousClock.Instant) throws(CommandFailure) {
    let seconds = begin.duration(to: .now)
    let count = report.objects.values.reduce(0, +)
    try console.writeLine(
      "\(verb) \(Amount.text(count, "object")) and \(Amount.text(report.links, "link")) \(verb == "copied" ? "to" : "into") \(path) in "
        + "\(seconds.formatted(.units(allowed: [.seconds], width: .wide, fractionalPart: .show(length: 2))))")
    let width = report.objects.keys.map { TextWidth.columns(of: $0) }.max() ?? 0
    for (name, count) in report.objects.sorted(by: { $0.key < $1.key }) {
      try console.writeLine("  \(name.padded(toColumns: width))  \(count)")
    }
  }
}

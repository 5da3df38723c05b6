import Foundation
import Heartwood

/// Holds a generation of a store by name.
enum HoldCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "hold",
    summary: "keep a generation of a store readable, by name",
    arguments: [
      .store, SubcommandSyntax.Argument(name: "name", summary: "the name: no number, and no date"),
    ],
    options: [
      SubcommandSyntax.Option(
        name: "as-of", alias: "at", value: "number|date", summary: "a past generation (default: the newest)"),
      SubcommandSyntax.Option(
        name: "days", value: "number", summary: "how long it is kept; 0 until it is released (default 7)"),
    ],
    discussion: """
      A generation that nothing holds can be read until the space that it needs is reclaimed: see generations. A hold keeps
      its files, for every program, until release or until its days are over. Commands take the name with --as-of.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood hold world.heartwood before-cleaning", meaning: "then update, delete or import"),
      SubcommandSyntax.Example(
        line: "heartwood diff world.heartwood before-cleaning", meaning: "what has changed since"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    let name = arguments.argument(1) ?? ""
    guard Moment(name) == .hold(name) else {
      throw .usage("\"\(name)\" names a generation by its number or its date already: choose another name")
    }
    let days = try arguments.count("days") ?? 7
    let moment = arguments.moment()
    try CommandStore.requireFolder(path, "it has no past generations")
    try CommandStore.with(path, for: .changing, console) { store in
      let generation = try moment.map { try store.number(of: $0) }
      let hold = try store.coordinator.hold(
        name, generation: generation, forSeconds: days == 0 ? nil : Double(days) * 86_400)
      let end = hold.end.map { " until \(CellValue.text(ofTime: $0))" } ?? ""
      try console.writeLine("holds generation \(hold.generation.rawValue) as \(name)\(end)")
    }
    return .success
  }
}

/// Ends a hold.
enum ReleaseCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "release",
    summary: "end a hold, whose space can then be reclaimed",
    arguments: [.store, SubcommandSyntax.Argument(name: "name", summary: "the name of the hold")],
    discussion: "generations lists the holds of a store, and how much space each keeps.",
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood release world.heartwood before-cleaning",
        meaning: "then heartwood reclaim frees its space")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    let name = arguments.argument(1) ?? ""
    try CommandStore.requireFolder(path, "it has no past generations")
    try CommandStore.with(path, for: .changing, console) { store in
      guard try store.coordinator.releaseHold(name) else {
        let known = try store.coordinator.holds().map(\.name)
        throw CommandFailure.usage(
          known.isEmpty
            ? "the store has no holds"
            : "the store has no hold \"\(name)\"; it has \(known.joined(separator: ", "))")
      }
      try console.writeLine("released \(name)")
    }
    return .success
  }
}

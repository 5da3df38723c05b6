import Foundation
import Heartwood

/// Prints what differs between two generations of a store.
enum DiffCommand: Subcommand {
  enum Format: String, CaseIterable { case text, json }

  static let syntax = SubcommandSyntax(
    name: "diff",
    summary: "print what differs between two generations of a store",
    arguments: [
      .store,
      SubcommandSyntax.Argument(name: "from", summary: "the number of the earlier generation or transaction"),
      SubcommandSyntax.Argument(
        name: "to", summary: "the number of the later one (default: the newest)", isOptional: true),
    ],
    options: [
      SubcommandSyntax.Option(
        name: "entity", value: "name", summary: "only its objects and those of its subentities"),
      SubcommandSyntax.Option(name: "format", value: "text|json", summary: "how to write it (default text)"),
    ],
    discussion: """
      Each object has the values that differ, former and present, and what its to-many relationships have got and lost.
      The numbers are those of history and generations. Data that is stored outside its row has its size in place of its
      bytes, and counts as different when it was written again.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood diff world.heartwood 12", meaning: "what has changed since transaction 12"),
      SubcommandSyntax.Example(
        line: "heartwood diff world.heartwood 11 12 --format json", meaning: "what transaction 12 has changed"
      ),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    try CommandStore.refuseApple(path)
    let format = try arguments.choice("format", Format.self) ?? .text
    let from = try number(arguments.argument(1))
    let to = try arguments.argument(2).map { (text) throws(CommandFailure) in try number(text) }
    try CommandStore.with(path, for: .reading, console) { store in
      let wanted = try arguments.value("entity").map { try store.entity(named: $0) }
      let found = try store.coordinator.differences(from: from, to: to).filter { difference in
        wanted.map { difference.objectID.entity.isKindOf(entity: $0) } ?? true
      }
      switch format {
      case .text:
        for difference in found { try console.write(DifferenceText.text(difference)) }
        try console.writeLine(Amount.text(found.count, "object"))
      case .json: try console.writeLine(JSONWriter.pretty(.array(found.map(DifferenceText.json))))
      }
    }
    return .success
  }

  private static func number(_ text: String?) throws(CommandFailure) -> UInt64 {
    guard let text, let number = UInt64(text) else {
      throw .usage(
        "a generation is named by its number, such as 12, not \"\(text ?? "")\"; generations lists them")
    }
    return number
  }
}

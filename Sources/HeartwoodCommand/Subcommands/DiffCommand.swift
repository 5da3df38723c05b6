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
      SubcommandSyntax.Argument(
        name: "from",
        summary: "the earlier state: a generation's or transaction's number, a date, or the name of a hold"),
      SubcommandSyntax.Argument(name: "to", summary: "the later one (default: the newest)", isOptional: true),
    ],
    options: [
      SubcommandSyntax.Option(
        name: "entity", value: "name", summary: "only its objects and those of its subentities"),
      SubcommandSyntax.Option(name: "format", value: "text|json", summary: "how to write it (default text)"),
    ],
    discussion: """
      Each object has the values that differ, former and present, and what its to-many relationships have got and lost.
      The numbers are those of history and generations. Data that is stored outside its row has its size in place of its
      bytes: in JSON {"byteCount": 300000}.
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
    let from = Moment(arguments.argument(1) ?? "")
    let to = arguments.argument(2).map(Moment.init)
    try CommandStore.with(path, for: .reading, console) { store in
      let wanted = try arguments.value("entity").map { try store.entity(named: $0) }
      let all = try store.coordinator.differences(
        from: store.number(of: from), to: to.map { try store.number(of: $0) })
      let found = all.filter { difference in
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
}

import Foundation
import Heartwood
import HeartwoodEngine

/// Lists the generations of a store that can still be read.
enum GenerationsCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "generations",
    summary: "list the generations of a store that can still be read",
    arguments: [.store],
    options: [.format],
    discussion: """
      Every transaction makes a generation, and its number names it. fetch, count and show take --generation. A
      generation that changed no object, such as the one that made the store, has no changes here.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood fetch world.heartwood Country --generation 3",
        meaning: "the countries as they were then")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let format = try arguments.choice("format", OutputFormat.self) ?? .table
    try CommandStore.refuseApple(arguments.argument(0) ?? "")
    try CommandStore.with(arguments.argument(0) ?? "", for: .reading, console) { store in
      let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
      let history = try store.context.execute(request).transactions
      let byNumber = Dictionary(history.map { ($0.transactionNumber, $0) }, uniquingKeysWith: { $1 })
      var table = ResultTable(columns: ["generation", "date", "author", "changes", "bytes"])
      table.noun = ("generation", "generations")
      table.rows = try store.coordinator.generations().map { record in
        row(record, byNumber[Int64(clamping: record.generation.rawValue)])
      }
      try table.write(format, to: console)
    }
    return .success
  }

  private static func row(
    _ record: GenerationRecord, _ transaction: PersistentHistoryTransaction?
  ) -> [CellValue] {
    let date = transaction?.timestamp ?? Date(nanosecondsSince1970: record.time)
    return [
      .integer(Int64(clamping: record.generation.rawValue)), .date(date),
      CellValue(attribute: transaction?.author), .integer(Int64(transaction?.changes?.count ?? 0)),
      .integer(record.bytes),
    ]
  }
}

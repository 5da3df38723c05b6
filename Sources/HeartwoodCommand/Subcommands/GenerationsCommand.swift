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
      Every transaction makes a generation, and its number names it. Commands that read take it with --as-of. A
      generation that changed no object, such as the one that made the store, has no changes here. One that is held by
      name has its holds, and how many bytes reclaim could free if they were released; its own size is only known while
      the log has its transaction.

      Reclaiming space removes generations: reclaim does it, closing a small store, and the store by itself when much of its
      files is no longer live, which a transaction that changes most objects may lead to at once. A program that has one
      open keeps it.
      A migration leaves those before it in the list, but the present model cannot read them.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood fetch world.heartwood Country --as-of 3",
        meaning: "the countries as they were then")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let format = try arguments.choice("format", OutputFormat.self) ?? .table
    try CommandStore.refuseApple(arguments.argument(0) ?? "")
    try CommandStore.with(arguments.argument(0) ?? "", for: .reading, console) { store in
      let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
      let history = try store.context.execute(request).transactions
      let byNumber = Dictionary(history.map { ($0.transactionNumber, $0) }, uniquingKeysWith: { $1 })
      let holds = try Holds(store)
      var table = ResultTable(columns: ["generation", "date", "author", "changes", "bytes", "held"])
      table.noun = ("generation", "generations")
      let records = Dictionary(
        try store.coordinator.generations().map { ($0.generation.rawValue, $0) }, uniquingKeysWith: { $1 })
      table.rows = Set(records.keys).union(holds.generations).sorted().map { number in
        row(number, records[number], byNumber[Int64(clamping: number)], holds)
      }
      try table.write(format, to: console)
    }
    return .success
  }

  private static func row(
    _ number: UInt64, _ record: GenerationRecord?, _ transaction: PersistentHistoryTransaction?,
    _ holds: Holds
  ) -> [CellValue] {
    let date = transaction?.timestamp ?? record.map { Date(nanosecondsSince1970: $0.time) }
    return [
      .integer(Int64(clamping: number)), date.map(CellValue.date) ?? .null,
      CellValue(attribute: transaction?.author), .integer(Int64(transaction?.changes?.count ?? 0)),
      record.map { .integer($0.bytes) } ?? .null, holds.text(of: number).map(CellValue.text) ?? .null,
    ]
  }

  /// The holds of a store, by the numbers of their generations.
  private struct Holds {
    private let holds: [GenerationHold]
    private let bytes: [String: Int64]

    init(_ store: CommandStore) throws {
      holds = try store.coordinator.holds()
      bytes = try store.coordinator.bytesOfHolds()
    }

    var generations: [UInt64] { holds.map(\.generation.rawValue) }

    /// `before-cleaning (1.5 MiB, until 2024-01-31T12:00:00Z)`.
    func text(of number: UInt64) -> String? {
      let texts = holds.filter { $0.generation.rawValue == number }.map { hold in
        let end = hold.end.map { ", until \(CellValue.text(ofTime: $0))" } ?? ""
        return "\(hold.name) (\(Amount.bytes(bytes[hold.name] ?? 0))\(end))"
      }
      return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }
  }
}

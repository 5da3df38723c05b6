import Heartwood
import HeartwoodEngine

/// Tells how much is in a store, and what it takes.
enum StatisticsVerb: Verb {
  enum Format: String, CaseIterable { case text, json }

  static let syntax = VerbSyntax(
    name: "statistics",
    summary: "tell how many objects a store has, and what it takes on disk",
    arguments: [.store],
    options: [
      VerbSyntax.Option(name: "format", value: "text|json", summary: "for people or programs (default text)")
    ]
  )

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let format = try arguments.choice("format", Format.self) ?? .text
    try OpenStore.with(arguments.argument(0) ?? "", for: .reading, console) { store in
      let counts = try store.objectCounts()
      let engine = try store.coordinator.statistics()
      switch format {
      case .text: try console.write(text(store, counts, engine))
      case .json: try console.writeLine(JSONWriter.pretty(json(store, counts, engine)))
      }
    }
    return .success
  }

  private typealias Count = (entity: String, objects: Int)

  private static func text(_ store: OpenStore, _ counts: [Count], _ engine: EngineStatistics) -> String {
    let rows: [(String, String)] =
      [
        ("store", store.identifier), ("generation", "\(engine.generation.rawValue)"),
        ("checkpoint", engine.checkpoint.rawValue == 0 ? "none" : "\(engine.checkpoint.rawValue)"),
        ("on disk", Amount.bytes(engine.fileBytes)),
        ("log", "\(Amount.bytes(engine.logBytes)) in \(Amount.text(engine.logSegments, "segment"))"),
        ("pages", "\(Amount.bytes(engine.pageBytes)) in \(Amount.text(engine.pageSegments, "segment"))"),
        ("keys", "\(engine.keys), \(Amount.text(engine.treeLevels + 1, "level")) of tree"),
        ("objects", "\(counts.map(\.objects).reduce(0, +))"),
      ] + counts.map { ("  \($0.entity)", "\($0.objects)") }
    let width = rows.map { TextWidth.columns(of: $0.0) }.max() ?? 0
    return rows.map { "\($0.0.padded(toColumns: width))  \($0.1)\n" }.joined()
  }

  private static func json(_ store: OpenStore, _ counts: [Count], _ engine: EngineStatistics) -> JSONValue {
    .object(
      JSONObject([
        ("store", .string(store.identifier)),
        ("generation", .integer(Int64(clamping: engine.generation.rawValue))),
        ("checkpoint", .integer(Int64(clamping: engine.checkpoint.rawValue))),
        ("fileBytes", .integer(engine.fileBytes)),
        ("logBytes", .integer(engine.logBytes)), ("logSegments", .integer(Int64(engine.logSegments))),
        ("pageBytes", .integer(engine.pageBytes)), ("pageSegments", .integer(Int64(engine.pageSegments))),
        ("keys", .integer(Int64(clamping: engine.keys))),
        ("treeLevels", .integer(Int64(engine.treeLevels + 1))),
        ("objects", .object(JSONObject(counts.map { ($0.entity, .integer(Int64($0.objects))) }))),
      ]))
  }
}

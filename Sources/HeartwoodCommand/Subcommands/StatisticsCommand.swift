import Heartwood
import HeartwoodEngine

/// Prints the number of objects in a store and its size on disk.
enum StatisticsCommand: Subcommand {
  enum Format: String, CaseIterable { case text, json }

  static let syntax = SubcommandSyntax(
    name: "statistics",
    summary: "print the number of objects of a store and its size on disk",
    arguments: [.store],
    options: [
      SubcommandSyntax.Option(
        name: "format", value: "text|json", summary: "for people or programs (default text)")
    ]
  )

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let format = try arguments.choice("format", Format.self) ?? .text
    try CommandStore.with(arguments.argument(0) ?? "", for: .reading, console) { store in
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

  private static func text(_ store: CommandStore, _ counts: [Count], _ engine: EngineStatistics) -> String {
    let figures = EngineFigures(identifier: store.identifier, engine)
    let objects = [("objects", "\(counts.map(\.objects).reduce(0, +))")]
    return EngineFigures.text(figures.rows + objects + counts.map { ("  \($0.entity)", "\($0.objects)") })
  }

  private static func json(_ store: CommandStore, _ counts: [Count], _ engine: EngineStatistics) -> JSONValue
  {
    let objects = JSONObject(counts.map { ($0.entity, .integer(Int64($0.objects))) })
    let figures = EngineFigures(identifier: store.identifier, engine)
    return .object(JSONObject(figures.fields + [("objects", .object(objects))]))
  }
}

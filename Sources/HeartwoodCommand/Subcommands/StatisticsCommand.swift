import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFiles

/// Prints the number of objects in a store and its size on disk.
enum StatisticsCommand: Subcommand {
  enum Format: String, CaseIterable { case text, json }

  static let syntax = SubcommandSyntax(
    name: "statistics",
    summary: "print the number of objects of a store and its size on disk",
    arguments: [.store],
    options: [
      SubcommandSyntax.Option(
        name: "format", value: "text|json", summary: "for people or programs (default text)"),
      SubcommandSyntax.Option(
        name: "watch", summary: "go on with what changes each second, until the command is interrupted"),
      .moment, .model,
    ],
    discussion: """
      A store of type log has figures of its log, pages and tree. One of type binary, JSON or XML, or of Core Data, is
      one file, and has its size. With --watch, a line is printed for each second in which any program changed the store;
      --format json then writes the new figures. It ends if the store is moved, replaced or deleted. With --as-of, the
      objects of then are counted; the figures of files are those of now, and are left out.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood statistics world.heartwood --watch",
        meaning: "how much is saved and reclaimed meanwhile")
    ]
  )

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let format = try arguments.choice("format", Format.self) ?? .text
    let moment = arguments.moment()
    guard moment == nil || !arguments.has("watch") else {
      throw .usage("a past generation does not change: --watch goes without --as-of")
    }
    try CommandStore.with(
      arguments.argument(0) ?? "", for: .reading, model: arguments.value("model"), console
    ) { store in
      try store.pin(to: moment)
      let counts = try store.objectCounts()
      let figures = try moment.map { try pastFigures(of: store, at: $0) } ?? figures(of: store)
      switch format {
      case .text: try console.write(text(figures, counts))
      case .json: try console.writeLine(JSONWriter.pretty(json(figures, counts)))
      }
      if arguments.has("watch") {
        try watch(store, format, console) {
          CurrentThread.sleep(microseconds: 1_000_000)
          return true
        }
      }
    }
    return .success
  }

  /// Prints what changes.
  ///
  /// - Parameter wait: Waits until the figures are to be read again; returns false to end.
  static func watch(
    _ store: CommandStore, _ format: Format, _ console: any Console, _ wait: () throws -> Bool
  ) throws {
    guard store.type == .log else {
      throw CommandFailure.data("\(store.path) is one file, of which nothing can be watched: see its date")
    }
    let place = StorePlace(store.path)
    var former = try store.coordinator.statistics()
    try console.flush()
    while try wait() {
      try StorePlace.check(store.path, isAt: place)
      let changes = FigureChanges(former: former, newest: try store.coordinator.statistics())
      guard let text = changes.text else { continue }
      let figures = EngineFigures(identifier: store.identifier, changes.newest)
      try console.writeLine(format == .text ? text : JSONWriter.line(.object(JSONObject(figures.fields))))
      try console.flush()
      former = changes.newest
    }
  }

  private typealias Count = (entity: String, objects: Int)
  private typealias Figures = (rows: [(String, String)], fields: [(String, JSONValue)])

  /// The kind of the store, and what its kind has figures of.
  private static func figures(of store: CommandStore) throws -> Figures {
    let type = StoreTypeOption.name(store.type)
    guard store.type != .log else {
      let engine = EngineFigures(identifier: store.identifier, try store.coordinator.statistics())
      return (
        engine.rows.prefix(1) + [("type", type)] + engine.rows.dropFirst(),
        engine.fields.prefix(1) + [("type", .string(type))] + engine.fields.dropFirst()
      )
    }
    let attributes = try FileManager.default.attributesOfItem(atPath: CommandStore.url(store.path).path)
    let bytes = (attributes[.size] as? NSNumber)?.int64Value ?? 0
    return (
      [("store", store.identifier), ("type", type), ("on disk", Amount.bytes(bytes))],
      [("store", .string(store.identifier)), ("type", .string(type)), ("fileBytes", .integer(bytes))]
    )
  }

  /// The figures of a past generation, which shares the files with all others.
  private static func pastFigures(of store: CommandStore, at moment: Moment) throws -> Figures {
    let (type, generation) = (StoreTypeOption.name(store.type), try store.pastNumber(of: moment))
    return (
      [("store", store.identifier), ("type", type), ("generation", "\(generation)")],
      [
        ("store", .string(store.identifier)), ("type", .string(type)),
        ("generation", .integer(Int64(clamping: generation))),
      ]
    )
  }

  private static func text(_ figures: Figures, _ counts: [Count]) -> String {
    let objects = [("objects", "\(counts.map(\.objects).reduce(0, +))")]
    return EngineFigures.text(figures.rows + objects + counts.map { ("  \($0.entity)", "\($0.objects)") })
  }

  private static func json(_ figures: Figures, _ counts: [Count]) -> JSONValue {
    let objects = JSONObject(counts.map { ($0.entity, .integer(Int64($0.objects))) })
    return .object(JSONObject(figures.fields + [("objects", .object(objects))]))
  }
}

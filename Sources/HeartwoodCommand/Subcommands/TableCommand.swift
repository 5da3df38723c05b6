import Foundation
import Heartwood

/// Shows the objects of a store on the whole terminal.
enum TableCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "table",
    summary: "look at a store on the whole terminal: tables, conditions, related objects",
    arguments: [
      .store,
      SubcommandSyntax.Argument(
        name: SubcommandSyntax.Argument.entity.name,
        summary: "the entity to begin with (default: the list of all)", isOptional: true),
    ],
    options: [.moment, .model],
    discussion: """
      Arrow keys move; Page Up, Page Down, Home and End too. Enter opens the object of the row, or the one that the
      cell of a relationship leads to; of an object, Enter follows a relationship. u or Escape goes back. s sorts by
      the column of the cursor: ascending, descending, not. / is for a condition in the language of fetch --where, in
      which Tab completes names and the up key finds former ones; an empty one ends the filter, and Escape gives it
      up. r reads the store again, q ends. The last line says if the store is deleted or another one takes its place.
      Nothing is changed.
      """,
    examples: [
      SubcommandSyntax.Example(line: "heartwood table world.heartwood", meaning: "begins with the entities"),
      SubcommandSyntax.Example(
        line: "heartwood table world.heartwood Country --at 12",
        meaning: "the countries as they were at generation 12"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
      throw .usage("table needs a terminal: heartwood fetch prints objects elsewhere")
    }
    let moment = arguments.moment()
    try CommandStore.with(
      arguments.argument(0) ?? "", for: .following, model: arguments.value("model"), console
    ) { store in
      let generation = try moment.map { try store.number(of: $0) }
      let entity = try arguments.argument(1).map { try store.entity(named: $0).name ?? $0 }
      try show(
        store, generation, entity,
        usesColors: TerminalStyle.isWanted(by: ProcessInfo.processInfo.environment))
    }
    return .success
  }

  private static func show(
    _ store: CommandStore, _ generation: UInt64?, _ entity: String?, usesColors: Bool
  ) throws {
    let completion = PropertyCompletion(model: store.model)
    let size = TerminalSize.columnsAndRows(of: STDERR_FILENO)
    var screen = try TableScreen(
      TableSource(store: BrowsedStore(store, generation: generation)),
      TableList(entity.map { .objects(of: $0) } ?? .entities), width: size.columns, height: size.rows
    ) { entity, condition in completion(condition, condition.count, of: entity) }
    var shown: [String] = []
    func show(always: Bool) {
      let size = TerminalSize.columnsAndRows(of: STDERR_FILENO)
      let isResized = screen.resize(width: size.columns, height: size.rows)
      let lines = screen.lines(usesColors: usesColors)
      if always || isResized || lines != shown { Terminal.show(lines, cursor: screen.cursorColumn) }
      shown = lines
    }
    func look() {
      screen.look()
      show(always: false)
    }
    try Terminal.fullScreen(idle: look) { keys in
      repeat {
        show(always: true)
        guard let key = keys.key(), screen.handle(key) == .showing else { return }
      } while true
    }
  }
}

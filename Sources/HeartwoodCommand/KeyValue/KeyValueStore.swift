import Foundation
import Heartwood
import HeartwoodEngine

/// Opens a store of any kind as keys and values for the duration of one command.
enum KeyValueStore {
  /// Opens the store at `path` read-only and closes it after `body`.
  static func inspecting<Result>(
    _ path: String, _ console: any Console, _ body: (Engine) throws -> Result
  ) throws(CommandFailure) -> Result {
    try check(path)
    return try GraphFailure.catching(path) {
      let engine = try Engine(at: CommandStore.folder(path), options: EngineOptions(access: .readOnly))
      console.noteHidden(try engine.statistics().unrecoveredTransactions, in: path)
      return try closing(engine, body)
    }
  }

  /// Opens the store at `path` with all acknowledged transactions and closes it after `body`. Recovers the
  /// store if its writer did not close it. Without write permission it opens the store read-only, without the
  /// transactions that need recovery, and prints a note.
  static func completing<Result>(
    _ path: String, _ console: any Console, _ body: (Engine) throws -> Result
  ) throws(CommandFailure) -> Result {
    try check(path)
    return try GraphFailure.catching(path) {
      var engine = try Engine(at: CommandStore.folder(path), options: EngineOptions(access: .readOnly))
      let hidden = try engine.statistics().unrecoveredTransactions
      if hidden > 0 {
        do {
          engine = try Engine(at: CommandStore.folder(path), options: anyContent(createsStore: false))
        } catch {
          guard GraphFailure.exitCode(of: error) == .noPermission else { throw error }
          console.noteHidden(hidden, in: path)
        }
      }
      return try closing(engine, body)
    }
  }

  /// Opens the store at `path` read-only and reads one generation, by default the newest.
  static func reading<Result>(
    _ path: String, at moment: Moment?, _ console: any Console, _ body: (Snapshot) throws -> Result
  ) throws(CommandFailure) -> Result {
    try inspecting(path, console) { engine in
      let asked = try moment.map { try generation(of: $0, in: engine, path) }
      return try body(asked.map { try engine.snapshot(at: $0) } ?? engine.snapshot())
    }
  }

  private static func generation(of moment: Moment, in engine: Engine, _ path: String) throws -> Generation {
    switch moment {
    case .generation(let number): return Generation(rawValue: number)
    case .date(let date):
      let time = date.latestStoreTime
      let found = try engine.generations().last { $0.time <= time }
      guard let found else {
        throw CommandFailure(
          .noInput, "\(path): the store has no generation of \(CellValue.text(date)) or before it any more")
      }
      return found.generation
    case .hold(let name):
      guard let hold = try engine.holds().first(where: { $0.name == name }) else {
        throw CommandFailure(.noInput, "\(path): no generation of the store is held as \"\(name)\"")
      }
      return hold.generation
    }
  }

  /// Opens the store at `path` for writing and closes it after `body`. Removes a newly created store if
  /// `body` fails before anything is written.
  static func changing<Result>(
    _ path: String, creating: Bool = false, _ body: (Engine) throws -> Result
  ) throws(CommandFailure) -> Result {
    if !creating || CommandStore.exists(path) { try check(path) }
    let isNew = !FileManager.default.fileExists(atPath: path)
    return try GraphFailure.catching(path) {
      var isUseless = false
      do {
        let folder = try CommandStore.folder(path)
        return try closing(Engine(at: folder, options: anyContent(createsStore: creating))) { engine in
          // Checked while this engine is open. Another process can still write between the check and the removal.
          defer { isUseless = isNew && engine.newestGeneration.rawValue == 0 }
          return try body(engine)
        }
      } catch {
        if isUseless { try? FileManager.default.removeItem(atPath: path) }
        throw error
      }
    }
  }

  /// Whether the store at `path` has keys but no graph.
  static func holdsOnlyKeys(_ path: String) throws -> Bool {
    try closing(Engine(at: CommandStore.folder(path), options: EngineOptions(access: .readOnly))) { engine in
      let newest = try engine.snapshot()
      return try newest.count > 0 && !GraphRecognition.holdsGraph(newest)
    }
  }

  /// Options for writing that accept any content. `checkHoldsNoGraph` rejects graphs unless --force is given.
  private static func anyContent(createsStore: Bool) -> EngineOptions {
    var options = EngineOptions(createsStore: createsStore)
    options.acceptsOtherContent = true
    return options
  }

  private static func check(_ path: String) throws(CommandFailure) {
    try CommandStore.checkExists(path, maker: "heartwood kv put makes one")
    try CommandStore.requireFolder(
      path, "it has no keys; heartwood copy \(path) NEW --type log makes a store that has")
  }

  private static func closing<Result>(_ engine: Engine, _ body: (Engine) throws -> Result) throws -> Result {
    let result: Result
    do {
      result = try body(engine)
    } catch {
      // The first error is the one to report.
      try? engine.close()
      throw error
    }
    try engine.close()
    return result
  }
}

extension WriteTransaction {
  /// Throws if the store holds a graph: a change of its rows would make its indexes and links inconsistent.
  ///
  /// - Parameter arguments: May contain --force, which skips the check. The first argument is the path of the
  ///   store.
  func checkHoldsNoGraph(_ arguments: ParsedArguments) throws {
    guard !arguments.has("force"), try GraphRecognition.holdsGraph(self) else { return }
    throw CommandFailure.data(
      "\(arguments.argument(0) ?? ""): this store holds a graph, whose rows, indexes and history have to fit together; "
        + "change it with heartwood import and delete, or say --force")
  }
}

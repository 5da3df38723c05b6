import Foundation
import Heartwood
import HeartwoodEngine

/// A store of any kind that a command line names, open for the time of one command as keys and values.
enum KeyValueStore {
  /// Opens the store at `path` for reading only, and closes it behind `body`.
  static func inspecting<Result>(
    _ path: String, _ console: any Console, _ body: (Engine) throws -> Result
  ) throws(CommandFailure) -> Result {
    try CommandStore.checkExists(path, maker: maker)
    return try GraphFailure.catching(path) {
      let engine = try Engine(at: path, options: EngineOptions(access: .readOnly))
      console.noteHidden(try engine.statistics().unrecoveredTransactions, in: path)
      return try closing(engine, body)
    }
  }

  /// Opens the store at `path` with all that was acknowledged, also where its writer has not closed it, and closes it behind
  /// `body`. Where that may not be written, what is proven to be on disk has to do.
  static func completing<Result>(
    _ path: String, _ console: any Console, _ body: (Engine) throws -> Result
  ) throws(CommandFailure) -> Result {
    try CommandStore.checkExists(path, maker: maker)
    return try GraphFailure.catching(path) {
      var engine = try Engine(at: path, options: EngineOptions(access: .readOnly))
      let hidden = try engine.statistics().unrecoveredTransactions
      if hidden > 0 {
        do {
          engine = try Engine(at: path, options: anyContent(createsStore: false))
        } catch {
          guard GraphFailure.exitCode(of: error) == .noPermission else { throw error }
          console.noteHidden(hidden, in: path)
        }
      }
      return try closing(engine, body)
    }
  }

  /// Opens the store at `path` for reading only, and reads one generation of it: the newest where none is given.
  static func reading<Result>(
    _ path: String, at generation: UInt64?, _ console: any Console, _ body: (Snapshot) throws -> Result
  ) throws(CommandFailure) -> Result {
    try inspecting(path, console) { engine in
      let asked = generation.map(Generation.init(rawValue:))
      return try body(asked.map { try engine.snapshot(at: $0) } ?? engine.snapshot())
    }
  }

  /// Opens the store at `path` for writing, and closes it behind `body`. What was made is taken away again if `body`
  /// fails before anything is in it.
  static func changing<Result>(
    _ path: String, creating: Bool = false, _ body: (Engine) throws -> Result
  ) throws(CommandFailure) -> Result {
    if !creating || CommandStore.exists(path) { try CommandStore.checkExists(path, maker: maker) }
    let isNew = !FileManager.default.fileExists(atPath: path)
    return try GraphFailure.catching(path) {
      var isUseless = false
      do {
        return try closing(Engine(at: path, options: anyContent(createsStore: creating))) { engine in
          // Told while nobody else can have the store open.
          defer { isUseless = isNew && engine.newestGeneration.rawValue == 0 }
          return try body(engine)
        }
      } catch {
        if isUseless { try? FileManager.default.removeItem(atPath: path) }
        throw error
      }
    }
  }

  /// Whether the store at `path` has keys that are no graph's.
  static func holdsOnlyKeys(_ path: String) throws -> Bool {
    try closing(Engine(at: path, options: EngineOptions(access: .readOnly))) { engine in
      let newest = try engine.snapshot()
      return try newest.count > 0 && !GraphRecognition.holdsGraph(newest)
    }
  }

  /// For writing, whatever the store is marked to hold: `checkHoldsNoGraph` refuses graphs where --force is not said.
  private static func anyContent(createsStore: Bool) -> EngineOptions {
    var options = EngineOptions(createsStore: createsStore)
    options.acceptsOtherContent = true
    return options
  }

  private static let maker = "heartwood kv put makes one"

  private static func closing<Result>(_ engine: Engine, _ body: (Engine) throws -> Result) throws -> Result {
    let result: Result
    do {
      result = try body(engine)
    } catch {
      // The first failure is the one to tell.
      try? engine.close()
      throw error
    }
    try engine.close()
    return result
  }
}

extension WriteTransaction {
  /// Refuses to change a graph's rows, whose indexes and links would no longer fit to them.
  ///
  /// - Parameter arguments: Where --force may stand, and the store's path comes first.
  func checkHoldsNoGraph(_ arguments: ParsedArguments) throws {
    guard !arguments.has("force"), try GraphRecognition.holdsGraph(self) else { return }
    throw CommandFailure.data(
      "\(arguments.argument(0) ?? ""): this store holds a graph, whose rows, indexes and history have to fit together; "
        + "change it with heartwood import and delete, or say --force")
  }
}

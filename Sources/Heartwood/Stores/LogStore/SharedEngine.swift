import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// An engine that all stores on the same path in this process share.
final class SharedEngine: Sendable {
  let engine: Engine
  /// The place in the table of open engines; nil for engines that nobody can share.
  private let path: String?
  private let isReadOnly: Bool
  /// How many stores use the engine.
  private let users = Guarded(1)

  private init(_ engine: Engine, isReadOnly: Bool, path: String? = nil) {
    self.engine = engine
    self.isReadOnly = isReadOnly
    self.path = path
  }

  /// The engine on a path, opened or shared.
  ///
  /// - Throws: `EngineError`; also where the engine is open for reading only, and writing is asked for.
  static func open(
    at path: String, _ options: EngineOptions, _ fileSystem: any FileSystem
  ) throws -> SharedEngine {
    let isReadOnly = options.access == .readOnly
    guard path != memoryPath, fileSystem is PosixFileSystem else {
      return SharedEngine(
        try Engine(at: path, options: options, fileSystem: fileSystem), isReadOnly: isReadOnly)
    }
    // The table stays locked while an engine opens, so that two openers of one path never meet its lock.
    return try open.withLock { open in
      if let shared = open[path], shared.retain() {
        guard isReadOnly || !shared.isReadOnly else {
          try shared.release(&open)
          throw EngineError(
            .readOnly, "the store is open for reading only in this process; close it there first", file: path)
        }
        return shared
      }
      let engine = try Engine(at: path, options: options, fileSystem: fileSystem)
      let shared = SharedEngine(engine, isReadOnly: isReadOnly, path: path)
      open[path] = shared
      return shared
    }
  }

  /// Gives up one use; the last one closes the engine.
  func release() throws {
    // Nobody comes by the table to an engine that is not in it, and closing may take its time.
    guard path != nil else {
      if isReleasedByLast() { try engine.close() }
      return
    }
    try Self.open.withLock { try release(&$0) }
  }

  static let memoryPath = "/dev/null"
  private static let open = Guarded<[String: SharedEngine]>([:])

  /// False where the engine is closed already.
  private func retain() -> Bool {
    users.withLock { users in
      guard users > 0 else { return false }
      users += 1
      return true
    }
  }

  private func isReleasedByLast() -> Bool {
    users.withLock { users in
      guard users > 0 else { return false }
      users -= 1
      return users == 0
    }
  }

  private func release(_ open: inout [String: SharedEngine]) throws {
    guard isReleasedByLast() else { return }
    if let path, open[path] === self { open[path] = nil }
    try engine.close()
  }
}

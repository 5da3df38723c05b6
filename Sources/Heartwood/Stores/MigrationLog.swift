import Foundation

/// Says what a migration does, step by step, with the time of each.
struct MigrationLog: Sendable {
  private let write: (@Sendable (String) -> Void)?
  /// What is migrated.
  private let path: String

  /// - Parameter write: Gets each line; nil for standard error if the environment variable `HEARTWOOD_MIGRATION_DEBUG` is set to
  ///   anything but 0, and for none otherwise.
  init(_ write: (@Sendable (String) -> Void)?, path: String = "") {
    self.write = write ?? Self.standardError
    self.path = path
  }

  /// The same about the store at a path.
  func about(_ path: String) -> MigrationLog { MigrationLog(write, path: path) }

  func note(_ text: @autoclosure () -> String) { write?("migration of \(path): \(text())") }

  /// Runs a step, and notes how long it took and whether it failed.
  func step<Result>(_ name: @autoclosure () -> String, _ body: () throws -> Result) rethrows -> Result {
    guard write != nil else { return try body() }
    let start = ContinuousClock.now
    do {
      let result = try body()
      note("\(name()): \(Self.seconds(since: start))")
      return result
    } catch {
      note("\(name()): failed after \(Self.seconds(since: start)): \(error)")
      throw error
    }
  }

  private static func seconds(since start: ContinuousClock.Instant) -> String {
    String(format: "%.3f s", (ContinuousClock.now - start) / .seconds(1))
  }

  private static let standardError: (@Sendable (String) -> Void)? = {
    guard let wanted = ProcessInfo.processInfo.environment["HEARTWOOD_MIGRATION_DEBUG"], wanted != "0" else {
      return nil
    }
    return { try? FileHandle.standardError.write(contentsOf: Data("heartwood: \($0)\n".utf8)) }
  }()
}

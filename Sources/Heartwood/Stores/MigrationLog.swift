import Foundation

/// Says what a migration does, step by step, with the time of each.
struct MigrationLog: Sendable {
  private let write: (@Sendable (String) -> Void)?
  private let progress: (@Sendable (MigrationProgress) -> Void)?
  /// The path of the store that is migrated.
  private let path: String

  /// - Parameters:
  ///   - write: Gets each line; nil for standard error if the environment variable `HEARTWOOD_MIGRATION_DEBUG` is set to
  ///     anything but 0, and for none otherwise.
  ///   - progress: Is notified of the rows that are done.
  init(
    _ write: (@Sendable (String) -> Void)?, progress: (@Sendable (MigrationProgress) -> Void)? = nil,
    path: String = ""
  ) {
    self.write = write ?? Self.standardError
    self.progress = progress
    self.path = path
  }

  /// The same about the store at a path.
  func about(_ path: String) -> MigrationLog { MigrationLog(write, progress: progress, path: path) }

  /// A counter of the rows of a step.
  func counter(_ step: @autoclosure () -> String, of total: @autoclosure () throws -> Int) rethrows
    -> RowCounter?
  {
    guard write != nil || progress != nil else { return nil }
    return RowCounter(self, step(), try total())
  }

  func report(_ progress: MigrationProgress, isLine: Bool) {
    self.progress?(progress)
    if isLine { note("\(progress)") }
  }

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

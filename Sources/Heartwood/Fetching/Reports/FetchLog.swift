import Foundation

/// What one fetch did: the way to its rows, how many it read and returned, and how long it took.
///
/// `PersistentStoreDescription.fetchLog` gets one for each fetch.
public struct ExecutedFetch: Sendable, CustomStringConvertible {
  /// What was asked for.
  public enum Kind: String, Sendable {
    /// Objects, or their identifiers.
    case fetch
    /// The number of objects.
    case count
    /// Rows or dictionaries.
    case rows
  }

  /// What was asked for.
  public let kind: Kind
  /// The entity of the objects.
  public let entityName: String
  /// The steps, with the numbers of rows that were expected and found.
  public let plan: FetchPlan
  /// How many rows or entries the way to the rows returned, before conditions, order and limit.
  public let rowsRead: Int
  /// How many results there were.
  public let rowsReturned: Int
  /// How long it took, with what was done with each result.
  public let duration: Duration
  /// The error that ended it; nil if it succeeded.
  public let failure: (any Error)?

  /// One line, and an advice if an index would spare reading most of the rows, or why it failed.
  public var description: String {
    let milliseconds = String(format: "%.3f", duration / .milliseconds(1))
    let steps = plan.steps.filter { !$0.hasPrefix("advice:") }.joined(separator: "; ")
    let end =
      failure.map { "; failed: \($0)" }
      ?? plan.steps.filter { $0.hasPrefix("advice:") }.map { "; " + $0 }.joined()
    return
      "\(kind.rawValue) of \(entityName): \(steps); \(rowsRead) read, \(rowsReturned) returned, \(milliseconds) ms\(end)"
  }
}

/// Says what fetches do.
struct FetchLog: Sendable {
  private let write: @Sendable (ExecutedFetch) -> Void

  /// - Parameter write: Gets each fetch; nil for standard error if the environment variable `HEARTWOOD_FETCH_DEBUG` is set to anything but 0.
  /// - Returns: nil if no log is wanted.
  init?(_ write: (@Sendable (ExecutedFetch) -> Void)?) {
    guard let write = write ?? Self.standardError else { return nil }
    self.write = write
  }

  /// Calls `body`, and notes what it did.
  ///
  /// - Parameters:
  ///   - figures: What `body` counts.
  ///   - plan: The steps, with what was counted.
  func note<Result>(
    _ kind: ExecutedFetch.Kind, _ entity: EntityDescription, _ figures: FetchFigures,
    plan: () throws -> FetchPlan, _ body: () throws -> Result
  ) rethrows -> Result {
    func write(failure: (any Error)? = nil) {
      guard let plan = (try? plan()) ?? (failure == nil ? nil : FetchPlan(details: [])) else { return }
      self.write(
        ExecutedFetch(
          kind: kind, entityName: entity.displayName, plan: plan, rowsRead: figures.read,
          rowsReturned: figures.results, duration: figures.whole, failure: failure))
    }
    do {
      let result = try figures.time(\.whole, body)
      write()
      return result
    } catch {
      write(failure: error)
      throw error
    }
  }

  private static let standardError: (@Sendable (ExecutedFetch) -> Void)? = {
    guard let wanted = ProcessInfo.processInfo.environment["HEARTWOOD_FETCH_DEBUG"], wanted != "0" else {
      return nil
    }
    let showsSteps = wanted != "1"
    return { fetch in
      var lines = ["heartwood: \(fetch)"]
      if showsSteps { lines += fetch.plan.details.map { "heartwood:   \($0)" } }
      try? FileHandle.standardError.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
    }
  }()
}

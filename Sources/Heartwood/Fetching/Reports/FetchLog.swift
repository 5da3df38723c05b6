import Foundation

/// A fetch that was executed: the way to its rows, how many it read and returned, and how long it took.
///
/// `PersistentStoreDescription.fetchLog` gets one for each fetch, and so does its `observer`.
public struct ExecutedFetch: Sendable, CustomStringConvertible {
  /// The kind of results that were asked for.
  public enum Kind: String, Sendable {
    /// Objects, or their identifiers.
    case fetch
    /// The number of objects.
    case count
    /// Rows or dictionaries.
    case rows
  }

  /// The kind of the request.
  public let kind: Kind
  /// The entity of the objects.
  public let entityName: String
  /// The steps, with the numbers of rows that were expected and found; without steps if only an observer is told, and the fetch was not slow.
  public let plan: FetchPlan
  /// How many rows or entries the way to the rows returned, before conditions, order and limit.
  public let rowsRead: Int
  /// How many results there were.
  public let rowsReturned: Int
  /// How long it took, with what was done with each result.
  public let duration: Duration
  /// Whether it took as long as `StoreObserver.slowFetches`; false where there is no observer.
  public let isSlow: Bool
  /// The error that ended it; nil if it succeeded.
  public let failure: (any Error)?

  /// Which index would spare reading most of the rows; nil if none would, or if there is no plan.
  public var advice: String? {
    plan.steps.first { $0.hasPrefix(Self.advice) }.map { String($0.dropFirst(Self.advice.count)) }
  }
  private static let advice = "advice: "

  /// One line, and an advice if an index would spare reading most of the rows, or why it failed.
  public var description: String {
    let milliseconds = String(format: "%.3f", duration / .milliseconds(1))
    let steps = plan.steps.filter { !$0.hasPrefix(Self.advice) }.joined(separator: "; ")
    let end = failure.map { "; failed: \($0)" } ?? advice.map { "; \(Self.advice)\($0)" } ?? ""
    let way = steps.isEmpty ? "" : " \(steps);"
    return
      "\(kind.rawValue) of \(entityName):\(way) \(rowsRead) read, \(rowsReturned) returned, \(milliseconds) ms\(end)"
  }
}

/// Says what fetches do.
struct FetchLog: Sendable {
  private let write: (@Sendable (ExecutedFetch) -> Void)?
  private let observer: StoreObserver?

  /// - Parameters:
  ///   - write: Gets each fetch; nil for standard error if the environment variable `HEARTWOOD_FETCH_DEBUG` is set to anything but 0.
  ///   - observer: Is notified of each fetch.
  /// - Returns: nil if no log is wanted.
  init?(_ write: (@Sendable (ExecutedFetch) -> Void)?, _ observer: StoreObserver?) {
    self.write = write ?? Self.standardError
    self.observer = observer
    guard self.write != nil || observer != nil else { return nil }
  }

  /// The figures of a fetch. An observer gets no times of steps, which would be taken for every row.
  func makeFigures() -> FetchFigures { FetchFigures(timesSteps: write != nil) }

  /// Calls `body`, and notes what it did.
  ///
  /// - Parameters:
  ///   - figures: The figures that `body` counts.
  ///   - plan: The steps, with what was counted.
  func note<Result>(
    _ kind: ExecutedFetch.Kind, _ entity: EntityDescription, _ figures: FetchFigures,
    plan: () throws -> FetchPlan, _ body: () throws -> Result
  ) rethrows -> Result {
    func tell(failure: (any Error)? = nil) {
      let isSlow = observer.map { figures.whole >= $0.slowFetches } ?? false
      let explained = write != nil || isSlow ? try? plan() : FetchPlan(details: [])
      guard let plan = explained ?? (failure == nil ? nil : FetchPlan(details: [])) else { return }
      let fetch = ExecutedFetch(
        kind: kind, entityName: entity.displayName, plan: plan, rowsRead: figures.read,
        rowsReturned: figures.results, duration: figures.whole, isSlow: isSlow, failure: failure)
      write?(fetch)
      observer?.tell(.fetched(fetch))
    }
    do {
      let result = try figures.timeWhole(body)
      tell()
      return result
    } catch {
      tell(failure: error)
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

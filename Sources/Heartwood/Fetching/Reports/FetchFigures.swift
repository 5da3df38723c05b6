/// Counts and times of an execution that is analysed, logged or observed.
final class FetchFigures {
  /// Whether the steps are timed, and not only everything.
  let timesSteps: Bool
  /// The rows that the access returned.
  var read = 0
  /// Those of the request's entity that the context has not changed.
  var ofEntity = 0
  /// Those that satisfy the condition.
  var matching = 0
  /// The results.
  var results = 0
  var filtering = Duration.zero
  var sorting = Duration.zero
  /// Everything.
  private(set) var whole = Duration.zero

  init(timesSteps: Bool = true) { self.timesSteps = timesSteps }

  /// The time of the access, and of everything that has no time of its own; nil if the steps are not timed.
  var reading: Duration? { timesSteps ? whole - filtering - sorting : nil }

  /// The time of a step; nil if the steps are not timed.
  func duration(of step: KeyPath<FetchFigures, Duration>) -> Duration? {
    timesSteps ? self[keyPath: step] : nil
  }

  /// Runs a step, and adds its time if the steps are timed.
  @inline(__always)
  func time<Result>(
    _ step: ReferenceWritableKeyPath<FetchFigures, Duration>, _ body: () throws -> Result
  ) rethrows -> Result {
    guard timesSteps else { return try body() }
    let start = ContinuousClock.now
    defer { self[keyPath: step] += ContinuousClock.now - start }
    return try body()
  }

  /// Runs the execution, and takes its time.
  func timeWhole<Result>(_ body: () throws -> Result) rethrows -> Result {
    let start = ContinuousClock.now
    defer { whole += ContinuousClock.now - start }
    return try body()
  }
}

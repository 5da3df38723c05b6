/// What is counted and timed of an execution that is analysed.
final class FetchFigures {
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
  var whole = Duration.zero

  /// The time of the access, and of everything that has no time of its own.
  var reading: Duration { whole - filtering - sorting }

  @inline(__always)
  func time<Result>(
    _ total: ReferenceWritableKeyPath<FetchFigures, Duration>, _ body: () throws -> Result
  ) rethrows -> Result {
    let start = ContinuousClock.now
    defer { self[keyPath: total] += ContinuousClock.now - start }
    return try body()
  }
}

/// The offset and limit of a request, counted down.
struct ResultWindow {
  var toSkip: Int
  private var toTake: Int

  /// - Parameter limit: The maximum number of results, not 0; nil for all.
  init(offset: Int, limit: Int?) {
    toSkip = offset
    toTake = limit ?? .max
  }

  /// Passes a result to `body` if it is in the window. Returns false once no more results are needed.
  @inline(__always)
  mutating func take<Result>(_ result: Result, _ body: (Result) throws -> Bool) throws -> Bool {
    guard toSkip == 0 else {
      toSkip -= 1
      return true
    }
    toTake -= 1
    return try body(result) && toTake > 0
  }
}

import Heartwood
import Tracing

extension ManagedObjectContext {
  /// As `perform`, and what `body` does in the context is a part of the caller's span: a queue does not know the task that it works for.
  ///
  /// - Throws: The error of `body`.
  public func performTraced<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    guard let current = ServiceContext.current else { return try await perform(body) }
    return try await perform { try ServiceContext.withValue(current, operation: body) }
  }
}

import Dispatch
import Foundation
import HeartwoodFiles

/// The coordinator's queue: runs blocks one at a time. The coordinator's methods may also be called outside of it, from any
/// thread.
extension PersistentStoreCoordinator {
  /// Runs `block` on the coordinator's queue and waits for it. Calls may be nested.
  ///
  /// - Throws: The error of `block`.
  public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
    let callers = Self.callers.current ?? []
    if callers.contains(ObjectIdentifier(self)) { return try block() }
    return try queue.sync { try Self.callers.with(callers + [ObjectIdentifier(self)], block) }
  }

  /// Schedules `block` on the coordinator's queue and returns at once.
  @_disfavoredOverload
  public func perform(_ block: @escaping @Sendable () -> Void) {
    Self.callers.run(block, on: queue, with: [ObjectIdentifier(self)])
  }

  /// Runs `block` on the coordinator's queue and returns its result.
  ///
  /// - Throws: The error of `block`.
  @_disfavoredOverload
  public func perform<Result: Sendable, Failure: Error>(
    _ block: @escaping @Sendable () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    try await handedOver({ Swift.Result { () throws(Failure) in try block() } }, through: { perform($0) })
      .get()
  }

  /// The coordinators on whose queues the current call runs or for which it is waited.
  private static let callers = ThreadValue<[ObjectIdentifier]>()
}

import HeartwoodFiles
import Synchronization

/// Whether an open store may still be used, and written. Asking takes no lock: every read does.
final class StoreStatus: Sendable {
  private let hasClosed = Atomic(false)
  private let hasStopped = Atomic(false)
  private let failure = Guarded<EngineError?>(nil)

  /// True after the end of `close`.
  var isClosed: Bool { hasClosed.load(ordering: .acquiring) }

  /// True after a sync has failed.
  var isStopped: Bool { hasStopped.load(ordering: .acquiring) }

  func close() { hasClosed.store(true, ordering: .releasing) }

  /// Nothing is written any more: what a sync that failed was to make durable may or may not be on disk,
  /// and asking again would be answered wrongly.
  func stop(_ error: EngineError) {
    failure.withLock { $0 = $0 ?? error }
    hasStopped.store(true, ordering: .releasing)
  }

  func checkOpen() throws(EngineError) {
    if isClosed { throw Self.closed }
  }

  static var closed: EngineError { EngineError(.closed, "the store is closed; open it again") }

  func checkWritable() throws(EngineError) {
    try checkOpen()
    guard isStopped, let failure = failure.withLock({ $0 }) else { return }
    throw EngineError(
      .stopped, "nothing is written since a sync failed; close the store and open it again",
      file: failure.file,
      underlying: failure)
  }
}

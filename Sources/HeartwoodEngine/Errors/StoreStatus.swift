import HeartwoodFiles
import Synchronization

/// Whether an open store can still be used, and written. The flags are read without a lock, because every read checks
/// them.
final class StoreStatus: Sendable {
  private let hasClosed = Atomic(false)
  private let hasStopped = Atomic(false)
  private let failure = Guarded<EngineError?>(nil)

  /// True after `close` has ended.
  var isClosed: Bool { hasClosed.load(ordering: .acquiring) }

  /// True after a sync has failed.
  var isStopped: Bool { hasStopped.load(ordering: .acquiring) }

  func close() { hasClosed.store(true, ordering: .releasing) }

  /// Disables writing after a failed sync: its bytes may or may not be on disk, and the system may report success if
  /// the sync is repeated. Keeps the first error.
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
    if failure.code == .replaced { throw failure }
    throw EngineError(
      .stopped, "writing is disabled because a sync failed; close the store and open it again",
      file: failure.file,
      underlying: failure)
  }
}

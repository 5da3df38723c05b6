import HeartwoodFiles

/// Whether an open store may still be used, and written.
final class StoreStatus: @unchecked Sendable {
  private let lock = Lock()
  private var closed = false
  private var failure: EngineError?

  /// True after the end of `close`.
  var isClosed: Bool { lock.withLock { closed } }

  /// True after a sync has failed.
  var isStopped: Bool { lock.withLock { failure != nil } }

  func close() { lock.withLock { closed = true } }

  /// Nothing is written any more: what a sync that failed was to make durable may or may not be on disk,
  /// and asking again would be answered wrongly.
  func stop(_ error: EngineError) {
    lock.withLock { failure = failure ?? error }
  }

  func checkOpen() throws(EngineError) {
    guard !isClosed else { throw EngineError(.closed, "the store is closed; open it again") }
  }

  func checkWritable() throws(EngineError) {
    try checkOpen()
    guard let failure = lock.withLock({ failure }) else { return }
    throw EngineError(
      .stopped, "nothing is written since a sync failed; close the store and open it again",
      file: failure.file,
      underlying: failure)
  }
}

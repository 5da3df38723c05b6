import HeartwoodFiles

/// Syncs the log, one sync at a time: the system reports a failure to one caller only, but all callers must
/// see it.
final class LogSyncs: Sendable {
  private let status: StoreStatus
  /// Whether the store does no syncs (`Durability.none`).
  private let isOff: Bool
  /// Nil in tests of this type.
  private let place: StorePlace?
  private let lock = Lock()

  init(_ status: StoreStatus, isOff: Bool, _ place: StorePlace? = nil) {
    self.status = status
    self.isOff = isOff
    self.place = place
  }

  /// Makes a request's part of the log durable. A failure disables writing, and so does a store whose files were deleted or replaced.
  func sync(_ request: SyncRequest) throws(EngineError) {
    guard !isOff else { return }
    try lock.withLock { () throws(EngineError) in
      // The failed sync of another thread may have covered this request's bytes.
      try status.checkWritable()
      do throws(FileSystemError) {
        try request.sync()
      } catch {
        let failure = EngineError.files(error, "the log could not be synced")
        status.stop(failure)
        throw failure
      }
      do throws(EngineError) { try place?.check(request.files) } catch {
        status.stop(error)
        throw error
      }
    }
  }
}

import HeartwoodFiles

/// Syncs the log, one sync at a time: a failure is told to one caller only, and has to reach all.
final class LogSyncs: Sendable {
  private let status: StoreStatus
  /// A store that is opened so does none.
  private let isOff: Bool
  private let lock = Lock()

  init(_ status: StoreStatus, isOff: Bool) {
    self.status = status
    self.isOff = isOff
  }

  /// Makes what was appended durable. A failure stops the writer.
  func sync(_ request: SyncRequest) throws(EngineError) {
    guard !isOff else { return }
    try lock.withLock { () throws(EngineError) in
      // Whoever failed before may have been told what was meant for this sync.
      try status.checkWritable()
      do throws(FileSystemError) {
        try request.sync()
      } catch {
        let failure = EngineError.files(error, "the log could not be synced")
        status.stop(failure)
        throw failure
      }
    }
  }
}

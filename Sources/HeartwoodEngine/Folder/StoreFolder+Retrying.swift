import HeartwoodFiles

/// Reading a store's files while another process may unlink them or recover the log.
extension StoreFolder {
  /// Identifies a state of the store's files, to detect changes by other processes.
  struct Version: Equatable {
    /// Counter of the newest published record; nil if there is none.
    var record: UInt64?
    /// Both slots of the anchor, because a process that has the store exclusively publishes nothing while it
    /// recovers the log.
    var anchor: [UInt8]
  }

  /// - Complexity: Two reads of some hundred bytes.
  func version() throws(EngineError) -> Version {
    let record = try newestRecord()?.counter
    let file = try open(Self.anchorName, .readOnly)
    defer { try? file.close() }
    let bytes = try Self.read(
      file, at: 0, count: 2 * Format.anchorBlockBytes, path: path(of: Self.anchorName))
    return Version(record: record, anchor: bytes)
  }

  /// Repeats `body` if it throws a stale error, or returns an incomplete value, while the store may be changing:
  /// its version has changed since `body` began, or a process holds the writer lease. A writer announces a
  /// recovery or a compaction before it unlinks files, and may be in the middle of it.
  ///
  /// - Parameter seconds: The longest time to repeat for; a result after that is final.
  func retryingIfChanged<Value, Version: Equatable>(
    seconds: Double, version: () throws(EngineError) -> Version, isWhole: (Value) -> Bool = { _ in true },
    _ body: () throws(EngineError) -> Value
  ) throws(EngineError) -> Value {
    var backoff = Backoff(seconds: seconds)
    while true {
      let before = try version()
      let result = Result { () throws(EngineError) in try body() }
      let mayBeStale =
        switch result {
        case .success(let value): !isWhole(value)
        case .failure(let error): error.isStale
        }
      guard mayBeStale else { return try result.get() }
      // In this order: if a writer publishes and releases the lease in between, the version has changed.
      var isChanging = try isWritten()
      if !isChanging { isChanging = try version() != before }
      guard isChanging, backoff.wait() else { return try result.get() }
    }
  }

  private func isWritten() throws(EngineError) -> Bool { try newestRecord()?.isHeld == true }
}

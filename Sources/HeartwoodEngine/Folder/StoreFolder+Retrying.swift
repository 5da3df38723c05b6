import HeartwoodFiles

/// Reading a store's files while another process may unlink them, or write the log anew after a recovery.
extension StoreFolder {
  /// What tells that another process has changed files of the store.
  struct Version: Equatable {
    /// Of the newest record that processes have published; nil where there is none.
    var record: UInt64?
    /// Both slots of the anchor: a process that has the store to itself publishes nothing while it recovers it.
    var anchor: [UInt8]
  }

  /// - Complexity: two reads, of some hundred bytes.
  func version() throws(EngineError) -> Version {
    let record = try newestRecord()?.counter
    let file = try open(Self.anchorName, .readOnly)
    defer { try? file.close() }
    let bytes = try Self.read(
      file, at: 0, count: 2 * Format.anchorBlockBytes, path: path(of: Self.anchorName))
    return Version(record: record, anchor: bytes)
  }

  /// Runs `body` again where it throws `.damaged`, or returns what is not whole, and the store has changed since it began, or a
  /// process holds the writer lease: that one announces a recovery or a compaction before it unlinks files, and may be in the
  /// middle of it. What is still damaged after `seconds` is damage.
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
        case .failure(let error): error.code == .damaged
        }
      guard mayBeStale else { return try result.get() }
      // In this order: a writer that publishes and releases the lease in between has changed the version.
      var isChanging = try isWritten()
      if !isChanging { isChanging = try version() != before }
      guard isChanging, backoff.wait() else { return try result.get() }
    }
  }

  private func isWritten() throws(EngineError) -> Bool { try newestRecord()?.isHeld == true }
}

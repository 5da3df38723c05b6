import HeartwoodFiles

/// Reading a store's files while another process may unlink them or recover the log.
extension StoreFolder {
  /// Identifies a state of the store's files, to detect changes by other processes.
  ///
  /// A process that unlinks files writes the anchor first, and is attached until after it. So the anchor is read
  /// first: either it changes later, or the record of the process that wrote it does, or that process detaches.
  struct Version: Equatable {
    /// Both slots of the anchor, because a process that has the store exclusively publishes nothing while it
    /// recovers the log.
    var anchor: [UInt8]
    /// Counter of the newest record, also of a process that has ended.
    var record: UInt64
    /// Whether a process is attached.
    var isAttached: Bool
    /// How often processes have attached beside others: one that attaches and gives up publishes nothing.
    var attaches: UInt64
  }

  /// - Complexity: Two reads of some hundred bytes.
  func version() throws(EngineError) -> Version {
    let file = try open(Self.anchorName, .readOnly)
    defer { try? file.close() }
    let anchor = try Self.read(
      file, at: 0, count: 2 * Format.anchorBlockBytes, path: path(of: Self.anchorName))
    let word = try publishedRecord()
    return Version(
      anchor: anchor, record: word.counter, isAttached: word.record != nil, attaches: try attachCount())
  }

  /// Repeats `body` if it throws a stale error, or returns an incomplete value, while the store may be changing:
  /// its version has changed since `body` began, `body` was overtaken, or a process holds the writer lease. A writer announces a
  /// recovery or a compaction before it unlinks files, and may be in the middle of it.
  ///
  /// - Parameter seconds: The longest time to repeat for; a result after that is final, except the first few.
  func retryingIfChanged<Value, Version: Equatable>(
    seconds: Double, version: () throws(EngineError) -> Version, isWhole: (Value) -> Bool = { _ in true },
    _ body: () throws(EngineError) -> Value
  ) throws(EngineError) -> Value {
    var backoff = Backoff(seconds: seconds, guaranteedPauses: Self.guaranteedRepetitions)
    while true {
      let before = try version()
      let result = Result { () throws(EngineError) in try body() }
      var isOvertaken = false
      let mayBeStale: Bool
      switch result {
      case .success(let value): mayBeStale = !isWhole(value)
      case .failure(let error): (mayBeStale, isOvertaken) = (error.isStale, error.isOvertaken)
      }
      guard mayBeStale else { return try result.get() }
      // In this order: if a writer publishes and releases the lease in between, the version has changed.
      var isChanging = try isWritten()
      if !isChanging { isChanging = try version() != before }
      isChanging = isChanging || isOvertaken
      guard isChanging, backoff.wait() else { return try result.get() }
    }
  }

  /// Repetitions whatever the time. A process that was suspended during the first attempt, while another one compacted the
  /// store, finds the new files with the next.
  static let guaranteedRepetitions = 4

  private func isWritten() throws(EngineError) -> Bool { try newestRecord()?.isHeld == true }
}

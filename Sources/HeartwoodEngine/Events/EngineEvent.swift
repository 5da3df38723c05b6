/// Something that an open store has done, with how much and how long: for logs, counters and spans.
///
/// `EngineOptions.events` gets them. Later versions may add cases.
public enum EngineEvent: Hashable, Sendable {
  /// A store was opened or created.
  case opened(OpenedStore)
  /// A write transaction was committed.
  case committed(CommittedTransaction)
  /// The tree was written to disk.
  case checkpointed(FinishedCheckpoint)
  /// Space of overwritten and deleted values was reclaimed.
  case compacted(FinishedCompaction)

  /// How long it took.
  public var duration: Duration {
    switch self {
    case .opened(let opened): opened.duration
    case .committed(let transaction): transaction.duration
    case .checkpointed(let checkpoint): checkpoint.duration
    case .compacted(let compaction): compaction.duration
    }
  }
}

/// A report on the opening of a store.
public struct OpenedStore: Hashable, Sendable {
  /// The newest generation.
  public var generation: Generation
  /// Bytes of the log after the last checkpoint, which were applied to the tree.
  public var replayedBytes: Int
  /// Whether the store had not been closed, so that the end of its log was recovered.
  public var isRecovered: Bool
  /// From the call until the store could be read.
  public var duration: Duration
}

/// A write transaction that was committed.
public struct CommittedTransaction: Hashable, Sendable {
  /// The generation that it made.
  public var generation: Generation
  /// Bytes that it appended to the log.
  public var logBytes: Int
  /// How long it waited, before its closure ran, for other writers: threads, processes, and compaction that is slower than the writes.
  public var waited: Duration
  /// From the call until it was published, and durable if it was to be: with the wait, its closure and its sync.
  public var duration: Duration
}

/// A checkpoint that was taken.
public struct FinishedCheckpoint: Hashable, Sendable {
  /// The generation whose tree was written.
  public var generation: Generation
  /// How many pages were written.
  public var pages: Int
  /// How long it took.
  public var duration: Duration
}

/// A compaction that reclaimed the space of segments.
public struct FinishedCompaction: Hashable, Sendable {
  /// How many files it emptied.
  public var files: Int
  /// How many live values it moved out of them.
  public var movedValues: Int
  /// Bytes of log that the moved values take.
  public var movedBytes: Int
  /// How long it took, with its last checkpoint.
  public var duration: Duration
}

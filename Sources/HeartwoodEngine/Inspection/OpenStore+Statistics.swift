/// One transaction in the log.
public struct GenerationRecord: Hashable, Sendable {
  /// The generation that it made.
  public let generation: Generation
  /// The commit time by the clock of the machine that committed, in nanoseconds since 1970.
  public let time: Int64
  /// The number of its puts.
  public let puts: UInt64
  /// The number of keys it deleted.
  public let deletes: UInt64
  /// Its size in the log, in bytes.
  public let bytes: Int64
  /// Whether the store made the transaction to move values. Its generation has the same content as the one
  /// before.
  public let isInternal: Bool
}

/// The content and size of a store in numbers.
public struct EngineStatistics: Hashable, Sendable {
  /// The newest generation.
  public var generation: Generation
  /// The number of keys.
  public var keys: UInt64
  /// The number of branch levels above each leaf of the tree.
  public var treeLevels: Int
  /// The generation of the newest checkpoint; 0 if there is none.
  public var checkpoint: Generation
  /// Bytes of the log in use, without preallocation.
  public var logBytes: Int64
  /// The number of log segments.
  public var logSegments: Int
  /// Bytes of the tree's pages on disk, including older versions of them.
  public var pageBytes: Int64
  /// The number of page segments.
  public var pageSegments: Int
  /// Bytes of all files of the store.
  public var fileBytes: Int64
  /// Bytes of the tree in memory.
  public var memoryBytes: Int64
  /// The oldest generation that a snapshot holds; nil if none is held.
  public var oldestPinned: Generation?
  /// The number of transactions at the end of the log that a store open for reading only leaves out, because
  /// the writer did not close the store and nothing proves them durable. Opening the store for writing
  /// recovers them.
  public var unrecoveredTransactions: Int
}

extension OpenStore {
  func statistics() throws(EngineError) -> EngineStatistics {
    try status.checkOpen()
    // Before this call pins one itself.
    let oldestPinned = generations.oldestPinned
    let pinned = PinnedGeneration(generations)
    let (checkpoint, parts, fileBytes) = try checkpoints.withLock { () throws(EngineError) in
      (newestCheckpoint, pages.parts, try self.fileBytes())
    }
    let path = log.segments
    return EngineStatistics(
      generation: Generation(rawValue: pinned.pin.generation), keys: pinned.pin.root.count,
      treeLevels: pinned.pin.root.level,
      checkpoint: Generation(rawValue: checkpoint?.record.generation ?? 0), logBytes: logBytes(path),
      logSegments: path.count,
      pageBytes: parts.reduce(0) { $0 + Int64($1.extent.pages) * Int64(Format.pageBytes) },
      pageSegments: parts.count, fileBytes: fileBytes, memoryBytes: Int64(space.arenaBytesInUse),
      oldestPinned: oldestPinned.map(Generation.init(rawValue:)),
      unrecoveredTransactions: unrecoveredTransactions)
  }

  private func logBytes(_ path: [LogSegment]) -> Int64 {
    let end = log.published.position
    return path.reduce(0) { sum, segment in
      sum + Int64(segment.number == end.segment ? end.offset : log.path.end(of: segment.number)?.offset ?? 0)
    }
  }

  func fileBytes() throws(EngineError) -> Int64 {
    var total: Int64 = 0
    // Other processes may delete files meanwhile, and unrelated files may be anything.
    for name in try folder.entries() where StoreFolder.isFile(name) {
      total += Int64(try folder.size(ofFile: name) ?? 0)
    }
    return total
  }

  func generationRecords() throws(EngineError) -> [GenerationRecord] {
    try status.checkOpen()
    let oldest = try oldestAvailable()
    let path = log.path.tail
    let end = log.published
    guard let first = path.first else { return [] }
    var records: [GenerationRecord] = []
    var walk = try LogWalk(path[...], from: first.header.firstPoint, upTo: end.position)
    var bytes: Int64 = 0
    while let frame = try walk.nextOutline() {
      guard frame.header.kind == Format.transactionKind else { continue }
      bytes += Int64(frame.header.totalBytes)
      guard frame.header.isLast else { continue }
      defer { bytes = 0 }
      guard frame.header.transaction >= oldest else { continue }
      records.append(
        GenerationRecord(
          generation: Generation(rawValue: frame.header.transaction), time: frame.header.time,
          puts: frame.header.puts, deletes: frame.header.deletes, bytes: bytes,
          isInternal: frame.header.flags & Format.internalFlag != 0))
    }
    guard walk.point.position == end.position else {
      throw EngineError.damaged(
        "the log is damaged: a frame is not readable; run verify, and restore the file from a backup",
        file: walk.segment.path, offset: walk.point.position.offset)
    }
    return records
  }
}

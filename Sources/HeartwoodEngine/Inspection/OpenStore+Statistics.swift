/// One transaction that the log has.
public struct GenerationRecord: Hashable, Sendable {
  /// The generation that it made.
  public let generation: Generation
  /// When it was committed, by the clock of the machine that did, in nanoseconds since 1970.
  public let time: Int64
  /// How many times it gave a key a value.
  public let puts: UInt64
  /// How many keys it took away.
  public let deletes: UInt64
  /// What it takes in the log.
  public let bytes: Int64
  /// Whether the store itself has made it, to move what lives: it holds what the one before it holds.
  public let isInternal: Bool
}

/// What a store holds and takes.
public struct EngineStatistics: Hashable, Sendable {
  /// The newest generation.
  public var generation: Generation
  /// How many keys there are.
  public var keys: UInt64
  /// How many branches lie above each leaf of the tree.
  public var treeLevels: Int
  /// The generation of the newest checkpoint; 0 where there is none.
  public var checkpoint: Generation
  /// Bytes of the log in use, the zeros ahead of its end not counted.
  public var logBytes: Int64
  /// How many segments the log has.
  public var logSegments: Int
  /// Bytes of the tree's pages on disk, older versions of them included.
  public var pageBytes: Int64
  /// How many segments the pages have.
  public var pageSegments: Int
  /// Bytes of all files of the store.
  public var fileBytes: Int64
  /// Bytes of the tree in memory.
  public var memoryBytes: Int64
  /// The oldest generation that a snapshot holds; nil where none is held.
  public var oldestPinned: Generation?
  /// Transactions at the end of the log that a store open for reading only leaves out, as whoever wrote them did not
  /// close the store and nothing proves that they are on disk. Opening for writing brings them in.
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
    // Others may give files back meanwhile, and what is not the store's may be anything.
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

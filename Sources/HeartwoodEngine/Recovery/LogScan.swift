/// The result of reading the log from a checkpoint to its end.
struct LogScan {
  /// The frames in order, each fully verified.
  private(set) var frames: [ScannedFrame] = []
  /// Position after the last complete transaction or checkpoint.
  private(set) var validEnd: LogPoint
  /// Number of `frames` before `validEnd`.
  private(set) var validCount = 0
  /// Sequence number of the last frame that is known to have been synced, by the anchor or by later frames.
  private(set) var lastDurableSequence: UInt64
  /// Position after the last complete transaction or checkpoint that is known to be durable. `durableCount`
  /// is the number of `frames` before it.
  private(set) var durableEnd: LogPoint
  private(set) var durableCount = 0

  /// Number of complete transactions that are not known to be durable.
  var undurableTransactions: Int {
    frames[durableCount..<validCount].count { $0.header.kind == Format.transactionKind && $0.header.isLast }
  }

  /// Reads all frames after `start`.
  ///
  /// An unreadable frame ends the log as a torn write if nothing shows that it was ever synced. Otherwise it
  /// is damage, and the initialiser throws instead of dropping transactions.
  ///
  /// - Parameters:
  ///   - knownDurable: The durable end that the anchor names.
  ///   - exactly: Whether the log must end exactly at `knownDurable`.
  /// - Throws: `.damaged`.
  init(_ path: [LogSegment], from start: LogPoint, knownDurable: LogPoint, exactly: Bool) throws(EngineError)
  {
    validEnd = start
    durableEnd = start
    lastDurableSequence = knownDurable.sequence &- 1
    var walk = try LogWalk(path[...], from: start, upTo: exactly ? knownDurable.position : nil)
    var transaction = start.generation
    var isInside = false
    while let frame = try walk.next() {
      try Self.check(frame, after: transaction, isInside: isInside, in: walk.segment)
      frames.append(frame)
      lastDurableSequence = max(lastDurableSequence, frame.header.durableThrough)
      isInside = frame.header.kind == Format.transactionKind && !frame.header.isLast
      if frame.header.kind == Format.transactionKind, !isInside { transaction = frame.header.transaction }
      if !isInside {
        validEnd = walk.point
        validCount = frames.count
      }
    }
    // Skips segments without frames, up to the start of the last one.
    if !isInside { validEnd = walk.point }
    try refuseDamage(at: walk, exactEnd: exactly ? knownDurable : nil)
    findDurableEnd(start)
  }

  /// Checks that the frame continues the log. Its checksum matches, so a wrong order was written that way.
  private static func check(
    _ frame: ScannedFrame, after transaction: UInt64, isInside: Bool, in segment: LogSegment
  ) throws(EngineError) {
    let header = frame.header
    let fits =
      header.kind == Format.transactionKind
      ? header.transaction == transaction &+ 1
      : header.kind == Format.checkpointKind && !isInside
    guard fits else {
      throw EngineError.damaged(
        "the transactions of the log do not follow one another; restore the file", file: segment.path,
        offset: frame.position.offset)
    }
  }

  private mutating func refuseDamage(at walk: LogWalk, exactEnd: LogPoint?) throws(EngineError) {
    if let exactEnd {
      guard walk.point == exactEnd else { throw Self.damage(walk) }
      return
    }
    let missing = walk.point.sequence
    // Evidence before the gap: the anchor, or a frame that was read, says that the missing frame was synced.
    guard lastDurableSequence < missing else { throw Self.damage(walk) }
    // Evidence after the gap: scan all frames that follow.
    try Self.look(in: walk.segment, after: walk.point.position.offset, missing: missing, walk)
    for segment in walk.later {
      guard segment.header.durableThrough < missing else { throw Self.damage(walk) }
      try Self.look(in: segment, after: Format.segmentHeaderBytes - 1, missing: missing, walk)
    }
  }

  private static func look(
    in segment: LogSegment, after offset: Int, missing: UInt64, _ walk: LogWalk
  ) throws(EngineError) {
    let scanner = FrameScanner(segment)
    var place = offset
    while let found = try scanner.nextHeader(after: place) {
      guard found.header.durableThrough < missing else { throw damage(walk) }
      place = found.offset
    }
  }

  /// A writer may have written the frame after it was read here, and the proof after that.
  private static func damage(_ walk: LogWalk) -> EngineError {
    EngineError.stale(
      "the log is damaged: a frame that was safely on disk is not readable; restore the file from a backup",
      file: walk.segment.path, offset: walk.point.position.offset)
  }

  /// Treats the frames up to `end` as durable, because an attached process has published them.
  mutating func take(published end: LogPoint) {
    guard end.sequence > durableEnd.sequence else { return }
    var point = durableEnd
    for (index, frame) in frames[..<validCount].enumerated().dropFirst(durableCount) {
      point = frame.next(after: point)
      // The point may be the start of the next segment, which is equivalent.
      guard point.sequence == end.sequence, point.chain == end.chain else { continue }
      durableEnd = point
      durableCount = index + 1
    }
  }

  /// Treats all whole transactions as durable, because a recovery adopts them: for a reader, who then shows what the next writer will. They
  /// are synced before, so that no power failure takes them from a reader who has seen them. Does nothing if that fails.
  mutating func takeAll(ifSynced path: [LogSegment]) {
    guard validCount > durableCount else { return }
    do {
      for segment in path where segment.number >= durableEnd.position.segment {
        try segment.file.sync(DurableState.commitSync)
      }
    } catch {
      // Where nothing can be written, nothing is waiting to be.
      guard error.code == .readOnlyFileSystem || error.code == .unsupported else { return }
    }
    (durableEnd, durableCount) = (validEnd, validCount)
  }

  private mutating func findDurableEnd(_ start: LogPoint) {
    var point = start
    for (index, frame) in frames.prefix(validCount).enumerated() {
      guard frame.header.sequence <= lastDurableSequence else { return }
      // The next frame may be in another segment, whose header repeats the point.
      point = frame.next(after: point)
      let isWhole = frame.header.kind == Format.checkpointKind || frame.header.isLast
      if isWhole {
        durableEnd = point
        durableCount = index + 1
      }
    }
  }
}

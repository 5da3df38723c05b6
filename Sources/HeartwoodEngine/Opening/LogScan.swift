/// What reading the log from a checkpoint to its end has found.
struct LogScan {
  /// The frames in order, each with all of its bytes checked.
  private(set) var frames: [ScannedFrame] = []
  /// Behind the last whole transaction or checkpoint.
  private(set) var validEnd: LogPoint
  /// How many of `frames` lie before `validEnd`.
  private(set) var validCount = 0
  /// The last frame that is proven to have been synced, by what was written after it.
  private(set) var lastDurableSequence: UInt64
  /// Behind the last whole transaction that is proven, and how many of `frames` lie before it.
  private(set) var durableEnd: LogPoint
  private(set) var durableCount = 0

  /// How many whole transactions there are that nothing proves to be on disk.
  var undurableTransactions: Int {
    frames[durableCount..<validCount].count { $0.header.kind == Format.transactionKind && $0.header.isLast }
  }

  /// Reads everything behind `start`.
  ///
  /// The end of the valid frames is a torn tail, which is left behind, if nothing proves that the bytes
  /// there were synced once. Otherwise it is damage, and nothing is dropped.
  ///
  /// - Parameter proven: What the anchor proves.
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
    // Segments that nothing was written to yet are stepped over to their beginning.
    if !isInside { validEnd = walk.point }
    try refuseDamage(at: walk, exactEnd: exactly ? knownDurable : nil)
    findDurableEnd(start)
  }

  /// Whether the frame's transaction follows. Checksums have held, so anything else was written so.
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
    // Proven before: the anchor, or a frame that was read, says that this one was synced.
    guard lastDurableSequence < missing else { throw Self.damage(walk) }
    // Proven behind: look at whatever still follows.
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

  private static func damage(_ walk: LogWalk) -> EngineError {
    EngineError.damaged(
      "the log is damaged: a frame that was safely on disk is not readable; restore the file from a backup",
      file: walk.segment.path, offset: walk.point.position.offset)
  }

  /// Takes the frames up to a point for proven: a process has told that they are published.
  mutating func take(published end: LogPoint) {
    guard end.sequence > durableEnd.sequence else { return }
    var point = durableEnd
    for (index, frame) in frames[..<validCount].enumerated().dropFirst(durableCount) {
      point = frame.next(after: point)
      // It may be the beginning of the next segment, which says the same of the frames.
      guard point.sequence == end.sequence, point.chain == end.chain else { continue }
      durableEnd = point
      durableCount = index + 1
    }
  }

  private mutating func findDurableEnd(_ start: LogPoint) {
    var point = start
    for (index, frame) in frames.prefix(validCount).enumerated() {
      guard frame.header.sequence <= lastDurableSequence else { return }
      // The segment of the next frame may be another one; its header repeats the point.
      point = frame.next(after: point)
      let isWhole = frame.header.kind == Format.checkpointKind || frame.header.isLast
      if isWhole {
        durableEnd = point
        durableCount = index + 1
      }
    }
  }
}

import HeartwoodFiles

/// The log of an open store: its segments in order, and the end where frames are appended.
///
/// Invariants: `durable` ≤ `end`; frames land only in the last segment of `path`, and only after a slot
/// of the anchor names that segment. What does not say that it is for any thread belongs to the holder of
/// the writer lock.
final class Log: @unchecked Sendable {
  let folder: StoreFolder
  let table = SegmentTable()
  let identifier: StoreIdentifier
  let options: EngineOptions

  /// Its segments, and what of them stays.
  let path: LogSegments
  /// What of it is on disk for certain.
  let synced: DurableState
  /// Where the next frame will lie.
  private(set) var end: LogPoint
  /// Bytes of all frames appended since the store was opened.
  private(set) var appendedBytes = 0
  /// What lies behind `end` in the last segment is left of a failed write or of a transaction that was
  /// given up after some of its frames were written: the log goes on in a new segment.
  private(set) var mustRoll = false
  /// A write behind `end` has failed for want of room: what it left is overwritten, see `OpenStore.settleEnd`.
  private(set) var lacksRoom = false
  /// Where a frame lies whose writing has failed, whole or in part.
  private(set) var remains: (segment: LogSegment, offset: Int)?
  /// Segments that were begun for transactions which were given up. The anchor may name the last of them.
  private(set) var abandoned: [UInt32] = []
  /// The zeros that lie ahead in the last segment.
  private(set) var preallocator: LogPreallocator

  let builder: FrameBuilder

  /// - Parameters:
  ///   - path: All segments, in order; the last one is appended to.
  ///   - end: Where the next frame will lie.
  init(
    folder: StoreFolder, identifier: StoreIdentifier, options: EngineOptions, path: [LogSegment],
    last: LogSegment, end: LogPoint, filled: Int, ends: [UInt32: LogSegments.SegmentEnd] = [:],
    durable: LogPoint? = nil
  ) {
    self.folder = folder
    self.identifier = identifier
    self.options = options
    builder = FrameBuilder(fullBytes: options.frameBytes)
    self.end = end
    synced = DurableState(path, durable: durable ?? end)
    preallocator = LogPreallocator(last, filled: filled, options: options)
    for segment in path { table.add(segment) }
    self.path = LogSegments(path, published: end, ends: ends)
  }

  /// All segments that are alive, in the log's order. Any thread.
  var segments: [LogSegment] { path.segments }

  /// Up to here everything is synced. Any thread.
  var durable: LogPoint { synced.durable }

  /// Up to here its frames stay. Any thread.
  var published: LogPoint { path.published }

  /// The segment that is appended to.
  var last: LogSegment { preallocator.segment }

  /// How many bytes a segment can come to have: what makes it roll, and one frame more, which may hold a single large value.
  static func capacity(_ options: EngineOptions) -> Int {
    min(options.segmentBytes + Format.valueLimit + (64 << 20), Format.segmentLimit)
  }

  // MARK: What other processes write

  /// Goes on behind what another process has written.
  ///
  /// - Parameters:
  ///   - later: The segments behind the last one, in order.
  ///   - bytes: How many bytes the frames have that came.
  func follow(_ later: [LogSegment], end: LogPoint, durable: LogPoint, bytes: Int) {
    take(segments + later, end: end, durable: durable)
    appendedBytes += bytes
  }

  /// Has these segments from now on, whatever it had before.
  func replaceSegments(
    by segments: [LogSegment], end: LogPoint, durable: LogPoint, ends: [UInt32: LogSegments.SegmentEnd],
    bytes: Int
  ) {
    path.note(ends)
    take(segments, end: end, durable: durable)
    appendedBytes += bytes
  }

  private func take(_ segments: [LogSegment], end: LogPoint, durable: LogPoint) {
    guard let last = segments.last else { return }
    for segment in segments where table.slot(segment.number) == nil { table.add(segment) }
    path.replace(by: segments, published: end)
    self.end = end
    continueInPlace()
    synced.begin(segments, durable: durable)
    if last === preallocator.segment {
      preallocator.stop()
    } else {
      beginPreallocation(in: last, filled: last.limit)
    }
  }

  /// The log goes on in another segment.
  private func beginPreallocation(in segment: LogSegment, filled: Int) {
    preallocator.stop()
    preallocator = LogPreallocator(segment, filled: filled, options: options)
  }

  /// The log is appended to again: the zeros of another process may lie ahead, and nobody lays any now.
  func resume() throws(EngineError) {
    preallocator.resume(filled: max(end.position.offset, try folder.size(of: last.file)))
  }

  // MARK: Appending

  /// Begins a frame at the end of the log.
  func beginFrame() {
    builder.begin(at: end.position.offset, segmentSeed: last.seed)
  }

  /// Completes the frame under construction, appends it and begins the next.
  ///
  /// - Parameters:
  ///   - isSynced: Whether its writer waits for a sync of it; of the last frame.
  ///   - time: When the transaction was committed; in its last frame only.
  func appendTransactionFrame(
    _ number: UInt64, isLast: Bool, isSynced: Bool = false, isInternal: Bool = false, time: Int64 = 0,
    puts: UInt64 = 0, deletes: UInt64 = 0, makingRoom: () -> Bool = { false }
  ) throws(EngineError) {
    var header = nextHeader(Format.transactionKind, transaction: number)
    if isLast {
      header.flags = Format.lastFrameFlag | (isInternal ? Format.internalFlag : 0)
      header.time = time
      header.puts = puts
      header.deletes = deletes
    }
    let frame = builder.finish(header)
    try append(
      frame.bytes, unsyncedAt: isLast && !isSynced ? time : nil,
      next: point(behind: frame.bytes.count, frame.checksum, isLast ? number : nil), makingRoom)
    beginFrame()
  }

  /// Appends a frame of a transaction that goes on, with a single put, piece by piece; returns where its record lies.
  func appendLargeFrame(
    _ number: UInt64, key: UnsafeRawBufferPointer, valueBytes: Int,
    _ nextPiece: () throws -> UnsafeRawBufferPointer
  ) throws -> ValueReference {
    let frame = LargeFrame(
      header: nextHeader(Format.transactionKind, transaction: number), key: key, valueBytes: valueBytes,
      segmentSeed: last.seed, offset: end.position.offset)
    let reference = ValueReference(
      segment: last.number, offset: UInt32(truncatingIfNeeded: frame.recordOffset))
    do {
      try last.checkHasRoom(upTo: frame.byteLimit)
      let written = try frame.write(nextPiece) { (bytes, offset) throws(EngineError) in
        try Self.write(bytes, at: offset, over: preallocator)
      }
      try last.publish(written.bytes, at: frame.offset)
      end = point(behind: written.bytes, written.checksum, nil)
      appendedBytes += written.bytes
    } catch {
      abandonTail(at: frame.offset, error)
      throw error
    }
    return reference
  }

  /// Appends a checkpoint; returns where it lies and its checksum.
  func append(_ checkpoint: CheckpointRecord) throws(EngineError) -> (position: LogPosition, checksum: UInt64)
  {
    let header = nextHeader(Format.checkpointKind, transaction: checkpoint.generation)
    let position = end.position
    let frame = checkpoint.frame(header, segmentSeed: last.seed, offset: position.offset)
    try frame.bytes.withBytes { (bytes) throws(EngineError) in
      try append(bytes, next: point(behind: bytes.count, frame.checksum, nil))
    }
    return (position, frame.checksum)
  }

  private func nextHeader(_ kind: UInt8, transaction: UInt64) -> FrameHeader {
    FrameHeader(
      kind: kind, flags: 0, payloadBytes: 0, recordCount: 0, sequence: end.sequence, transaction: transaction,
      previous: end.chain, durableThrough: durable.sequence &- 1, time: 0, puts: 0, deletes: 0)
  }

  /// The point behind a frame of `count` bytes at the end of the log.
  private func point(behind count: Int, _ checksum: UInt64, _ generation: UInt64?) -> LogPoint {
    LogPoint(
      position: LogPosition(segment: end.position.segment, offset: end.position.offset + count),
      sequence: end.sequence &+ 1, chain: checksum, generation: generation ?? end.generation)
  }

  /// Writes a finished frame at the end of the log. After an error the log ends where it ended, and goes
  /// on in a new segment.
  ///
  /// - Parameter makingRoom: Is called where there is no room; true to try once more.
  private func append(
    _ bytes: UnsafeRawBufferPointer, unsyncedAt time: Int64? = nil, next: LogPoint,
    _ makingRoom: () -> Bool = { false }
  ) throws(EngineError) {
    // Asked for once, as each time counts a reference.
    let (preallocator, offset) = (preallocator, end.position.offset)
    do throws(EngineError) {
      try preallocator.segment.checkHasRoom(upTo: offset + bytes.count)
      do throws(EngineError) {
        try Self.write(bytes, at: offset, unsyncedAt: time, over: preallocator)
      } catch {
        guard error.code == .noSpace, makingRoom() else { throw error }
        try Self.write(bytes, at: offset, unsyncedAt: time, over: preallocator)
      }
      try preallocator.segment.publish(bytes, at: offset)
    } catch {
      abandonTail(at: offset, error)
      throw error
    }
    end = next
    appendedBytes += bytes.count
  }

  private static func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, unsyncedAt time: Int64? = nil,
    over preallocator: LogPreallocator
  ) throws(EngineError) {
    do {
      try preallocator.write(bytes, at: offset, unsyncedAt: time)
    } catch {
      throw EngineError.files(error, "the log could not be written")
    }
  }

  private func abandonTail(at offset: Int, _ error: any Error) {
    noteFailure(error)
    mustRoll = true
    remains = (last, offset)
  }

  /// A write of the log, or the making of a segment, has failed.
  func noteFailure(_ error: any Error) {
    if (error as? EngineError)?.code == .noSpace { lacksRoom = true }
  }

  /// Overwrites what lies behind the end of the log with zeros, unsynced.
  func zeroAfterEnd() throws(EngineError) {
    do {
      try preallocator.wipe(from: end.position.offset)
    } catch {
      throw EngineError.files(error, "what was written of a commit that failed could not be overwritten")
    }
  }

  /// The log goes on where it ends: there are durable zeros.
  func continueInPlace() {
    mustRoll = false
    lacksRoom = false
    remains = nil
  }

  /// Of a frame whose writing has failed, all bytes may be there: takes its beginning away, so that it is
  /// not found in the short time until the log goes on elsewhere.
  ///
  /// - Returns: whether a sync has to make that durable.
  func eraseTornWrite() throws(EngineError) -> Bool {
    guard let (segment, offset) = remains else { return false }
    let zeros = [UInt8](repeating: 0, count: Format.frameHeaderBytes)
    let found = try StoreFolder.read(segment.file, at: offset, count: zeros.count, path: segment.path)
    guard found.count == zeros.count, found != zeros else { return false }
    do {
      try segment.file.write(all: zeros, at: offset)
    } catch {
      throw EngineError.files(error, "what was written of a commit that failed could not be taken away")
    }
    return true
  }

  /// Takes the end of the log back to a point: the frames behind it are given up, and the segments that were begun for them.
  func rollBack(to point: LogPoint) {
    guard point != end else { return }
    if point.position.segment != last.number { abandonSegments(behind: point) }
    end = point
    mustRoll = true
  }

  private func abandonSegments(behind point: LogPoint) {
    let (last, left) = path.cut(behind: point.position.segment)
    synced.forget(behind: point)
    for segment in left { _ = table.remove(segment.number) }
    abandoned += left.map(\.number)
    guard let last else { return }
    beginPreallocation(in: last, filled: last.limit)
    preallocator.stop()
  }

  /// A segment was made, and it is not known whether the anchor names it.
  func abandon(_ number: UInt32) { abandoned.append(number) }

  /// The files of the abandoned segments are gone.
  func forgetAbandoned() { abandoned = [] }

  /// Everything appended so far. The syncing itself needs no lock.
  func syncRequest() -> SyncRequest { synced.request(with: last, end: end) }

  // MARK: Rolling

  /// Nothing more may be written where the log ends.
  func requireRoll() { mustRoll = true }

  /// Lets the log go on in a segment that was made for it, and that a slot of the anchor names by now.
  func take(_ segment: LogSegment, filled: Int) {
    let first = segment.header.firstPoint
    // In the middle of a transaction, what stays ends before it.
    let isInside = path.published != end
    synced.continueLog(after: last, end: end, at: first)
    end = first
    continueInPlace()
    table.add(segment)
    path.append(segment, published: isInside ? nil : first)
    beginPreallocation(in: segment, filled: filled)
  }
}

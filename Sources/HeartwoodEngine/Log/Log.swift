import HeartwoodFiles

/// The log of an open store: its segments in order, and the end where frames are appended.
///
/// Invariants: `durable` ≤ `end`; frames land only in the last segment of `path`, and only after a slot
/// of the anchor names that segment. All but `table` and `segments` belongs to the holder of the
/// writer lock.
final class Log: @unchecked Sendable {
  let folder: StoreFolder
  let table = SegmentTable()
  let identifier: StoreIdentifier
  let options: EngineOptions

  private let pathLock = Lock()
  private var path: [LogSegment] = []

  /// Where the next frame will lie.
  private(set) var end: LogPoint
  /// Up to here everything is synced.
  private(set) var durable: LogPoint
  /// Segments before the last one with bytes that are not synced.
  private var unsynced: [LogSegment] = []
  /// What lies behind `end` in the last segment is left of a failed write or of a transaction that was
  /// given up after some of its frames were written: the log goes on in a new segment.
  private(set) var mustRoll = false
  /// The zeros that lie ahead in the last segment.
  private(set) var zeros: ZeroFilling

  let builder = FrameBuilder()

  /// - Parameters:
  ///   - path: All segments, in order; the last one is appended to.
  ///   - end: Where the next frame will lie.
  init(
    folder: StoreFolder, identifier: StoreIdentifier, options: EngineOptions, path: [LogSegment],
    last: LogSegment,
    end: LogPoint, filled: Int
  ) {
    self.folder = folder
    self.identifier = identifier
    self.options = options
    self.end = end
    durable = end
    zeros = ZeroFilling(last, filled: filled)
    for segment in path { table.add(segment) }
    self.path = path
  }

  /// The segments in the log's order. Any thread.
  var segments: [LogSegment] { pathLock.withLock { path } }

  /// The segment that is appended to.
  var last: LogSegment { zeros.segment }

  /// How many bytes a segment can come to have: what makes it roll, and one transaction more.
  static func capacity(_ options: EngineOptions) -> Int {
    min(options.segmentBytes + Format.transactionLimit + (64 << 20), Format.segmentLimit)
  }

  // MARK: Appending

  /// Begins a frame at the end of the log.
  func beginFrame() {
    builder.begin(at: end.position.offset, segmentSeed: last.seed)
  }

  /// Writes a finished frame at the end of the log. After an error the log ends where it ended, and goes
  /// on in a new segment.
  func append(_ bytes: UnsafeRawBufferPointer, next: LogPoint) throws(EngineError) {
    let offset = end.position.offset
    do {
      try zeros.write(bytes, at: offset)
    } catch {
      mustRoll = true
      throw EngineError.files(error, "the log could not be written")
    }
    do {
      try last.publish(bytes, at: offset)
    } catch {
      mustRoll = true
      throw error
    }
    end = next
  }

  /// Takes the end of the log back to a point: the frames behind it are given up.
  func giveUp(to point: LogPoint) {
    guard point != end else { return }
    end = point
    mustRoll = true
  }

  // MARK: Syncing

  /// What one sync is to make durable.
  struct SyncWork: Sendable {
    let files: [LogSegment]
    let point: LogPoint
  }

  /// True where the newest frames may not be on disk.
  var hasUnsynced: Bool { durable.sequence != end.sequence }

  /// Everything appended so far. The syncing itself needs no lock.
  func syncWork() -> SyncWork {
    SyncWork(files: unsynced + [last], point: end)
  }

  /// Syncs in the log's order, so that no later segment is safe before an earlier one.
  static func sync(_ work: SyncWork) throws(FileSystemError) {
    for segment in work.files { try segment.file.sync(commitSync) }
  }

  /// Takes note of a sync that succeeded.
  func noteSynced(_ work: SyncWork) {
    guard work.point.sequence >= durable.sequence else { return }
    durable = work.point
    let synced = Set(work.files.map(\.number))
    unsynced.removeAll { synced.contains($0.number) }
  }

  /// A commit's sync. Only Apple's drives need the full one to be safe.
  static var commitSync: SyncKind {
    #if canImport(Darwin)
      .full
    #else
      .data
    #endif
  }

  // MARK: Rolling

  /// Lets the log go on in a segment that was made for it, and that a slot of the anchor names by now.
  func take(_ segment: LogSegment, filled: Int) {
    if hasUnsynced { unsynced.append(last) }
    let first = segment.header.firstPoint
    if !hasUnsynced { durable = first }
    end = first
    mustRoll = false
    table.add(segment)
    pathLock.withLock { path.append(segment) }
    zeros = ZeroFilling(segment, filled: filled)
  }

  /// Closes all files. Maps stay, for snapshots that are still held.
  func close() {
    for segment in segments { segment.close() }
  }
}

/// Makes the files of log segments.
struct LogSegmentMaker {
  let folder: StoreFolder
  let identifier: StoreIdentifier
  let options: EngineOptions

  /// Makes a file with a header and zeros behind it. Nothing is synced yet.
  func make(
    number: UInt32, predecessor: LogPoint?, copiedThrough: UInt64 = 0, durableThrough: UInt64
  ) throws(EngineError) -> LogSegment {
    let name = SegmentName.log(number)
    let header = SegmentHeader(
      identifier: identifier, number: number, salt: options.entropy.next(), predecessor: predecessor,
      copiedThrough: copiedThrough, durableThrough: durableThrough)
    let file: any File
    do {
      file = try folder.directory.open(name, .createNew)
    } catch {
      throw EngineError.files(error, "a segment of the log could not be made")
    }
    do {
      var bytes = header.encoded(magic: Format.logSegmentMagic)
      bytes.append(contentsOf: repeatElement(0, count: Format.firstFillBytes - bytes.count))
      try file.write(all: bytes, at: 0)
      return try LogSegment(
        header: header, file: file, path: folder.path(of: name), limit: Format.firstFillBytes,
        capacity: Log.capacity(options), reading: options.reading)
    } catch {
      // A file that nothing refers to: taken away if that works, else by the next recovery.
      try? file.close()
      folder.unlink([name])
      throw (error as? FileSystemError).map { .files($0, "a segment of the log could not be made") }
        ?? (error as? EngineError)
        ?? EngineError(.inputOutput, "a segment of the log could not be made", underlying: error)
    }
  }

  /// Makes the file and its name durable: before anything refers to it.
  func settle(_ segment: LogSegment) throws(EngineError) {
    guard options.durability != .none else { return }
    do {
      try segment.file.sync(.full)
      try folder.directory.sync()
    } catch {
      throw EngineError.files(error, "a segment of the log could not be synced")
    }
  }
}

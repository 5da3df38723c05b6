/// A checkpoint together with where its frame lies.
struct NamedCheckpoint: Sendable {
  let record: CheckpointRecord
  let position: LogPosition
  let checksum: UInt64

  /// The tree that it holds.
  var root: TreeRoot {
    TreeRoot(
      reference: PageReference(rawValue: record.root.reference), checksum: record.root.checksum,
      level: Int(record.root.level), count: record.root.count)
  }

  /// The page segments that it names.
  var pageSegments: [CheckpointRecord.Segment] { record.segments.filter { !$0.isLog } }

  /// The log segments that it names.
  var logSegments: [CheckpointRecord.Segment] { record.segments.filter(\.isLog) }

  /// Where those end.
  var ends: [UInt32: LogSegments.SegmentEnd] {
    Dictionary(logSegments.map { ($0.number, LogSegments.SegmentEnd($0)) }) { first, _ in first }
  }

  /// Whether it can be the one before another. Both may be of one generation, where space was given back between.
  func precedes(_ other: NamedCheckpoint) -> Bool {
    record.generation <= other.record.generation && position.rawValue < other.position.rawValue
  }

  /// The one that a slot of the anchor names; nil where it names none.
  static func named(
    by slot: AnchorSlot, in path: [LogSegment], folder: StoreFolder
  ) throws(EngineError) -> NamedCheckpoint? {
    guard let position = slot.checkpoint else { return nil }
    return try read(at: position, checksum: slot.checkpointChecksum, in: path, folder: folder)
  }

  /// Reads the frame at a position, which has to be a checkpoint's with this checksum.
  static func read(
    at position: LogPosition, checksum: UInt64, in path: [LogSegment], folder: StoreFolder
  ) throws(EngineError) -> NamedCheckpoint {
    let file = folder.path(of: SegmentName.log(position.segment))
    guard let segment = path.first(where: { $0.number == position.segment }) else {
      throw EngineError.damaged(
        "the log has no such segment, but a checkpoint is said to be there", file: file)
    }
    guard let frame = try FrameScanner(segment).frame(at: position.offset), frame.checksum == checksum,
      let checkpoint = NamedCheckpoint(frame)
    else {
      throw EngineError.damaged(
        "the checkpoint there is damaged; restore the file from a backup", file: file, offset: position.offset
      )
    }
    return checkpoint
  }

  /// A frame with all its checksums right; nil where it is no checkpoint, or one that makes no sense.
  init?(_ frame: ScannedFrame) {
    guard frame.header.kind == Format.checkpointKind, let record = CheckpointRecord.decode(frame.payload)
    else {
      return nil
    }
    self.init(record: record, position: frame.position, checksum: frame.checksum)
    guard hasSoundRoot, hasSoundGeneration, frame.header.transaction == record.generation else { return nil }
  }

  init(record: CheckpointRecord, position: LogPosition, checksum: UInt64) {
    self.record = record
    self.position = position
    self.checksum = checksum
  }

  /// The tree is of the generation that the log has come to, and there are numbers left.
  private var hasSoundGeneration: Bool {
    record.generation == record.replay.generation && record.generation < UInt64(Int64.max)
  }

  /// The root lies in a page segment that is named, or there is none and no key.
  private var hasSoundRoot: Bool {
    let reference = root.reference
    if reference == .none { return root.count == 0 }
    return root.count > 0 && root.level <= TreeRoot.levelLimit
      && pageSegments.contains { $0.number == reference.segment && UInt64(reference.index) < $0.extent }
  }
}

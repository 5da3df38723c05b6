/// A checkpoint, with the position and checksum of its frame.
struct NamedCheckpoint: Sendable {
  let record: CheckpointRecord
  let position: LogPosition
  let checksum: UInt64

  /// The root of its tree.
  var root: TreeRoot {
    TreeRoot(
      reference: PageReference(rawValue: record.root.reference), checksum: record.root.checksum,
      level: Int(record.root.level), count: record.root.count)
  }

  /// The page segments that it references.
  var pageSegments: [CheckpointRecord.Segment] { record.segments.filter { !$0.isLog } }

  /// The log segments that it references.
  var logSegments: [CheckpointRecord.Segment] { record.segments.filter(\.isLog) }

  /// The ends of those, by segment number.
  var ends: [UInt32: LogSegments.SegmentEnd] {
    Dictionary(logSegments.map { ($0.number, LogSegments.SegmentEnd($0)) }) { first, _ in first }
  }

  /// Whether it can precede another checkpoint. Both may have the same generation, as a forced checkpoint follows
  /// another without a commit between.
  func precedes(_ other: NamedCheckpoint) -> Bool {
    record.generation <= other.record.generation && position.rawValue < other.position.rawValue
  }

  /// The checkpoint that a slot of the anchor references; nil if it references none.
  static func named(
    by slot: AnchorSlot, in path: [LogSegment], folder: StoreFolder
  ) throws(EngineError) -> NamedCheckpoint? {
    guard let position = slot.checkpoint else { return nil }
    return try read(at: position, checksum: slot.checkpointChecksum, in: path, folder: folder)
  }

  /// Reads the checkpoint frame at a position.
  ///
  /// - Throws: `.damaged` if there is no such segment, or no valid checkpoint frame with this checksum.
  static func read(
    at position: LogPosition, checksum: UInt64, in path: [LogSegment], folder: StoreFolder
  ) throws(EngineError) -> NamedCheckpoint {
    let file = folder.path(of: SegmentName.log(position.segment))
    guard let segment = path.first(where: { $0.number == position.segment }) else {
      throw EngineError.stale(
        "the log does not contain the segment of a checkpoint; restore the file from a backup", file: file)
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

  /// Decodes a frame whose checksums are valid; nil if it is not a checkpoint, or an invalid one.
  init?(_ frame: ScannedFrame) {
    guard frame.header.kind == Format.checkpointKind,
      let record = CheckpointRecord.decode(frame.payload.buffer)
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

  /// Whether the tree's generation is that of its log position, and generation numbers are left.
  private var hasSoundGeneration: Bool {
    record.generation == record.replay.generation && record.generation < UInt64(Int64.max)
  }

  /// Whether the root is in a referenced page segment, or the tree is empty and has no root.
  private var hasSoundRoot: Bool {
    let reference = root.reference
    if reference == .none { return root.count == 0 }
    return root.count > 0 && root.level <= TreeRoot.levelLimit
      && pageSegments.contains { $0.number == reference.segment && UInt64(reference.index) < $0.extent }
  }
}

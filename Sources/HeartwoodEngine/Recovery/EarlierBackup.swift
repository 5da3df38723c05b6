import HeartwoodFiles

/// A backup that is already in the folder.
struct EarlierBackup {
  /// A segment of the log.
  struct LogPart {
    let header: SegmentHeader
    let end: LogSegments.SegmentEnd
  }

  let slot: AnchorSlot
  /// Its log segments, by number.
  let logs: [UInt32: LogPart]
  /// Its page segments, by number.
  let pages: [UInt32: CheckpointRecord.Segment]
  /// All segments of its log, in order.
  let segments: [LogSegment]

  /// Reads everything that the anchor names, and nothing after it.
  static func read(
    _ folder: StoreFolder, _ found: AnchorFile.Contents
  ) throws(EngineError) -> EarlierBackup {
    let options = EngineOptions(access: .readOnly, createsStore: false, reading: .buffered)
    let finder = LogFinder(folder: folder, identifier: found.slot.identifier, options: options)
    let log = try StoreImage(finder, found.slot, upTo: (found.slot.knownDurable, found.slot.knownDurable))
    return EarlierBackup(
      slot: found.slot, logs: try parts(log.segments, found.slot.knownDurable, log.checkpoint),
      pages: Dictionary((log.checkpoint?.pageSegments ?? []).map { ($0.number, $0) }) { first, _ in first },
      segments: log.segments)
  }

  /// The ends of the segments. Each segment must end with the frame whose checksum is recorded.
  private static func parts(
    _ segments: [LogSegment], _ end: LogPoint, _ checkpoint: NamedCheckpoint?
  ) throws(EngineError) -> [UInt32: LogPart] {
    var ends = checkpoint?.ends ?? [:]
    for segment in segments {
      if let predecessorEnd = segment.header.predecessor {
        ends[predecessorEnd.position.segment] = LogSegments.SegmentEnd(predecessorEnd)
      }
    }
    ends[end.position.segment] = LogSegments.SegmentEnd(end)
    var parts: [UInt32: LogPart] = [:]
    for segment in segments {
      guard let partEnd = ends[segment.number] else { continue }
      guard try segment.ends(at: partEnd) else {
        throw EngineError.damaged(
          "the backup in the folder is damaged; name another folder", file: segment.path,
          offset: partEnd.offset)
      }
      parts[segment.number] = LogPart(header: segment.header, end: partEnd)
    }
    return parts
  }
}

extension AnchorFile.Contents {
  /// Whether the anchor is as a backup wrote it: both slots are equal except for their sequence numbers. Any
  /// later write changes one of them.
  var isUntouched: Bool {
    guard var older, slot.isClean else { return false }
    older.sequence = slot.sequence
    return older == slot
  }
}

extension LogSegment {
  /// Whether the frame before `end` has the recorded checksum. A frame contains the checksum of its
  /// predecessor, so all earlier frames are then the recorded ones too.
  func ends(at end: LogSegments.SegmentEnd) throws(EngineError) -> Bool {
    guard end.offset > Format.segmentHeaderBytes else { return end.offset <= limit }
    let trailer = try bytes(at: end.offset - Format.frameTrailerBytes, Format.frameTrailerBytes)
    return trailer.map { $0.count >= 8 && $0.field64(0) == end.chain } ?? false
  }
}

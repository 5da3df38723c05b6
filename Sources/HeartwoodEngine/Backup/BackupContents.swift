/// The state of the store that a backup copies, fixed when the backup begins.
struct BackupContents {
  typealias LogPart = EarlierBackup.LogPart

  let identifier: StoreIdentifier
  /// Creation time of the store, in nanoseconds since 1970.
  let created: Int64
  /// The meaning of the keys and values.
  let content: StoreContent?
  let features: StoreFeatures
  /// The last checkpoint in the log; nil if there is none.
  let checkpoint: NamedCheckpoint?
  /// In the order of the log.
  let logs: [LogPart]
  /// The end of the log.
  let end: LogPoint
  /// The open files. They stay open until they are copied, even if they are reclaimed.
  let files: Files

  /// Segments by number.
  struct Files {
    let logs: [UInt32: LogSegment]
    let pages: [UInt32: PageSegment]
  }

  /// The page segments that the checkpoint names.
  var pages: [CheckpointRecord.Segment] { checkpoint?.pageSegments ?? [] }

  /// Whether all log segments exist that the checkpoint names. False if the last step of a compaction failed.
  var isComplete: Bool {
    let numbers = Set(logs.map(\.header.number))
    return checkpoint?.logSegments.allSatisfy { numbers.contains($0.number) } ?? true
  }

  /// The number after those of all segments. Segments that the store creates later have higher ones.
  var nextSegment: UInt32 {
    1 + max(logs.map(\.header.number).max() ?? 0, pages.map(\.number).max() ?? 0)
  }

  /// The anchor of the backup: clean, with the exact end of the log.
  func slot(sequence: UInt64) -> AnchorSlot {
    AnchorSlot(
      identifier: identifier, sequence: sequence, created: created, checkpoint: checkpoint?.position,
      checkpointChecksum: checkpoint?.checksum ?? 0, lastLogSegment: end.position.segment, knownDurable: end,
      nextSegment: nextSegment, isClean: true, content: content, features: features)
  }
}

import HeartwoodFiles

/// The files of a backup that is being written, next to the earlier backup that the anchor still names.
///
/// The mark is the file that becomes the anchor. While the mark exists and the anchor is as a backup wrote
/// it, the log ends exactly where the anchor says; all bytes after it and all other files belong to the
/// unfinished copy. Without the mark, later frames would show that the anchor is outdated.
struct UnfinishedCopy {
  let folder: StoreFolder
  /// Whether the folder contains an unfinished copy.
  let isThere: Bool
  private let contents: AnchorFile.Contents
  private let hasMark: Bool

  init(in folder: StoreFolder, beside contents: AnchorFile.Contents) throws(EngineError) {
    self.folder = folder
    self.contents = contents
    hasMark = try folder.entries().contains(StoreFolder.newAnchorName)
    isThere = hasMark && contents.isUntouched
  }

  /// Removes the unfinished copy, before the store is written.
  func remove() throws(EngineError) {
    if isThere {
      try Self.clear(folder, keeping: try EarlierBackup.read(folder, contents))
    } else if hasMark {
      // A crash may have kept the first name of the anchor next to its final one.
      folder.unlink([StoreFolder.newAnchorName])
    }
  }

  /// Removes the files of an unfinished backup, its mark last.
  ///
  /// - Parameter earlier: The backup to keep; nil if there is none.
  static func clear(_ folder: StoreFolder, keeping earlier: EarlierBackup?) throws(EngineError) {
    let names = try folder.entries()
    let segments = names.compactMap(SegmentName.parse).filter {
      ($0.isLog ? earlier?.logs[$0.number] == nil : earlier?.pages[$0.number] == nil)
    }
    let hasMark = names.contains(StoreFolder.newAnchorName)
    if let earlier, !segments.isEmpty, !hasMark {
      // Only the backup before the earlier one needed these segments. A sync of the earlier anchor's name may
      // have failed, after which the system may treat the name as durable. So the anchor is created and
      // renamed again.
      try AnchorFile.create(earlier.slot, in: folder, syncs: true).close()
    }
    do throws(FileSystemError) {
      if let earlier { try cut(folder, to: earlier.slot.knownDurable.position) }
      for segment in segments where segment.isLog {
        try folder.directory.unlink(SegmentName.log(segment.number))
      }
      for segment in segments where !segment.isLog {
        try folder.directory.unlink(SegmentName.pages(segment.number))
      }
      guard hasMark else { return }
      try folder.directory.sync()
      try folder.directory.unlink(StoreFolder.newAnchorName)
      try folder.directory.sync()
    } catch {
      throw EngineError.files(error, "the files of an unfinished backup could not be removed")
    }
  }

  /// Truncates the last segment of the log at the end of the backup.
  private static func cut(_ folder: StoreFolder, to end: LogPosition) throws(FileSystemError) {
    let file = try folder.directory.open(SegmentName.log(end.segment), .readWrite)
    defer { try? file.close() }
    guard try file.size() > Int64(end.offset) else { return }
    try file.truncate(to: Int64(end.offset))
    try file.sync(.full)
  }
}

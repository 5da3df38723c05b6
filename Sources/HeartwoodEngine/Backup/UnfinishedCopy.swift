import HeartwoodFiles

/// What a backup leaves in a folder while it is written, beside the earlier one that the anchor still names.
///
/// The mark is the file that is to become the anchor. As long as it is there, and the anchor is as a backup has made it, the
/// log ends exactly where that says; whatever lies behind it, or in other files, is of the copy that is not finished.
/// Without the mark, it would be a sign that the anchor is an old one.
struct UnfinishedCopy {
  let folder: StoreFolder
  /// Whether there is one.
  let isThere: Bool
  private let contents: AnchorFile.Contents
  private let hasMark: Bool

  init(in folder: StoreFolder, beside contents: AnchorFile.Contents) throws(EngineError) {
    self.folder = folder
    self.contents = contents
    hasMark = try folder.entries().contains(StoreFolder.newAnchorName)
    isThere = hasMark && contents.isUntouched
  }

  /// Takes it away, for a store that is to be written.
  func remove() throws(EngineError) {
    if isThere {
      try Self.clear(folder, keeping: try EarlierBackup.read(folder, contents))
    } else if hasMark {
      // A crash may have kept the name that the anchor had first beside the one it has now.
      folder.unlink([StoreFolder.newAnchorName])
    }
  }

  /// Takes away what a backup that was cut short has left, its mark last.
  ///
  /// - Parameter earlier: What stays; nil where nothing does.
  static func clear(_ folder: StoreFolder, keeping earlier: EarlierBackup?) throws(EngineError) {
    let names = try folder.entries()
    let segments = names.compactMap(SegmentName.parse).filter {
      ($0.isLog ? earlier?.logs[$0.number] == nil : earlier?.pages[$0.number] == nil)
    }
    let hasMark = names.contains(StoreFolder.newAnchorName)
    if let earlier, !segments.isEmpty, !hasMark {
      // These were needed by the backup before that one. A sync of its anchor's name may have failed, and a disk that has
      // failed one may take the name for durable: it is given anew.
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
      throw EngineError.files(error, "what a backup that was cut short has left could not be taken away")
    }
  }

  /// Takes away what lies behind the end of the log.
  private static func cut(_ folder: StoreFolder, to end: LogPosition) throws(FileSystemError) {
    let file = try folder.directory.open(SegmentName.log(end.segment), .readWrite)
    defer { try? file.close() }
    guard try file.size() > Int64(end.offset) else { return }
    try file.truncate(to: Int64(end.offset))
    try file.sync(.full)
  }
}

import HeartwoodFiles

extension StoreFolder {
  /// Removes the files of an unfinished creation, or of an unfinished removal. The former contain no data: the anchor is created before
  /// the first frame.
  ///
  /// - Throws: `.damaged` if the log has a frame, because then the anchor is missing.
  func clearUnfinishedCreation() throws(EngineError) {
    guard try !entries().contains(Self.removedAnchorName) else { return try removeStore() }
    guard try !hasFrames() else {
      throw EngineError.damaged(
        "the store's anchor is missing; restore the file, or bring what is there into a new store with salvage",
        file: path(of: Self.anchorName))
    }
    unlink([SegmentName.log(1), Self.newAnchorName])
  }

  private func hasFrames() throws(EngineError) -> Bool {
    let name = SegmentName.log(1)
    guard try entries().contains(name) else { return false }
    let file = try open(name, .readOnly)
    let bytes = try Self.read(file, at: 0, count: Format.segmentHeaderBytes, path: path(of: name))
    let header = bytes.withBytes {
      SegmentHeader.decode($0, magic: Format.logSegmentMagic, number: 1, identifier: nil)
    }
    guard let header else {
      try? file.close()
      return false
    }
    let size = try size(of: file)
    let segment = try LogSegment(
      header: header, file: file, path: path(of: name), limit: size, capacity: size, reading: .buffered)
    return try FrameScanner(segment).hasHeader()
  }
}

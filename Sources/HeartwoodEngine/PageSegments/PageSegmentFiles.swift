import HeartwoodFiles

/// Creates and opens the files of page segments.
struct PageSegmentFiles: Sendable {
  let folder: StoreFolder
  let identifier: StoreIdentifier
  let options: EngineOptions

  /// Creates a file that contains only a header. Does not sync it.
  func make(number: UInt32) throws(EngineError) -> PageSegment {
    let header = SegmentHeader(
      identifier: identifier, number: number, salt: options.entropy.next(), predecessor: nil,
      copiedThrough: 0, durableThrough: 0)
    return try folder.make(
      SegmentName.pages(number), "a segment for the tree's pages", header, magic: Format.pageSegmentMagic,
      count: Format.pageBytes
    ) { (file, path) throws(EngineError) in
      try PageSegment(
        header: header, file: file, path: path, bytes: Format.pageBytes, reading: options.reading)
    }
  }

  /// Opens a segment that a checkpoint references.
  ///
  /// - Throws: `.damaged` if the file has fewer pages than the checkpoint says, or an invalid header.
  func open(_ named: CheckpointRecord.Segment) throws(EngineError) -> PageAppender.Part {
    let name = SegmentName.pages(named.number)
    let path = folder.path(of: name)
    let file = try folder.open(name, options.access == .readOnly ? .readOnly : .readWrite)
    let bytes = try folder.size(of: file)
    guard named.extent >= 1, bytes <= Format.segmentLimit, named.extent <= UInt64(bytes / Format.pageBytes)
    else {
      throw EngineError.damaged(
        "the file is shorter than its pages; restore it from a backup", file: path, offset: bytes)
    }
    let start = try StoreFolder.read(file, at: 0, count: Format.segmentHeaderBytes, path: path)
    let header = start.withBytes {
      SegmentHeader.decode($0, magic: Format.pageSegmentMagic, number: named.number, identifier: identifier)
    }
    guard let header else {
      throw EngineError.damaged("the segment's header is damaged; restore the file", file: path, offset: 0)
    }
    let segment = try PageSegment(
      header: header, file: file, path: path, bytes: bytes, reading: options.reading)
    return PageAppender.Part(
      segment: segment, extent: PageAppender.Extent(pages: Int(named.extent), chain: named.chain))
  }
}

import HeartwoodFiles

/// Makes and opens the files of page segments.
struct PageSegmentFiles: Sendable {
  let folder: StoreFolder
  let identifier: StoreIdentifier
  let options: EngineOptions

  /// Makes a file with nothing but a header. Nothing is synced yet.
  func make(number: UInt32) throws(EngineError) -> PageSegment {
    let name = SegmentName.pages(number)
    let header = SegmentHeader(
      identifier: identifier, number: number, salt: options.entropy.next(), predecessor: nil,
      copiedThrough: 0,
      durableThrough: 0)
    let file: any File
    do {
      file = try folder.directory.open(name, .createNew)
    } catch {
      throw EngineError.files(error, "a segment for the tree's pages could not be made")
    }
    do {
      var bytes = header.encoded(magic: Format.pageSegmentMagic)
      bytes += [UInt8](repeating: 0, count: Format.pageBytes - bytes.count)
      try file.write(all: bytes, at: 0)
      return try PageSegment(
        header: header, file: file, path: folder.path(of: name), bytes: bytes.count, reading: options.reading)
    } catch {
      // A file that nothing refers to: taken away if that works, else by the next recovery.
      folder.unlink([name])
      throw (error as? EngineError)
        ?? (error as? FileSystemError).map { .files($0, "a segment for the tree's pages could not be made") }
        ?? EngineError(.inputOutput, "a segment for the tree's pages could not be made", underlying: error)
    }
  }

  /// Opens a segment that a checkpoint names, and that must have as many pages as it says.
  func open(_ named: CheckpointRecord.Segment) throws(EngineError) -> PageAppender.Part {
    let name = SegmentName.pages(named.number)
    let path = folder.path(of: name)
    let file = try folder.open(name, options.access == .readOnly ? .readOnly : .readWrite)
    let bytes = try folder.size(of: file)
    guard named.extent >= 1, bytes <= Format.segmentLimit, named.extent <= UInt64(bytes / Format.pageBytes)
    else {
      throw EngineError.damaged("the file is shorter than its pages; restore it", file: path, offset: bytes)
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

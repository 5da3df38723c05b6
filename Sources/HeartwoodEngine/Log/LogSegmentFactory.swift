import HeartwoodFiles

/// Creates the files of log segments.
struct LogSegmentFactory {
  let folder: StoreFolder
  let identifier: StoreIdentifier
  let options: EngineOptions

  /// Creates a file with a header and zeros after it. Syncs nothing.
  func make(
    number: UInt32, predecessor: LogPoint?, copiedThrough: UInt64 = 0, durableThrough: UInt64
  ) throws(EngineError) -> LogSegment {
    let name = SegmentName.log(number)
    let header = SegmentHeader(
      identifier: identifier, number: number, salt: options.entropy.next(), predecessor: predecessor,
      copiedThrough: copiedThrough, durableThrough: durableThrough)
    return try folder.make(
      name, "a segment of the log", beginningWith: header.encoded(magic: Format.logSegmentMagic),
      count: Format.firstFillBytes
    ) { (file) throws(EngineError) in
      try LogSegment(
        header: header, file: file, path: folder.path(of: name), limit: Format.firstFillBytes,
        capacity: Log.capacity(options), reading: options.reading)
    }
  }

  /// Makes the file and its directory entry durable; required before anything refers to the file.
  func makeDurable(_ segment: LogSegment) throws(EngineError) {
    guard options.durability != .none else { return }
    do {
      try segment.file.sync(.full)
      try folder.directory.sync()
    } catch {
      throw EngineError.files(error, "a segment of the log could not be synced")
    }
  }
}

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
    let header = SegmentHeader(
      identifier: identifier, number: number, salt: options.entropy.next(), predecessor: predecessor,
      copiedThrough: copiedThrough, durableThrough: durableThrough)
    return try folder.make(
      SegmentName.log(number), "a segment of the log", header, magic: Format.logSegmentMagic,
      count: Format.firstFillBytes
    ) { (file, path) throws(EngineError) in
      try LogSegment(
        header: header, file: file, path: path, limit: Format.firstFillBytes, capacity: Log.capacity(options),
        reading: options.reading)
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

import HeartwoodFiles

/// The records of other processes about the store.
extension StoreFolder {
  /// Opens the shared header; nil if the store is open for reading only and no process has created the header
  /// yet.
  func openPage() throws(EngineError) -> SharedHeader? {
    if let attachment { return attachment.page }
    return try reading { (file) throws(FileSystemError) in try SharedHeader(file, isWritten: false) }
  }

  /// The newest valid record in the shared header; nil if there is none, or if no process is attached.
  func newestRecord() throws(EngineError) -> WriterRecord? {
    if let attachment {
      do {
        return try attachment.page.newest()
      } catch {
        throw EngineError.files(error, "the shared header of the store could not be read")
      }
    }
    return try reading { (file) throws(FileSystemError) in
      let isBelieved = try file.isLocked()
      guard isBelieved else { return nil }
      return try SharedHeader(file, isWritten: false).newest()
    }
  }

  /// Whether no process holds the lock of the writer.
  func isWriterGone() throws(EngineError) -> Bool {
    do {
      if let attachment { return try !attachment.fileLock.isHeldElsewhere() }
      let file = try directory.open(ProcessAttachment.lockName, .readOnly)
      defer { try? file.close() }
      return try !file.isLocked()
    } catch {
      if error.code == .notFound { return true }
      throw EngineError.files(error, "the lock of the store could not be checked")
    }
  }

  /// The newest record, for an opening for reading only; empty if this process is attached itself.
  func publishedRecord() throws(EngineError) -> PublishedRecord {
    guard attachment == nil else { return PublishedRecord() }
    if let record = try newestRecord() { return PublishedRecord(record: record, counter: record.counter) }
    // Records of ended processes are invalid, but later records continue their counter.
    let counter = try reading { (file) throws(FileSystemError) in
      try SharedHeader(file, isWritten: false).newest()?.counter
    }
    return PublishedRecord(counter: counter ?? 0)
  }

  /// How often processes have attached to the store while others had it open.
  func attachCount() throws(EngineError) -> UInt64 {
    try reading { (file) throws(FileSystemError) in try SharedHeader(file, isWritten: false).attachCount() }
      ?? 0
  }

  private func reading<Result>(
    _ body: (any File) throws(FileSystemError) -> Result?
  ) throws(EngineError) -> Result? {
    do {
      return try body(try directory.open(ProcessAttachment.processesName, .readOnly))
    } catch {
      if error.code == .notFound { return nil }
      throw EngineError.files(error, "the shared header of the store could not be read")
    }
  }
}

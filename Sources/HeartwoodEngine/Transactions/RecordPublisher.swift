import HeartwoodFiles

/// Publishes the records of this process in the shared header, if it holds the lease. Any thread.
final class RecordPublisher: Sendable {
  let lease: WriterLease
  /// Nil if no other process can write; then nothing is published.
  let attachment: ProcessAttachment?
  private let identifier: StoreIdentifier
  private let segments: LogSegments
  private let synced: DurableState
  private let numbers: SegmentNumbers
  /// Whether this process makes anything durable.
  private let syncs: Bool

  init(
    _ lease: WriterLease, _ attachment: ProcessAttachment?, _ log: Log, _ numbers: SegmentNumbers, syncs: Bool
  ) {
    self.lease = lease
    self.attachment = attachment
    identifier = log.identifier
    segments = log.path
    synced = log.synced
    self.numbers = numbers
    self.syncs = syncs
  }

  /// Publishes the end of the log.
  ///
  /// - Parameter held: Nil if the thread does not hold the writer lock.
  func publish(_ held: WriterHeld? = nil) throws(EngineError) {
    guard attachment != nil else { return }
    do {
      try announce(held)
    } catch {
      throw EngineError.files(error, "the commit could not be published to other processes")
    }
  }

  /// Announces this process as the writer, so that other processes recover the log if it is killed. Must be
  /// called before any file is changed.
  func announceLease(_ held: WriterHeld?) throws(EngineError) {
    if attachment != nil, !lease.isAnnounced { try publish(held) }
  }

  func announce(_ held: WriterHeld? = nil) throws(FileSystemError) {
    try lease.announce(held) { () throws(FileSystemError) in try write(isHeld: true) }
  }

  /// Writes a record.
  ///
  /// - Precondition: Called by `WriterLease`, which holds its lock.
  /// - Returns: The counter of the record.
  func write(isHeld: Bool) throws(FileSystemError) -> UInt64 {
    let (end, durable) = (segments.published, durableForOthers)
    let record = WriterRecord(
      identifier: identifier, writer: lease.name, isHeld: isHeld, end: end,
      // The synced end may be after the published end.
      durable: durable.sequence > end.sequence ? end : durable, nextSegment: numbers.upcoming)
    if let memory = lease.records { return memory.write(record) }
    return try attachment?.page.write(record) ?? 0
  }

  /// Whether a record says what this process would publish, and that no process writes.
  func isCurrent(_ record: WriterRecord) -> Bool {
    !record.isHeld && record.identifier == identifier && record.end == segments.published
      && record.durable == durableForOthers && record.nextSegment == numbers.upcoming
  }

  /// A process without syncs has made nothing durable, even if its own state says so.
  private var durableForOthers: LogPoint {
    syncs ? synced.durable : segments.tail.first?.header.firstPoint ?? synced.durable
  }
}

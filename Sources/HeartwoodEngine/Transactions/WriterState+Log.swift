import HeartwoodFiles

/// Maintains the log besides appending: new segments, and the anchor.
extension WriterState {
  /// Continues the log in a new segment if the current one is full, or if `Log.mustRoll` is set.
  ///
  /// Called before a transaction begins, because the positions of its values are assigned before it commits.
  func prepareLog() throws(EngineError) {
    guard log.mustRoll || log.end.position.offset >= options.segmentBytes else { return }
    try drain()
    do throws(EngineError) {
      try roll()
    } catch {
      guard error.code == .noSpace else { throw error }
      // A full segment may grow beyond its usual size: the coming transaction may free space.
      if log.mustRoll {
        guard folder.spendReserve() else { throw error }
        try roll()
      }
    }
  }

  /// Continues the log in a new segment.
  func roll() throws(EngineError) {
    try anchor.records.announceLease(held)
    // 1. Create the file, with the exact end of its predecessor in its header, and make it and its name durable. A
    //    crash here leaves a file that nothing refers to.
    let number = try numbers.take()
    let factory = LogSegmentFactory(folder: folder, identifier: log.identifier, options: options)
    let segment: LogSegment
    do {
      segment = try factory.make(
        number: number, predecessor: log.end, durableThrough: log.durable.sequence &- 1)
    } catch {
      log.noteFailure(error)
      throw error
    }
    do {
      try factory.makeDurable(segment)
    } catch {
      if error.code == .noSpace { folder.unlink([SegmentName.log(number)]) }
      throw error
    }
    // 2. Name it in the anchor. Frames are appended to it only after that.
    let upcoming = numbers.upcoming
    let knownDurable = log.durable
    do {
      try updateAnchor {
        $0.lastLogSegment = number
        $0.nextSegment = upcoming
        $0.knownDurable = knownDurable
        $0.isClean = false
      }
    } catch {
      // The anchor may name the new segment all the same. Frames appended to the old one would then not be part of
      // the log.
      log.requireRoll()
      log.abandon(number)
      throw error
    }
    // 3. Move the end of the log to its beginning.
    log.take(segment, filled: Format.firstFillBytes)
    try unlinkAbandoned()
  }

  /// Unlinks the segments that were begun for rolled-back transactions.
  func unlinkAbandoned() throws(EngineError) {
    guard !log.abandoned.isEmpty else { return }
    // The older slot may name the last of them, and a store can be opened by either slot.
    try updateAnchor { _ in }
    folder.unlink(log.abandoned.map(SegmentName.log))
    log.forgetAbandoned()
  }

  /// Clears the anchor's clean-close flag. Called before a frame is written.
  func markInUse() throws(EngineError) {
    try anchor.records.announceLease(held)
    guard anchor.file.isClean else { return }
    try updateAnchor { $0.isClean = false }
  }

  func updateAnchor(_ change: (inout AnchorSlot) -> Void) throws(EngineError) {
    try anchor.update(held, change)
  }
}

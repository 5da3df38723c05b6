import HeartwoodFiles

/// Creates an empty store that begins at a later generation, so that its transactions have greater numbers
/// than those of the damaged store, which programs may have stored in values.
struct SalvageCreation {
  let path: String
  let options: EngineOptions
  let fileSystem: any FileSystem

  /// Number of the first segment; the one before it counts as reclaimed.
  private static let segmentNumber: UInt32 = 2

  /// - Throws: `.exists` if there is a store already.
  func make(after generation: UInt64) throws(EngineError) {
    let directory = try StoreFolder.directory(path, options, fileSystem)
    guard case .empty(let folder) = try StoreFolder.open(directory, path, options) else {
      throw EngineError(.exists, "there is a store at this path; name another one", file: path)
    }
    defer { folder.close() }
    try folder.clearUnfinishedCreation()
    do throws(EngineError) {
      try make(in: folder, after: generation)
    } catch {
      folder.unlink([SegmentName.log(Self.segmentNumber), StoreFolder.newAnchorName])
      throw error
    }
  }

  private func make(in folder: StoreFolder, after generation: UInt64) throws(EngineError) {
    let identifier = StoreIdentifier(low: options.entropy.next(), high: options.entropy.next())
    let factory = LogSegmentFactory(folder: folder, identifier: identifier, options: options)
    let before = LogPoint(
      position: LogPosition(segment: Self.segmentNumber - 1, offset: Format.segmentHeaderBytes), sequence: 1,
      chain: 0, generation: generation)
    // 1. A log that begins with a checkpoint of an empty tree of that generation.
    let segment = try factory.make(number: Self.segmentNumber, predecessor: before, durableThrough: 0)
    let (frame, end) = firstFrame(of: segment)
    do {
      try segment.file.write(all: frame.bytes, at: Format.segmentHeaderBytes)
    } catch {
      throw EngineError.files(error, "the new store could not be made")
    }
    try factory.makeDurable(segment)
    // 2. An anchor that names it.
    let slot = AnchorSlot(
      identifier: identifier, sequence: AnchorSlot.firstSequence, created: options.clock.nanosecondsSince1970,
      checkpoint: segment.header.firstPoint.position, checkpointChecksum: frame.checksum,
      lastLogSegment: Self.segmentNumber, knownDurable: end, nextSegment: Self.segmentNumber + 1,
      isClean: true)
    try AnchorFile.create(slot, in: folder, syncs: options.durability != .none).close()
  }

  private func firstFrame(
    of segment: LogSegment
  ) -> (frame: (bytes: [UInt8], checksum: UInt64), end: LogPoint) {
    let first = segment.header.firstPoint
    let record = CheckpointRecord(
      generation: first.generation,
      root: CheckpointRecord.Root(reference: 0, checksum: 0, level: 0, count: 0), replay: first,
      previous: nil,
      previousChecksum: 0, previousGeneration: 0, nextSegment: segment.number + 1,
      segments: [
        CheckpointRecord.Segment(
          number: segment.number, isLog: true, extent: UInt64(first.position.offset), chain: first.chain)
      ])
    let header = FrameHeader(
      kind: Format.checkpointKind, flags: 0, payloadBytes: 0, recordCount: 0, sequence: first.sequence,
      transaction: first.generation, previous: first.chain, durableThrough: 0, time: 0, puts: 0, deletes: 0)
    let frame = record.frame(header, segmentSeed: segment.seed, offset: first.position.offset)
    let end = LogPoint(
      position: LogPosition(segment: segment.number, offset: first.position.offset + frame.bytes.count),
      sequence: first.sequence &+ 1, chain: frame.checksum, generation: first.generation)
    return (frame, end)
  }
}

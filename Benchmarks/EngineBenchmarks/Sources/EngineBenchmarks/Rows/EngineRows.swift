import BenchmarkHarness

/// The rows of the engine's table, in the order in which they run: each store is loaded, brought to rest and
/// opened again before it is read, and read before it is changed.
extension EngineRow {
  /// All rows of the table.
  public static var all: [EngineRow] {
    loads + lookUps + scans + ranks + overwritten + changes + threads + ends
  }

  private static var loads: [EngineRow] {
    [
      loading(Name.sortedLoad, .sorted), sizeAtRest(Name.sortedSize, .sorted),
      loading(Name.randomLoad, .shuffled), sizeAtRest(Name.randomSize, .shuffled),
      openAfterClose,
    ]
  }

  private static var lookUps: [EngineRow] {
    var rows = [
      readingSnapshot(Name.reads, .sorted, lookUp), newestReads,
      readingSnapshot(Name.readsOfRandom, .shuffled, lookUp),
    ]
    rows[0].needsSnapshots = true
    rows[2].needsSnapshots = true
    return rows
  }

  /// Single reads, each of the newest state.
  public static var newestReads: EngineRow {
    reading(Name.newestReads) { store, work, digest in
      for index in 0..<work.lookUps.count { try store.getNewest(work.lookUps[index], into: &digest) }
      return work.lookUps.count
    }
  }

  private static var scans: [EngineRow] {
    [
      fullScan, ranges,
      readingSnapshot(Name.scanOfRandom, .shuffled, scanAll),
      readingSnapshot(Name.rangesOfRandom, .shuffled, scanRanges),
    ]
  }

  /// A scan of everything.
  public static var fullScan: EngineRow { readingSnapshot(Name.scan, .sorted, scanAll) }
  /// Scans of a hundred records from random keys on.
  public static var ranges: EngineRow { readingSnapshot(Name.ranges, .sorted, scanRanges) }

  private static var ranks: [EngineRow] {
    [
      asking(Name.count) { reader, work, index, digest in
        let bounds = work.countBounds[index]
        let (lower, upper) = (work.records.key(bounds.lower), work.records.key(bounds.upper))
        digest.add(UInt64(try reader.count(from: lower, to: upper)))
      },
      asking(Name.entry) { reader, work, index, digest in
        try reader.entry(at: work.ranks[index], into: &digest)
      },
    ]
  }

  /// The randomly loaded store, every record of which is put anew in another random order.
  private static var overwritten: [EngineRow] {
    var overwriting = updating(Name.overwriting, .shuffled, perCommit: 100, version: 50) { $0.overwrites }
    overwriting.isNeeded = true
    return [
      overwriting,
      readingSnapshot(Name.scanOfOverwritten, .shuffled, scanAll),
      readingSnapshot(Name.rangesOfOverwritten, .shuffled, scanRanges),
    ]
  }

  private static var changes: [EngineRow] {
    [
      updates, singleUpdates,
      updating(Name.durableSingles, durable: true, perCommit: 1, version: 17) { $0.durableSingles },
      updating(Name.durableHundreds, durable: true, perCommit: 100, version: 25) { $0.durableHundreds },
    ]
  }

  /// Updates of random keys, a hundred in a commit.
  public static var updates: EngineRow {
    updating(Name.updates, perCommit: 100, version: 1) { $0.updates }
  }

  /// Updates of random keys, each a commit.
  public static var singleUpdates: EngineRow {
    updating(Name.singleUpdates, perCommit: 1, version: 9) { $0.singleUpdates }
  }

  private static var threads: [EngineRow] {
    [durableThreads, durableThreadsRatio, zipfian, readsBesideWriter, writesBesideReaders]
  }

  private static var ends: [EngineRow] {
    [
      EngineRow(name: Name.deletes, changes: true) { session, work in
        let (store, keys) = (try session.store(.sorted), work.deletes)
        let seconds = try timed {
          try inCommits(store, of: 100, count: keys.count) { writer, index in try writer.delete(keys[index]) }
        }.seconds
        return PeerMeasurement(figure: Double(keys.count) / seconds)
      },
      openAfterCrash,
    ]
  }

  private static func lookUp(
    _ reader: any PeerReader, _ work: EngineWork, _ digest: inout ReadDigest
  ) throws -> Int {
    for index in 0..<work.lookUps.count { try reader.get(work.lookUps[index], into: &digest) }
    return work.lookUps.count
  }

  private static func scanAll(
    _ reader: any PeerReader, _ work: EngineWork, _ digest: inout ReadDigest
  ) throws -> Int {
    try reader.scan(from: nil, limit: .max, into: &digest)
  }

  private static func scanRanges(
    _ reader: any PeerReader, _ work: EngineWork, _ digest: inout ReadDigest
  ) throws -> Int {
    for index in 0..<work.scanStarts.count {
      _ = try reader.scan(from: work.scanStarts[index], limit: 100, into: &digest)
    }
    return work.scanStarts.count
  }
}

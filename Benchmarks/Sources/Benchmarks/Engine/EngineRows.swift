/// The rows of the engine's table, in the order in which they run: each store is loaded, brought to rest and
/// opened again before it is read, and read before it is changed.
extension EngineRow {
  static var all: [EngineRow] {
    loads + lookUps + scans + ranks + [
      updating("random updates, 100 a commit, no sync", perCommit: 100, version: 1) { $0.updates },
      updating("random updates, 1 a commit, no sync", perCommit: 1, version: 9) { $0.singleUpdates },
      updating("durable commits of 1 put (commits/s)", durable: true, perCommit: 1, version: 17) {
        $0.durableSingles
      },
      updating("durable commits of 100 puts (puts/s)", durable: true, perCommit: 100, version: 25) {
        $0.durableHundreds
      },
      deletes,
    ]
  }

  private static var loads: [EngineRow] {
    [
      loading("bulk load, sorted", .sorted), sizeAtRest("size at rest, sorted load", .sorted),
      loading("bulk load, random", .shuffled), sizeAtRest("size at rest, random load", .shuffled),
      openAfterClose,
    ]
  }

  private static var lookUps: [EngineRow] {
    [
      readingSnapshot("random reads, one snapshot", .sorted, lookUp),
      reading("random reads, newest each time") { store, work, digest in
        for index in 0..<work.lookUps.count { try store.getNewest(work.lookUps[index], into: &digest) }
        return work.lookUps.count
      },
      readingSnapshot("random reads, randomly loaded", .shuffled, lookUp),
    ]
  }

  private static var scans: [EngineRow] {
    [
      readingSnapshot("full scan (records/s)", .sorted, scanAll),
      readingSnapshot("range scans of 100", .sorted, scanRanges),
      readingSnapshot("full scan, randomly loaded", .shuffled, scanAll),
      readingSnapshot("range scans, randomly loaded", .shuffled, scanRanges),
    ]
  }

  private static var ranks: [EngineRow] {
    [
      readingSnapshot("count of a random range") { reader, work, digest in
        for bounds in work.countBounds {
          let (lower, upper) = (work.records.key(bounds.lower), work.records.key(bounds.upper))
          digest.add(UInt64(try reader.count(from: lower, to: upper)))
        }
        return work.countBounds.count
      },
      readingSnapshot("entry at a random rank") { reader, work, digest in
        for rank in work.ranks { try reader.entry(at: rank, into: &digest) }
        return work.ranks.count
      },
    ]
  }

  private static var deletes: EngineRow {
    EngineRow(name: "deletes, 100 a commit, no sync", changes: true) { session, work in
      let (store, keys) = (try session.store(.sorted), work.deletes)
      let seconds = try timed {
        try inCommits(store, of: 100, count: keys.count) { writer, index in try writer.delete(keys[index]) }
      }.seconds
      return Measurement(figure: Double(keys.count) / seconds)
    }
  }

  private static var openAfterClose: EngineRow {
    EngineRow(name: "open after clean close, and one read", unit: .milliseconds) { session, work in
      var times: [Double] = []
      var digest = ReadDigest()
      for _ in 0..<5 {
        try session.close(.sorted)
        times.append(
          try timed { try session.store(.sorted).getNewest(work.lookUps[0], into: &digest) }.seconds)
      }
      return Measurement(figure: median(times) * 1000, digest: digest.value)
    }
  }

  /// One commit of everything.
  private static func loading(_ name: String, _ load: Load) -> EngineRow {
    EngineRow(name: name, load: load, changes: true, isNeeded: true) { session, work in
      let store = try session.store(load)
      let (records, order) = (work.records, work.shuffled)
      let seconds = try timed {
        try store.write { writer in
          for index in 0..<records.count {
            switch load {
            case .sorted: try writer.append(records.key(index), records.value(index, version: 0))
            case .shuffled: try writer.put(order[index], records.value(order.ranks[index], version: 0))
            }
          }
        }
      }.seconds
      return Measurement(figure: Double(records.count) / seconds)
    }
  }

  private static func sizeAtRest(_ name: String, _ load: Load) -> EngineRow {
    EngineRow(name: name, unit: .bytes, load: load, isNeeded: true) { session, _ in
      try session.close(load)
      return Measurement(figure: Double(try session.occupiedBytes(load)))
    }
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

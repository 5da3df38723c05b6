import BenchmarkHarness
import EngineBenchmarks

/// The rows of the growth table: chosen ones of the engine's, the memory that the process takes, and how
/// updating goes on with no reader and beside a reader that keeps its first generation all the time.
extension EngineRow {
  static func growth(_ baseline: @escaping () -> Int) -> [EngineRow] {
    [
      loading(Name.sortedLoad, .sorted), sizeAtRest(Name.sortedSize, .sorted),
      loading(Name.randomLoad, .shuffled), sizeAtRest(Name.randomSize, .shuffled),
      newestReads, fullScan, ranges, updates, singleUpdates,
      memory("memory of its own", baseline), peakMemory,
      closing(.sorted), closing(.shuffled),
    ] + updatingQuarter(.alone, "updating a quarter")
      + updatingQuarter(.pinned, "the same beside an old reader")
  }

  /// The memory that the process holds more than before its stores were opened, mapped files left out.
  private static func memory(_ name: String, _ baseline: @escaping () -> Int) -> EngineRow {
    EngineRow(name: name, unit: .bytes) { _, _ in
      PeerMeasurement(figure: Double(max(0, ProcessMemory.ownBytes() - baseline())))
    }
  }

  /// The most that was ever resident, mapped files and the benchmark's own keys included.
  private static var peakMemory: EngineRow {
    EngineRow(name: "peak of what was resident", unit: .bytes) { _, _ in
      PeerMeasurement(figure: Double(ProcessMemory.peakBytes()))
    }
  }

  /// Closes a store, so that the next ones are alone. Not shown.
  private static func closing(_ load: Load) -> EngineRow {
    EngineRow(name: "", load: load) { session, _ in
      try session.close(load)
      return PeerMeasurement(figure: .nan)
    }
  }

  private static func updatingQuarter(_ load: Load, _ name: String) -> [EngineRow] {
    [
      hidden(loading("", load)),
      EngineRow(
        name: name + ", 100 a commit, no sync", load: load, changes: true, needsSnapshots: load == .pinned
      ) { session, work in
        load == .pinned ? try updatePinned(session, work) : try updateQuarter(try session.store(load), work)
      },
      EngineRow(
        name: name + ": size afterwards", unit: .bytes, load: load, needsSnapshots: load == .pinned
      ) { session, _ in
        PeerMeasurement(figure: try session.bytesAfterwards(load))
      },
      closing(load),
    ]
  }

  private static func hidden(_ row: EngineRow) -> EngineRow {
    EngineRow(name: "", unit: row.unit, load: row.load, changes: row.changes, run: row.run)
  }

  private static func updateQuarter(_ store: any EnginePeer, _ work: EngineWork) throws -> PeerMeasurement {
    let keys = work.updates
    let seconds = try timed { try update(store, work, keys, perCommit: 100, version: 50) }.seconds
    return PeerMeasurement(figure: Double(keys.count) / seconds)
  }

  /// The reader sees at the end what it saw at the beginning, or peers differ.
  private static func updatePinned(_ session: EngineSession, _ work: EngineWork) throws -> PeerMeasurement {
    let store = try session.store(.pinned)
    let pinned = try store.forAnotherThread()
    var measurement = PeerMeasurement(figure: .nan)
    try pinned.read { reader in
      let before = try digest(of: reader)
      measurement = try updateQuarter(store, work)
      try store.settle()
      try session.weigh(.pinned)
      let after = try digest(of: reader)
      guard before == after else {
        throw BenchmarkError("\(session.kind.name) changes under a reader")
      }
      measurement.digest = after
    }
    try pinned.close()
    return measurement
  }

  private static func digest(of reader: any PeerReader) throws -> UInt64 {
    var digest = ReadDigest()
    try reader.scanWholly(into: &digest)
    return digest.value
  }
}

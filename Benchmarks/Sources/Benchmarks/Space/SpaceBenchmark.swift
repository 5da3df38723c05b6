import BenchmarkHarness
import EngineBenchmarks
import HeartwoodEngine

/// How much room a store takes whose records are overwritten again and again, and how long commits take beside
/// the checkpoints and the moving of values that keep it small.
struct SpaceBenchmark {
  private static let passes = 10
  private static let putsOfCommit = 100

  let options: Options

  func run() throws -> [String] {
    let records = Records(count: options.recordCounts.first ?? 1_000_000, shape: options.keys)
    let policies = [EngineOptions.Reclamation.automatic, .onDemand]
    return try policies.filter { options.includes(row: "\($0)") }.flatMap { policy in
      try Life(records, policy, in: options.directory).run()
    }
  }

  /// One store: filled in random order, overwritten, given space back, looked at.
  private final class Life {
    private let records: Records
    private let policy: EngineOptions.Reclamation
    private let scratch: Scratch
    private var engine: Engine
    private var random = SplitMix64(seed: 3)
    private var version = 0

    init(_ records: Records, _ policy: EngineOptions.Reclamation, in directory: String) throws {
      self.records = records
      self.policy = policy
      scratch = try Scratch(in: directory, named: "space")
      engine = try Engine(at: scratch.path + "/store", options: Self.options(policy))
    }

    private static func options(_ policy: EngineOptions.Reclamation) -> EngineOptions {
      var options = EngineOptions(durability: .deferred)
      options.reclamation = policy
      return options
    }

    func run() throws -> [String] {
      progress("reclamation \(policy): \(records.count) records, overwritten \(SpaceBenchmark.passes) times")
      _ = try overwrite()
      try reopen()
      let loaded = try scratch.occupiedBytes()
      let (seconds, peak) = try timed { try overwriteAgain() }
      let stall = try singleCommits()
      try reopen()
      let closed = try scratch.occupiedBytes()
      let reclaiming = try timed { try engine.reclaim() }
      try reopen()
      let rest = try scratch.occupiedBytes()
      let parts = try engine.statistics()
      try check()
      try engine.close()
      return [
        "reclamation \(policy): loaded \(times(loaded)); while overwritten at most \(times(peak)); "
          + "closed \(times(closed)); after reclaim() \(times(rest)), of which \(times(Int(parts.logBytes))) log and "
          + "\(times(Int(parts.pageBytes))) pages, in \(decimal(reclaiming.seconds, places: 2)) s "
          + "(times the keys and values, \(decimal(Double(liveBytes) / 1e6, places: 0)) MB)",
        "reclamation \(policy): \(SpaceBenchmark.passes * records.count) puts, \(SpaceBenchmark.putsOfCommit) a commit, "
          + "in \(decimal(seconds, places: 1)) s; \(stall)",
      ]
    }

    private var liveBytes: Int { records.count * (Records.keyBytes + Records.valueBytes) }

    private func times(_ bytes: Int) -> String { decimal(Double(bytes) / Double(liveBytes), places: 2) }

    private func reopen() throws {
      try engine.close()
      engine = try Engine(at: scratch.path + "/store", options: Self.options(policy))
    }

    private func overwriteAgain() throws -> Int {
      var peak = 0
      for _ in 0..<SpaceBenchmark.passes { peak = max(peak, try overwrite()) }
      return peak
    }

    /// Puts every record once, in random order. Returns the most room that was seen to be taken meanwhile.
    private func overwrite() throws -> Int {
      version += 1
      let order = (0..<records.count).shuffled(using: &random)
      var peak = 0
      for start in stride(from: 0, to: order.count, by: SpaceBenchmark.putsOfCommit) {
        try engine.write { transaction in
          for rank in order[start..<min(order.count, start + SpaceBenchmark.putsOfCommit)] {
            try transaction.put(records.key(rank), records.value(rank, version: version))
          }
        }
        if start.isMultiple(of: 50 * SpaceBenchmark.putsOfCommit) {
          peak = max(peak, try scratch.occupiedBytes())
        }
      }
      return peak
    }

    /// One put a commit, each of them timed.
    private func singleCommits() throws -> String {
      version += 1
      var nanoseconds: [Int] = []
      let order = (0..<records.count).shuffled(using: &random)
      nanoseconds.reserveCapacity(order.count)
      for rank in order {
        let start = Stopwatch.seconds()
        try engine.write { try $0.put(records.key(rank), records.value(rank, version: version)) }
        nanoseconds.append(Int((Stopwatch.seconds() - start) * 1e9))
      }
      nanoseconds.sort()
      func at(_ share: Double) -> String {
        decimal(Double(nanoseconds[min(order.count - 1, Int(share * Double(order.count)))]) / 1000, places: 1)
      }
      return "single commits, deferred: median \(at(0.5)) µs, 99 % \(at(0.99)), 99.9 % \(at(0.999)), "
        + "99.99 % \(at(0.9999)), longest \(at(1))"
    }

    /// Every record has its last value.
    private func check() throws {
      try engine.read { snapshot in
        guard snapshot.count == UInt64(records.count) else { throw BenchmarkError("records are missing") }
        for rank in 0..<records.count {
          let value = try snapshot.pointer(of: records.key(rank))
          guard let value, value.elementsEqual(records.value(rank, version: version)) else {
            throw BenchmarkError("record \(rank) does not have its last value")
          }
        }
      }
    }
  }
}

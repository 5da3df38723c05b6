import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

/// A store under a workload, with a witness beside it.
final class Session {
  let witness: Witness
  private let fileSystem: any FileSystem
  private var engine: Engine?
  /// What the engine sees of the file system, until the process is killed.
  private var process: FaultInjectingFileSystem
  /// What failed, in order.
  private(set) var errors: [EngineError] = []

  init(_ fileSystem: any FileSystem, witness: Witness = Witness()) {
    self.fileSystem = fileSystem
    self.witness = witness
    process = FaultInjectingFileSystem(base: fileSystem)
  }

  static let path = "/store"

  /// Small segments, everything on the caller's thread, and the same bytes at every run.
  static var options: EngineOptions {
    EngineOptions(
      segmentBytes: 64 << 10, checkpointBytes: 1 << 20, worker: InlineWorker(), clock: FixedClock(),
      entropy: CountingEntropy())
  }

  /// Runs all steps; the first error ends them.
  func run(_ steps: [Step]) throws {
    try open()
    for step in steps { try run(step) }
  }

  /// Runs all steps, going on after errors as an application would: what failed is not repeated, and a
  /// store that has stopped is closed and opened again.
  func runThroughErrors(_ steps: [Step]) {
    persist { try self.open() }
    for step in steps {
      persist { try self.run(step) }
      if engine == nil { persist { try self.open() } }
    }
  }

  private func persist(_ body: () throws -> Void) {
    do {
      try body()
    } catch let error as EngineError {
      errors.append(error)
      if error.code == .stopped || error.isOutcomeUnknown || isStopped { discard() }
    } catch {
      Issue.record("an error of another kind: \(error)")
    }
  }

  /// Whether the store refuses to be written.
  private var isStopped: Bool {
    do {
      try engine?.write { _ in }
      return false
    } catch {
      return true
    }
  }

  /// Closes what can't be used any more; reading works up to then.
  private func discard() {
    if let engine {
      if let rows = try? Self.rows(of: engine) {
        #expect(witness.candidates.contains(rows), "a stopped store shows \(rows.summary)")
      } else {
        Issue.record("a stopped store can't be read")
      }
      try? engine.close()
    }
    engine = nil
  }

  // MARK: Steps

  func run(_ step: Step) throws {
    switch step {
    case .commit(let durability, let edits): try commit(durability, edits)
    case .giveUp(let edits): try giveUp(edits)
    case .checkpoint:
      try engine?.checkpoint()
      witness.acknowledge()
    case .reopen:
      try close()
      try open()
    case .kill:
      kill()
      try open()
    }
  }

  func open() throws {
    guard engine == nil else { return }
    process = FaultInjectingFileSystem(base: fileSystem)
    let opened = try Engine(at: Self.path, options: Self.options, fileSystem: process)
    engine = opened
    let rows = try Self.rows(of: opened)
    #expect(
      witness.settle(on: rows), "found \(rows.summary), possible \(witness.candidates.map(\.summary))")
  }

  func close() throws {
    let closing = engine
    // Whatever close says, the store is closed.
    engine = nil
    try closing?.close()
    witness.acknowledge()
  }

  /// Ends the use of the store without another call that could change anything.
  func kill() {
    process.use(FaultPlan([.init(.any, duration: .forever)]))
    engine = nil
  }

  private func commit(_ durability: Durability, _ edits: [Edit]) throws {
    guard let engine else { return }
    let number = witness.begin()
    var rows = witness.newest
    for edit in edits { edit.apply(to: &rows, transaction: number) }
    witness.attempt(rows)
    do {
      try engine.write(durability: durability) { transaction in
        for edit in edits { try edit.apply(to: transaction, number: number) }
      }
    } catch {
      if (error as? EngineError)?.isOutcomeUnknown != true { witness.withdraw() }
      throw error
    }
    if durability == .full { witness.acknowledge() }
    #expect(try Self.rows(of: engine) == rows)
  }

  private func giveUp(_ edits: [Edit]) throws {
    guard let engine else { return }
    let number = witness.begin()
    do {
      try engine.write { transaction in
        for edit in edits { try edit.apply(to: transaction, number: number) }
        throw SecondThoughts()
      }
    } catch is SecondThoughts {}
    #expect(try Self.rows(of: engine) == witness.newest)
  }

  private struct SecondThoughts: Error {}

  static func rows(of engine: Engine) throws -> Rows {
    var rows: Rows = [:]
    try engine.snapshot().scan { key, value in
      rows[String(decoding: key, as: UTF8.self)] = Array(value)
      return true
    }
    return rows
  }
}

extension Rows {
  /// Enough to tell one state from another in a message.
  var summary: String {
    let parts = sorted { $0.key < $1.key }.map { key, value in
      "\(key)=\(String(decoding: value.prefix(6), as: UTF8.self))…\(value.count)"
    }
    return "{" + parts.prefix(12).joined(separator: " ") + (count > 12 ? " … \(count)}" : "}")
  }
}

/// Always the same moment.
struct FixedClock: WallClock {
  var nanosecondsSince1970: Int64 { 1_700_000_000_000_000_000 }
}

/// Numbers that differ and do not surprise.
final class CountingEntropy: Entropy, @unchecked Sendable {
  private let lock = Lock()
  private var state: UInt64 = 0

  func next() -> UInt64 {
    lock.withLock {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}

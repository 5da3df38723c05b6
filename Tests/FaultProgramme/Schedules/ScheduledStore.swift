import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// A store on a simulated disk for the threads of an exploration, and the commits that were acknowledged.
///
/// Each commit increments `counter` and a key of its thread. At the end both are compared with the
/// acknowledgements, which are recorded outside of the processes. Only one thread of a run is active at a
/// time, so no lock is needed.
final class ScheduledStore: @unchecked Sendable {
  let disk = SimulatedFileSystem(seed: 1)
  private let threads: ExploredThreads
  private var processes: [ScheduledProcess] = []
  /// By thread: the number of acknowledged commits, and of those begun.
  private(set) var acknowledged: [String: Int] = [:]
  private var begun: [String: Int] = [:]

  static let path = "/store"

  /// - Parameters:
  ///   - threads: The threads of the run. The store is checked after them.
  ///   - make: Makes the store; nil for an empty one of the engine.
  init(_ threads: ExploredThreads, _ make: ((SimulatedFileSystem) throws -> Void)? = nil) throws {
    self.threads = threads
    if let make {
      try make(disk)
    } else {
      try Engine(at: Self.path, options: Self.options, fileSystem: disk).close()
    }
    threads.afterwards { [self] in try check() }
  }

  /// Options for files so small that a few commits need several, and for reproducible runs.
  static var options: EngineOptions {
    var options = EngineOptions(
      busyTimeout: 1000, segmentBytes: 64 << 10, checkpointBytes: 64 << 20, worker: InlineWorker(),
      clock: SimulatedClock(), entropy: SeededEntropy(seed: 1))
    (options.idleSeconds, options.sharesInProcess, options.toleratedGarbage) = (nil, false, 0)
    return options
  }

  /// Adds a process that can open the store.
  func process(_ name: String, _ change: (inout EngineOptions) -> Void = { _ in }) -> ScheduledProcess {
    var options = Self.options
    options.worker = threads.worker("\(name)'s worker", process: name)
    options.entropy = SeededEntropy(seed: UInt64(processes.count + 2))
    change(&options)
    let process = ScheduledProcess(name, disk.process(named: name), options)
    processes.append(process)
    return process
  }

  /// Adds a thread of a process.
  func thread(_ name: String, of process: ScheduledProcess, _ body: @escaping @Sendable () throws -> Void) {
    threads.add(name, process: process.name) {
      do {
        try body()
      } catch let error as EngineError where process.isKilled || error.code == .locked {
        // Lock timeouts are possible, because virtual time passes while the thread waits.
      }
    }
  }

  /// Writes one commit of a thread, which increments both counters.
  ///
  /// - Parameter filling: The number of additional bytes.
  func commit(_ thread: String, _ engine: Engine, filling: Int = 0, _ durability: Durability = .full) throws {
    begun[thread, default: 0] += 1
    try engine.write(durability: durability) { transaction in
      for key in ["counter", thread] {
        let count = try Self.number(transaction.get(key))
        try transaction.put(key, [UInt8(count + 1)])
      }
      if filling > 0 { try transaction.put("filling", [UInt8](repeating: 7, count: filling)) }
    }
    acknowledged[thread, default: 0] += 1
  }

  /// The number of commits acknowledged so far.
  var acknowledgedCount: Int { acknowledged.values.reduce(0, +) }

  static func number(_ value: [UInt8]?) -> Int { Int(value?.first ?? 0) }

  // MARK: Final checks

  private func check() throws {
    // The processes end without further calls, as killed ones do.
    let wasKilled = processes.contains(where: \.isKilled)
    for process in processes { process.system.kill() }
    for access in [EngineOptions.Access.readOnly, .readWrite] {
      var options = Self.options
      options.access = access
      options.acceptsOtherContent = true
      let engine = try Engine(at: Self.path, options: options, fileSystem: disk.process(named: "checker"))
      if access == .readWrite { try compare(engine, wasKilled: wasKilled) }
      let findings = try engine.verify().findings
      try require(findings.isEmpty, "verification finds \(findings)")
      try engine.close()
    }
  }

  private func compare(_ engine: Engine, wasKilled: Bool) throws {
    var sum = 0
    for (thread, begun) in begun.sorted(by: { $0.key < $1.key }) {
      let count = Self.number(try engine.get(thread))
      let expected = acknowledged[thread] ?? 0
      // It is unknown whether the last commit of a killed thread was made.
      let isRight = wasKilled ? expected...begun ~= count : count == expected
      try require(
        isRight, "\(thread): \(expected) of \(begun) commits were acknowledged, and \(count) are there")
      sum += count
    }
    let counter = Self.number(try engine.get("counter"))
    try require(counter == sum, "the threads' commits are \(sum), and the counter is \(counter)")
  }
}

/// A process of an exploration on the simulated disk.
final class ScheduledProcess: @unchecked Sendable {
  let name: String
  let system: SimulatedProcess
  let options: EngineOptions
  private(set) var isKilled = false

  fileprivate init(_ name: String, _ system: SimulatedProcess, _ options: EngineOptions) {
    self.name = name
    self.system = system
    self.options = options
  }

  func open(_ access: EngineOptions.Access = .readWrite) throws -> Engine {
    var options = options
    options.access = access
    return try Engine(
      at: ScheduledStore.path, options: options, fileSystem: ScheduledFileSystem(base: system))
  }

  /// Kills the process at an arbitrary point of its threads.
  func kill() {
    isKilled = true
    system.kill()
  }
}

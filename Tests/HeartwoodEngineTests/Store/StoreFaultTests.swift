import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// A failing call of the file system causes an error, never a lost or torn transaction.
@Suite struct StoreFaultTests {
  @Test(arguments: [FaultPlan.Duration.once, .forever], [FaultPlan.Effect.none, .half, .whole])
  func `whichever call fails, committed data stays and no other data appears`(
    duration: FaultPlan.Duration, effect: FaultPlan.Effect
  ) throws {
    let calls = try Course(plan: FaultPlan()).run()
    #expect(calls > 60)
    for occurrence in stride(from: 1, through: calls, by: 3) {
      let code: FileSystemError.Code = occurrence % 4 == 1 ? .inputOutput : .noSpace
      let fault = FaultPlan.Fault(
        .mutations, occurrence: occurrence, code: code, duration: duration, effect: effect)
      _ = try Course(plan: FaultPlan([fault])).run()
    }
  }

  @Test func `a failed read is an error and not the end of the log`() throws {
    let (store, model) = try StoreFiles.small()
    var refusals = 0
    for occurrence in 1...40 {
      let plan = FaultPlan([.init(.of(.read), occurrence: occurrence, code: .inputOutput)])
      let fileSystem = FaultInjectingFileSystem(base: try store.mounted(), plan: plan)
      do {
        let engine = try Engine(
          at: "/store", options: StoreKind.memoryBuffered.options, fileSystem: fileSystem)
        #expect(try engine.read { try $0.model() } == model)
      } catch let error as EngineError {
        #expect(error.code == .inputOutput)
        refusals += 1
      }
    }
    #expect(refusals > 3)
  }

  @Test func `a failed read in the middle of a long log that was not closed is an error and not its end`()
    throws
  {
    let memory = MemoryFileSystem()
    let options = StoreKind.memoryBuffered.options
    let writing = try Engine(at: "/store", options: options, fileSystem: memory)
    for number in 0..<5 {
      try writing.write { try $0.put("key \(number)", [UInt8](repeating: 1, count: 9_000)) }
    }
    let files = try StoreFiles(memory)
    try writing.close()
    var occurrence = 0
    var refusals = 0
    while true {
      occurrence += 1
      let plan = FaultPlan([
        .init(.of(.read), occurrence: occurrence, suffix: ".log", code: .inputOutput)
      ])
      let fileSystem = FaultInjectingFileSystem(base: try files.mounted(), plan: plan)
      let found = code { _ = try Engine(at: "/store", options: options, fileSystem: fileSystem) }
      guard fileSystem.injectedErrorCount > 0 else { break }
      #expect(found == .inputOutput, "read \(occurrence)")
      refusals += found == nil ? 0 : 1
      fileSystem.use(FaultPlan())
      let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
      #expect(try engine.snapshot().count == 5, "read \(occurrence)")
    }
    // The anchor, the segment's header, and the log in pieces of 16 KiB.
    #expect(refusals >= 5)
  }

  @Test func `after a failed sync the store is read-only, and reopening recovers it`() throws {
    let memory = MemoryFileSystem()
    let fileSystem = FaultInjectingFileSystem(base: memory)
    let options = StoreKind.memoryMapped.options
    let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    try engine.write { try $0.put("first", [1]) }
    fileSystem.use(FaultPlan([.init(.of(.sync))]))
    #expect(code { try engine.write { try $0.put("second", [2]) } } == .outcomeUnknown)
    #expect(code { try engine.write { try $0.put("third", [3]) } } == .stopped)
    #expect(code { try engine.checkpoint() } == .stopped)
    #expect(try engine.snapshot().get("first") == [1])
    #expect(try engine.snapshot().get("second") == nil)
    try engine.close()
    let again = try Engine(at: "/store", options: options, fileSystem: memory)
    #expect(try again.snapshot().get("first") == [1])
    #expect(try again.snapshot().get("second") == [2])
    #expect(try again.verify().findings == [])
  }

  @Test func `a commit that is on disk although writing it failed is removed, or reported as unknown`()
    throws
  {
    for isTakenAway in [true, false] {
      let memory = MemoryFileSystem()
      let fileSystem = FaultInjectingFileSystem(base: memory)
      let options = StoreKind.memoryMapped.options
      let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
      try engine.write { try $0.put("first", [1]) }
      var plan: FaultPlan = [.fail(.write, effect: .whole)]
      if !isTakenAway { plan = plan + [.fail(.write, .from(2))] }
      fileSystem.use(plan)
      let refusal = code { try engine.write { try $0.put("second", [2]) } }
      #expect(refusal == (isTakenAway ? .inputOutput : .outcomeUnknown))
      let killed = try StoreFiles(memory).mounted()
      let again = try Engine(at: "/store", options: options, fileSystem: killed)
      #expect(try again.snapshot().get("second") == (isTakenAway ? nil : [2]))
      fileSystem.use(FaultPlan())
      let next = code { try engine.write { try $0.put("third", [3]) } }
      #expect(next == (isTakenAway ? nil : .stopped))
    }
  }

  @Test func `on a full disk commits fail, reads continue, and commits succeed again with space`() throws {
    let fileSystem = FaultInjectingFileSystem(base: MemoryFileSystem())
    let engine = try Engine(at: "/store", options: StoreKind.memoryMapped.options, fileSystem: fileSystem)
    try engine.write { try $0.put("first", [1]) }
    fileSystem.use(FaultPlan(spaceLimit: 3_000))
    let large = [UInt8](repeating: 7, count: 40_000)
    #expect(code { try engine.write { try $0.put("second", large) } } == .noSpace)
    #expect(code { try engine.write { try $0.put("second", large) } } == .noSpace)
    #expect(try engine.snapshot().get("first") == [1])
    fileSystem.use(FaultPlan())
    try engine.write { try $0.put("second", large) }
    #expect(try engine.snapshot().get("second") == large)
    #expect(engine.newestGeneration.rawValue == 2)
    try engine.close()
    let again = try Engine(at: "/store", options: StoreKind.memoryMapped.options, fileSystem: fileSystem)
    #expect(try again.snapshot().get("second") == large)
    #expect(try again.verify().findings == [])
  }

  /// The simulated disk has windows, and a limit of its own.
  @Test
  func `on a full disk commits in place continue within the zeros of the file, and are refused after them`()
    throws
  {
    let disk = SimulatedFileSystem()
    var options = EngineOptions(durability: .deferred, worker: InlineWorker(), clock: SimulatedClock())
    options.entropy = SeededEntropy(seed: 1)
    let engine = try Engine(at: "/store", options: options, fileSystem: disk)
    let value = [UInt8](repeating: 7, count: 500)
    var model: Model = [:]
    func put() -> EngineError.Code? {
      let key = Array("\(model.count)".utf8)
      let refusal = code { try engine.write { try $0.put(key, value) } }
      if refusal == nil { model[key] = value }
      return refusal
    }
    for _ in 0..<5 { #expect(put() == nil) }
    for _ in 0..<3 {
      disk.spaceLimit = 0
      var commits = 0
      while commits < 1000, put() == nil { commits += 1 }
      #expect(commits < 100)
      #expect(put() == .noSpace)
      #expect(try engine.read { try $0.contents() }.count == model.count)
      disk.spaceLimit = nil
      for _ in 0..<50 { #expect(put() == nil) }
    }
    try engine.close()
    let again = try Engine(at: "/store", options: options, fileSystem: disk)
    #expect(try again.read { try $0.model() } == model)
    #expect(try again.verify().findings == [])
  }

  /// Commits soon after one that was written by a call are copied to a window, which no fault can reach.
  @Test func `a plan of faults applies to the next commit, also where the one before was written in place`()
    throws
  {
    let fileSystem = FaultInjectingFileSystem(base: SimulatedFileSystem())
    var options = EngineOptions(durability: .deferred, worker: InlineWorker(), clock: SimulatedClock())
    options.entropy = SeededEntropy(seed: 1)
    let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    var model: Model = [:]
    for round in 0..<20 {
      for commit in 0...round {
        let key = Array("\(round) \(commit)".utf8)
        try engine.write { try $0.put(key, [1]) }
        model[key] = [1]
      }
      fileSystem.use([.fail(.write, file: "*.log", .forever)])
      #expect(code { try engine.write { try $0.put("lost", [1]) } } == .inputOutput)
      fileSystem.use([])
      #expect(try engine.read { try $0.model() } == model)
    }
    try engine.close()
    let again = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    #expect(try again.read { try $0.model() } == model)
  }

  /// The larger value is a frame of its own.
  @Test(arguments: [Format.frameBytes - 1, Format.frameBytes])
  func `a transaction one of whose changes has failed cannot commit, whatever its closure says`(
    valueBytes: Int
  ) throws {
    let fileSystem = FaultInjectingFileSystem(base: MemoryFileSystem())
    let engine = try Engine(at: "/store", options: StoreKind.memoryMapped.options, fileSystem: fileSystem)
    try engine.write { try $0.put("first", [1]) }
    fileSystem.use(FaultPlan([.init(.of(.write), code: .noSpace, effect: .half)]))
    let found = code {
      try engine.write { transaction in
        try transaction.put("second", [2])
        // Fills a frame, which is written at once.
        try? transaction.put("large", [UInt8](repeating: 7, count: valueBytes))
        // A transaction that has lost a change accepts no further changes.
        #expect(code { try transaction.put("third", [3]) } == .noSpace)
        #expect(code { _ = try transaction.get("first") } == .noSpace)
      }
    }
    #expect(found == .noSpace)
    #expect(fileSystem.firingCounts == [1])
    #expect(try engine.read { try $0.contents() }.map(\.value) == [[1]])
    #expect(engine.newestGeneration.rawValue == 1)
    try engine.write { try $0.put("second", [2]) }
    try engine.close()
    let again = try Engine(at: "/store", options: StoreKind.memoryMapped.options, fileSystem: fileSystem)
    #expect(try again.read { try $0.contents() }.map(\.value) == [[1], [2]])
    #expect(try again.verify().findings == [])
  }
}

/// A few transactions, a checkpoint, a close and a reopening on a disk that fails, then a reopening on a disk that works.
private final class Course {
  private let memory = MemoryFileSystem()
  private let fileSystem: FaultInjectingFileSystem
  private let plan: FaultPlan
  /// The committed contents, and the contents that may be committed.
  private var model: Model = [:]
  private var pending: Model?

  init(plan: FaultPlan) {
    self.plan = plan
    fileSystem = FaultInjectingFileSystem(base: memory, plan: plan)
  }

  /// Returns the number of calls that changed something.
  func run() throws -> Int {
    for part in 0..<2 {
      do {
        try runOnce(part)
      } catch is EngineError {}
    }
    let calls = fileSystem.mutationCount
    fileSystem.use(FaultPlan())
    let engine = try Engine(at: "/store", options: StoreKind.memoryBuffered.options, fileSystem: fileSystem)
    let contents = try engine.read { try $0.model() }
    #expect(contents == model || contents == pending, "\(plan.faults)")
    #expect(try engine.verify().findings == [], "\(plan.faults)")
    try engine.write { try $0.put("last", [1]) }
    try engine.close()
    return calls
  }

  private func runOnce(_ part: Int) throws {
    var options = StoreKind.memoryBuffered.options
    options.entropy = SeededEntropy(seed: UInt64(part))
    let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    // Reopening decides the outcome of a failed sync.
    if let pending {
      if try engine.read({ try $0.model() }) == pending { model = pending }
      self.pending = nil
    }
    for number in 0..<6 {
      if number == 3 { try? engine.checkpoint() }
      try? commit(to: engine, part * 6 + number)
    }
    try engine.close()
  }

  private func commit(to engine: Engine, _ number: Int) throws {
    var next = model
    next[[UInt8]("key \(number % 4)".utf8)] = [UInt8](
      repeating: UInt8(number), count: number % 3 == 2 ? 30_000 : 40)
    do {
      try engine.write { transaction in
        for (key, value) in next where model[key] != value { try transaction.put(key, value) }
      }
      model = next
    } catch let error as EngineError {
      if error.isOutcomeUnknown { pending = next }
      throw error
    }
  }
}

import Dispatch
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Each engine represents a process. No engine blocks another for longer than necessary.
@Suite struct `Processes that share a store` {
  private struct Refusal: Error {}

  @Test func `a failed transaction lets other processes write, whatever the error is`() throws {
    let disk = SimulatedFileSystem(seed: 7)
    let files = FaultInjectingFileSystem(base: disk.process(named: "fails"))
    let engine = try Engine(at: "/store", options: options, fileSystem: files)
    let other = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "other"))
    for round in 0..<3 {
      try engine.write { try $0.put("mine", [UInt8(round)]) }
      switch round {
      case 0: #expect(throws: Refusal.self) { try engine.write { _ in throw Refusal() } }
      case 1:
        files.use(FaultPlan([.init(.of(.write), occurrence: 1, code: .noSpace)]))
        #expect(throws: EngineError.self) { try engine.write { try $0.put("more", [1]) } }
      default:
        files.use(FaultPlan([.init(.of(.sync), occurrence: 1, code: .inputOutput)]))
        #expect(throws: EngineError.self) { try engine.write { try $0.put("more", [2]) } }
      }
      files.use(FaultPlan())
      #expect(throws: Never.self) { try other.write { try $0.put("other", [UInt8(round)]) } }
    }
    try? engine.close()
    #expect(try other.snapshot().get("other") == [2])
    #expect(try other.verify().findings == [])
    try other.close()
  }

  @Test(arguments: [EngineOptions.Access.readWrite, .readOnly])
  func `a reader keeps no segments that another process has reclaimed`(access: EngineOptions.Access) throws {
    let disk = SimulatedFileSystem(seed: 8)
    let writer = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "writer"))
    try writer.write { try $0.put("begun", [1]) }
    var mine = options
    mine.access = access
    let reader = try Engine(at: "/store", options: mine, fileSystem: disk.process(named: "reader"))
    for round in 0..<12 {
      try writer.write {
        for key in 0..<400 { try $0.put("key \(key)", [UInt8](repeating: UInt8(round), count: 300)) }
      }
      try writer.reclaim()
      #expect(try reader.snapshot().get("key 7") == [UInt8](repeating: UInt8(round), count: 300))
    }
    let files = try disk.openDirectory("/store").entries().filter { $0.hasSuffix(".log") }
    let store = reader.handle.store
    let held = (1..<UInt32(400)).filter { store.space.values.slot($0) != nil }
    #expect(held.count <= files.count + 2, "\(held) of \(files.sorted())")
    try reader.close()
    try writer.close()
  }

  @Test func `a read-only engine sees every earlier commit, whatever is written while it opens`()
    throws
  {
    // The writer writes before the first file is opened, before the second, and so on.
    for step in 0..<40 {
      let disk = SimulatedFileSystem(seed: 11)
      let writer = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "writer"))
      @Sendable func write(_ rounds: Range<Int>) throws {
        for round in rounds {
          try writer.write {
            try $0.put("count", [UInt8(round)])
            try $0.put("filling", [UInt8](repeating: 1, count: 9000))
          }
        }
      }
      try write(0..<20)
      var mine = options
      (mine.access, mine.busyTimeout) = (.readOnly, 10)
      let files = InterruptedOpening(disk.process(named: "reader"))
      files.interrupt(after: step) { try? write(20..<60) }
      let reader = try Engine(at: "/store", options: mine, fileSystem: files)
      #expect(try reader.get("count") == [files.hasHappened ? 59 : 19], "step \(step)")
      try reader.close()
      try writer.close()
      if !files.hasHappened { return }
    }
    Issue.record("an opening makes more calls than steps")
  }

  @Test(arguments: [Durability.deferred, .full])
  func `an engine that recovers a log it had followed names no segment that the recovery replaced`(
    durability: Durability
  ) throws {
    var options = options
    (options.frameBytes, options.worker) = (16 << 10, LateWorker())
    // The log ends in the middle of a segment, at its beginning, or at its end.
    for count in 1...24 {
      let disk = SimulatedFileSystem(seed: 12)
      let process = disk.process(named: "killed")
      let killed = try Engine(at: "/store", options: options, fileSystem: process)
      let heir = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "heir"))
      for key in 0..<count {
        try killed.write(durability: durability) {
          try $0.put("\(key)", [UInt8](repeating: UInt8(key), count: 9000))
        }
      }
      #expect(try heir.get("\(count - 1)") != nil)
      // In the middle of a transaction with one written frame, so that other processes see that it holds the lease.
      try? killed.write { transaction in
        for key in 0..<3 { try transaction.put("lost \(key)", [UInt8](repeating: 1, count: 9000)) }
        process.kill()
      }
      try heir.write { try $0.put("heir", [1]) }
      try heir.checkpoint()
      for name in ["second", "third"] {
        let other = try Engine(at: "/store", options: options, fileSystem: disk.process(named: name))
        #expect(try other.get("\(count - 1)")?.count == 9000)
        #expect(try other.verify().findings == [], "\(count) commits")
        try other.close()
        if name == "second" { try heir.close() }
      }
    }
  }

  @Test
  func `pages published by a killed process are not overwritten by a process that did not recover`()
    throws
  {
    let disk = SimulatedFileSystem(seed: 13)
    let process = disk.process(named: "killed")
    let beforeSync = Guarded<(@Sendable (String) -> Void)?>(nil)
    let files = FaultInjectingFileSystem(base: process) { mutation in
      if mutation.operation == .sync { beforeSync.withLock { $0 }?(mutation.path) }
    }
    let killed = try Engine(at: "/store", options: options, fileSystem: files)
    func write(_ engine: Engine, _ round: UInt8) throws {
      try engine.write(durability: .deferred) {
        for key in 0..<800 { try $0.put("key \(key)", [UInt8](repeating: round, count: 60)) }
      }
    }
    try write(killed, 1)
    try killed.checkpoint()
    let heir = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "heir"))
    let third = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "third"))
    var mine = options
    mine.access = .readOnly
    let reader = try Engine(at: "/store", options: mine, fileSystem: disk.process(named: "reader"))
    try write(killed, 2)
    // Its next checkpoint is in the log and published to the other processes by a commit, but its frame is not synced yet.
    let held = Guarded<Snapshot?>(nil)
    beforeSync.withLock {
      $0 = { path in
        // Not during a sync under the writer lock, as when the log continues in a new segment.
        guard path.hasSuffix(".log"),
          (try? killed.write(durability: .deferred) { try $0.put("told", [1]) }) != nil
        else { return }
        held.withLock { $0 = try? reader.snapshot() }
        process.kill()
      }
    }
    #expect(throws: EngineError.self) { try killed.checkpoint() }
    let snapshot = try #require(held.withLock { $0 })
    #expect(snapshot.generation.rawValue == 3)
    try heir.write { try $0.put("heir", [1]) }
    try write(third, 3)
    try third.checkpoint()
    for key in 0..<800 { #expect(try snapshot.get("key \(key)") == [UInt8](repeating: 2, count: 60)) }
    for engine in [heir, third, reader] { try engine.close() }
  }

  @Test func `a backup by a read-only engine has the newest generation of all processes`() throws {
    let disk = SimulatedFileSystem(seed: 8)
    let writer = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "writer"))
    try writer.write { try $0.put("a", [1]) }
    var mine = options
    mine.access = .readOnly
    let reader = try Engine(at: "/store", options: mine, fileSystem: disk.process(named: "reader"))
    try writer.write { try $0.put("a", [2]) }
    #expect(try reader.backup(to: "/backup", fileSystem: disk).generation == writer.newestGeneration)
    try reader.close()
    try writer.close()
  }

  @Test
  func `a backup by a read-only engine opens when its tree is older than the newest checkpoint`()
    throws
  {
    let disk = SimulatedFileSystem(seed: 14)
    let writer = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "writer"))
    var mine = options
    mine.access = .readOnly
    for round in 0..<4 as Range<UInt8> {
      try writer.write {
        for key in 0..<400 { try $0.put("key \(key)", [UInt8](repeating: round, count: 60)) }
      }
      let reader = try Engine(at: "/store", options: mine, fileSystem: disk.process(named: "reader \(round)"))
      #expect(try reader.get("key 7")?.first == round)
      try writer.checkpoint()
      if round == 3 { try writer.reclaim() }
      #expect(try reader.get("key 8")?.first == round)
      let report = try reader.backup(to: "/backup", fileSystem: disk)
      #expect(report.generation >= reader.newestGeneration)
      let backup = try Engine(at: "/backup", options: mine, fileSystem: disk)
      #expect(try backup.get("key 7")?.first == round)
      #expect(try backup.verify().findings == [])
      try backup.close()
      try reader.close()
    }
    try writer.close()
  }

  @Test(arguments: [Durability.deferred, .full])
  func `a backup by a read-only engine continues after the writer was killed`(durability: Durability)
    throws
  {
    let disk = SimulatedFileSystem(seed: 15)
    var options = options
    (options.frameBytes, options.worker) = (16 << 10, LateWorker())
    var mine = options
    (mine.access, mine.busyTimeout) = (.readOnly, 10)
    let stays = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "stays"))
    for round in 0..<6 {
      let process = disk.process(named: "writer \(round)")
      let writer = try Engine(at: "/store", options: options, fileSystem: process)
      for key in 0..<(round * 5 + 3) {
        try writer.write(durability: durability) {
          try $0.put("\(round) \(key)", [UInt8](repeating: UInt8(round), count: 5000))
        }
      }
      let reader = try Engine(at: "/store", options: mine, fileSystem: disk.process(named: "reader \(round)"))
      try reader.backup(to: "/backup", fileSystem: disk)
      try reader.close()
      try? writer.write { transaction in
        // One frame of the transaction is written.
        for key in 0..<3 { try transaction.put("lost \(key)", [UInt8](repeating: 1, count: 9000)) }
        process.kill()
      }
      try stays.write(durability: durability) { try $0.put("stays \(round)", [1]) }
      let later = try Engine(at: "/store", options: mine, fileSystem: disk.process(named: "later \(round)"))
      try later.backup(to: "/backup", fileSystem: disk)
      try later.close()
      let backup = try Engine(at: "/backup", options: mine, fileSystem: disk)
      #expect(try backup.get("stays \(round)") == [1])
      #expect(try backup.get("\(round) \(round * 5 + 2)")?.count == 5000)
      #expect(try backup.verify().findings == [])
      try backup.close()
    }
    try stays.close()
  }

  @Test func `checkpoints are taken in the background while processes write in turns`() throws {
    let disk = SimulatedFileSystem(seed: 9)
    var options = options
    let worker = LateWorker()
    options.worker = worker
    let engines = try ["a", "b"].map {
      try Engine(at: "/store", options: options, fileSystem: disk.process(named: $0))
    }
    for round in 0..<200 {
      try engines[round % 2].write { try $0.put("key \(round)", [UInt8](repeating: 1, count: 2000)) }
      // By then no process holds the writer lease.
      worker.run()
    }
    let unwritten = try engines[0].newestGeneration.rawValue - engines[0].statistics().checkpoint.rawValue
    #expect(unwritten < 60, "64 KiB are some 32 of 200 transactions")
    for engine in engines { try engine.close() }
  }

  @Test func `an engine ignores bytes in the processes file that no process has written`() throws {
    for fill in [0xff, 0xa5, 0x01] as [UInt8] {
      let disk = SimulatedFileSystem(seed: 10)
      try Engine(at: "/store", options: options, fileSystem: disk).close()
      let page = try disk.openDirectory("/store").open(ProcessAttachment.processesName, .readWrite)
      try page.write(all: [UInt8](repeating: fill, count: SharedHeader.byteCount), at: 0)
      try page.close()
      let first = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "first"))
      let second = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "second"))
      for round in 0..<4 {
        let engine = round % 2 == 0 ? first : second
        try engine.write { try $0.put("round", [UInt8(round)]) }
        #expect(try first.get("round") == [UInt8(round)])
        #expect(try second.get("round") == [UInt8(round)])
      }
      try first.close()
      try second.close()
    }
  }

  @Test func `an engine closes while its threads write and another process holds the writer lease`() throws {
    try TemporaryFolder.with { path in
      var options = EngineOptions()
      (options.sharesInProcess, options.idleSeconds, options.busyTimeout) = (false, nil, 0.02)
      for _ in 0..<4 {
        let other = try Engine(at: path, options: options)
        let engine = try Engine(at: path, options: options)
        // Data that the close has to sync.
        try engine.write(durability: .deferred) { try $0.put("mine", [UInt8](repeating: 1, count: 1 << 20)) }
        try other.write { transaction in
          // No other engine holds the writer lease meanwhile.
          let (begun, threads) = (DispatchSemaphore(value: 0), DispatchGroup())
          for _ in 0..<6 {
            DispatchQueue.global().async(group: threads) {
              begun.signal()
              try? engine.write { try $0.put("mine", [2]) }
            }
          }
          for _ in 0..<6 { begun.wait() }
          try? engine.close()
          threads.wait()
          try transaction.put("other", [1])
        }
        #expect(try other.get("mine")?.count == 1 << 20)
        try other.close()
      }
    }
  }

  private var options: EngineOptions {
    var options = StoreKind.simulated.processOptions
    options.busyTimeout = 0
    return options
  }
}

/// Runs submitted work when the test requests it.
private final class LateWorker: BackgroundWorker {
  private let later = Guarded<[@Sendable () -> Void]>([])

  func submit(_ work: @escaping @Sendable () -> Void) { later.withLock { $0.append(work) } }
  func submit(afterSeconds seconds: Double, _ work: @escaping @Sendable () -> Void) {}
  func drain() { run() }

  func run() {
    let due = later.withLock { works in
      defer { works = [] }
      return works
    }
    for work in due { work() }
  }
}

import Dispatch
import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Engines of one process represent processes here: they share nothing but the files. `KillTests` uses real processes.
@Suite struct `Several processes` {
  @Test(arguments: StoreKind.allCases)
  func `processes write in turns, and each sees at once what the others have committed`(kind: StoreKind)
    throws
  {
    try kind.withPlace { fileSystem, path in
      let first = try Engine(at: path, options: kind.processOptions, fileSystem: fileSystem)
      let second = try Engine(at: path, options: kind.processOptions, fileSystem: fileSystem)
      for round in 0..<20 {
        let (writer, reader) = round % 2 == 0 ? (first, second) : (second, first)
        try writer.write(durability: round % 3 == 0 ? .full : .deferred) {
          try $0.put("key \(round)", [UInt8](repeating: UInt8(round), count: round * 40))
        }
        #expect(reader.newestGeneration == writer.newestGeneration)
        let snapshot = try reader.snapshot()
        #expect(snapshot.generation == writer.newestGeneration)
        for key in 0...round {
          #expect(try snapshot.get("key \(key)") == [UInt8](repeating: UInt8(key), count: key * 40))
        }
      }
      try first.close()
      try second.write { try $0.put("last", [1]) }
      try second.close()
      let reopened = try Engine(at: path, options: kind.options, fileSystem: fileSystem)
      #expect(try reopened.snapshot().count == 21)
      #expect(try reopened.verify().isSound)
      try reopened.close()
    }
  }

  @Test(arguments: StoreKind.allCases, [1, 2, 3, 14] as [UInt64])
  func `processes lose no commit in any order of operations`(kind: StoreKind, seed: UInt64) throws {
    try kind.withPlace { fileSystem, path in
      var processGroup = try ProcessGroup(kind.processOptions, fileSystem, path, seed: seed)
      for _ in 0..<(LongRun.isWanted ? 2000 : 250) { try processGroup.step() }
      try processGroup.finish()
    }
  }

  @Test func `a process that syncs makes durable what a process without syncs has written before`() throws {
    let disk = SimulatedFileSystem(seed: 3)
    var careless = StoreKind.simulated.options
    (careless.durability, careless.idleSeconds, careless.segmentBytes) = (.none, nil, 64 << 10)
    var careful = careless
    careful.durability = .full
    let first = try Engine(at: "/store", options: careful, fileSystem: disk.process(named: "careful"))
    let second = try Engine(at: "/store", options: careless, fileSystem: disk.process(named: "careless"))
    var model: Model = [:]
    for round in 0..<8 {
      let key = Array("key \(round)".utf8)
      try second.write { try $0.put(key, [UInt8](repeating: UInt8(round), count: 15_000)) }
      model[key] = [UInt8](repeating: UInt8(round), count: 15_000)
      if round == 4 { try second.checkpoint() }
    }
    try first.write { try $0.put("last", [1]) }
    model[Array("last".utf8)] = [1]
    var images = 0
    for image in disk.crashImages() {
      images += 1
      let engine = try Engine(at: "/store", options: careful, fileSystem: image.mounted())
      try engine.snapshot().expect(model, "image \(images)")
      try engine.close()
    }
    #expect(images > 0)
    try first.close()
    try second.close()
  }

  @Test func `an engine does not wait for processes that have gone, whatever bytes the shared header holds`()
    throws
  {
    let disk = SimulatedFileSystem()
    let options = StoreKind.simulated.processOptions
    try Engine(at: "/store", options: options, fileSystem: disk).close()
    let page = try disk.openDirectory("/store").open("processes", .readWrite)
    try page.write(all: [UInt8](repeating: 0xa5, count: SharedHeader.byteCount), at: 0)
    try page.close()
    let engine = try Engine(at: "/store", options: options, fileSystem: disk)
    let store = engine.handle.store
    #expect(try store.attachment?.page.waiterCount() == store.lease.yieldedTo.load(ordering: .relaxed))
    try engine.write { try $0.put("a", [1]) }
    try engine.close()
  }

  @Test func `a process whose store folder was replaced does not write to it`() throws {
    try TemporaryFolder.with { path in
      let engine = try Engine(at: path, options: StoreKind.posixMapped.processOptions)
      try engine.write { try $0.put("a", [1]) }
      try FileManager.default.moveItem(atPath: path, toPath: path + "-moved")
      defer { try? FileManager.default.removeItem(atPath: path + "-moved") }
      #expect(throws: EngineError.self) { try engine.write { try $0.put("b", [1]) } }
      let other = try Engine(at: path, options: StoreKind.posixMapped.processOptions)
      do {
        try engine.write { try $0.put("b", [1]) }
        Issue.record("it was written to a folder that is elsewhere")
      } catch let error as EngineError {
        #expect(error.code == .replaced)
      }
      #expect(try engine.snapshot().get("a") == [1])
      #expect(try other.snapshot().get("a") == nil)
      try? engine.close()
      try other.close()
    }
  }

  @Test(arguments: [nil, 60])
  func `a process that closes a store whose folder was deleted gets an error`(idleSeconds: Double?) throws {
    try TemporaryFolder.with { path in
      var options = StoreKind.posixMapped.processOptions
      // With the lease released after each write, and kept.
      options.idleSeconds = idleSeconds
      let engine = try Engine(at: path, options: options)
      try engine.write { try $0.put("a", [1]) }
      try FileManager.default.removeItem(atPath: path)
      let error = #expect(throws: EngineError.self) { try engine.close() }
      #expect(error?.code == .replaced, "\(String(describing: error))")
    }
  }

  @Test(arguments: [false, true])
  func `threads of several engines write at once, with checkpoints in the background`(isShared: Bool) throws {
    try TemporaryFolder.with { path in
      var options = EngineOptions(segmentBytes: 64 << 10, checkpointBytes: 64 << 10)
      (options.toleratedGarbage, options.busyTimeout, options.sharesInProcess) = (64 << 10, 60, isShared)
      let engines = try (0..<3).map { _ in try Engine(at: path, options: options) }
      let failures = Guarded<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 9) { thread in
        let engine = engines[thread % 3]
        do {
          for round in 0..<40 {
            try engine.write(durability: round % 2 == 0 ? .full : .deferred) { transaction in
              let count = try transaction.get(Array("count".utf8))?.count ?? 0
              try transaction.put("count", [UInt8](repeating: 1, count: count + 1))
              try transaction.put("\(thread) \(round % 5)", [UInt8](repeating: UInt8(round), count: 300))
            }
            let snapshot = try engine.snapshot()
            let mine = try snapshot.get(Array("\(thread) \(round % 5)".utf8))
            if mine?.first != UInt8(round) {
              failures.withLock { $0.append("thread \(thread), round \(round)") }
            }
          }
        } catch {
          failures.withLock { $0.append("thread \(thread): \(error)") }
        }
      }
      #expect(failures.withLock { $0 } == [])
      for engine in engines {
        #expect(try engine.snapshot().get(Array("count".utf8))?.count == 360)
        #expect(try engine.verify().findings == [])
      }
      for engine in engines { try engine.close() }
      let reopened = try Engine(at: path, options: options)
      #expect(try reopened.snapshot().get(Array("count".utf8))?.count == 360)
      #expect(try reopened.verify().findings == [])
      try reopened.close()
    }
  }

  @Test(arguments: [1, 2])
  func `an engine that cannot find out at its close whether it is the last reports an error`(lock: Int) throws
  {
    let fileSystem = FaultInjectingFileSystem(base: MemoryFileSystem())
    let options = StoreKind.memoryMapped.processOptions
    let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    try engine.write(durability: .deferred) { try $0.put("a", [1]) }
    fileSystem.use(FaultPlan([.init(.of(.lock), occurrence: lock, code: .inputOutput)]))
    let error = try #require(throws: EngineError.self) { try engine.close() }
    #expect((error.underlying as? FileSystemError)?.isInjected == true)
    let reopened = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    #expect(try reopened.snapshot().get("a") == [1])
    try reopened.close()
  }

  @Test func `processes that come and go put their pages into the same files as one that stays`() throws {
    let disk = SimulatedFileSystem(seed: 4)
    let options = StoreKind.simulated.processOptions
    let stays = try Engine(at: "/store", options: options, fileSystem: disk)
    for round in 0..<30 {
      let other = try Engine(at: "/store", options: options, fileSystem: disk)
      try other.write { try $0.put("other \(round % 7)", [UInt8](repeating: UInt8(round), count: 50)) }
      try other.checkpoint()
      try stays.write { try $0.put("mine \(round % 5)", [UInt8](repeating: UInt8(round), count: 50)) }
      try stays.checkpoint()
      try other.close()
    }
    let files = try disk.openDirectory("/store").entries().filter { $0.hasSuffix(".pages") }
    #expect(files.count == 1)
    #expect(try stays.verify().findings == [])
    try stays.close()
  }

  @Test
  func `a reader that opens a generation during its reclamation is told that it is gone, not damaged`()
    throws
  {
    let disk = SimulatedFileSystem(seed: 5)
    let files = InterruptedOpening(disk.process(named: "reader"))
    let writer = try Engine(
      at: "/store", options: StoreKind.simulated.processOptions, fileSystem: disk.process(named: "writer"))
    func overwrite(_ round: UInt8) throws {
      try writer.write {
        for key in 0..<500 { try $0.put("key \(key)", [UInt8](repeating: round, count: 100)) }
      }
      try writer.checkpoint()
    }
    try overwrite(0)
    let past = writer.newestGeneration
    try overwrite(1)
    let reader = try Engine(at: "/store", options: StoreKind.simulated.processOptions, fileSystem: files)
    #expect(try reader.snapshot(at: past).get("key 7") == [UInt8](repeating: 0, count: 100))
    files.interrupt(before: ".pages") { #expect((try? writer.reclaim())?.movedValues == 500) }
    let error = #expect(throws: EngineError.self) { try reader.snapshot(at: past) }
    #expect(files.hasHappened && error?.code == .generationUnavailable, "\(String(describing: error))")
    #expect(try reader.snapshot().get("key 7") == [UInt8](repeating: 1, count: 100))
    try reader.close()
    try writer.close()
  }

  @Test(arguments: [EngineOptions.Access.readWrite, .readOnly])
  func `a reader that follows a writer sees a checkpoint of which it was not notified yet`(
    access: EngineOptions.Access
  ) throws {
    let disk = SimulatedFileSystem(seed: 5)
    let files = InterruptedOpening(disk.process(named: "reader"))
    var options = StoreKind.simulated.processOptions
    options.busyTimeout = 0
    let writer = try Engine(
      at: "/store", options: options, fileSystem: disk.process(named: "writer"))
    @Sendable func overwrite(_ round: UInt8) throws {
      try writer.write {
        for key in 0..<500 { try $0.put("key \(key)", [UInt8](repeating: round, count: 300)) }
      }
      try writer.checkpoint()
    }
    try overwrite(0)
    var mine = options
    mine.access = access
    let reader = try Engine(at: "/store", options: mine, fileSystem: files)
    try overwrite(1)
    try writer.reclaim()
    // The reader has read the shared header, and not yet the anchor.
    files.interrupt(before: InterruptedOpening.listing) {
      #expect(throws: Never.self) { try overwrite(2) }
    }
    #expect(try reader.snapshot().get("key 7") == [UInt8](repeating: 2, count: 300))
    #expect(files.hasHappened && reader.newestGeneration == writer.newestGeneration)
    try overwrite(3)
    #expect(try reader.snapshot().get("key 7") == [UInt8](repeating: 3, count: 300))
    #expect(try reader.verify().findings == [])
    try reader.close()
    try writer.close()
  }

  @Test(arguments: [true, false])
  func `a store that is removed at any call of an opening is gone, not damaged`(isMade: Bool) throws {
    var removals = 0
    for count in 0..<30 {
      let disk = SimulatedFileSystem(seed: 5)
      let files = InterruptedOpening(disk.process(named: "opener"))
      var options = StoreKind.simulated.processOptions
      (options.busyTimeout, options.createsStore) = (0, true)
      let writer = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "writer"))
      try writer.write { try $0.put("key", [1]) }
      try writer.close()
      let isRemoved = Guarded(false)
      files.interrupt(after: count) {
        let other = disk.process(named: "other")
        let done: Void? = try? Engine.destroy(at: "/store", busyTimeout: 0, fileSystem: other)
        isRemoved.withLock { $0 = done != nil }
      }
      options.createsStore = isMade
      do {
        let engine = try Engine(at: "/store", options: options, fileSystem: files)
        let value = try engine.snapshot().get("key")
        #expect(
          isRemoved.withLock { $0 } == (value == nil) && (isMade || value != nil), "after \(count) calls")
        try engine.close()
      } catch {
        #expect(error.code == .notAStore && !isMade, "after \(count) calls: \(error)")
      }
      if isRemoved.withLock({ $0 }) { removals += 1 }
      guard files.hasHappened else { break }
    }
    #expect(removals > 1)
  }
}

/// Several processes that open, write, reclaim, read and close one store, compared with a model.
private struct ProcessGroup {
  let options: EngineOptions
  let fileSystem: any FileSystem
  let path: String
  var random: SplitMix64
  var engines: [Engine] = []
  var readers: [Engine] = []
  var held: [(snapshot: Snapshot, model: Model)] = []
  var model: Model = [:]
  var generation = Generation(rawValue: 0)

  init(_ options: EngineOptions, _ fileSystem: any FileSystem, _ path: String, seed: UInt64) throws {
    self.options = options
    self.fileSystem = fileSystem
    self.path = path
    random = SplitMix64(seed: seed)
    engines = [try open()]
  }

  private func open(_ access: EngineOptions.Access = .readWrite) throws -> Engine {
    var options = options
    options.access = access
    return try Engine(at: path, options: options, fileSystem: fileSystem)
  }

  mutating func step() throws {
    let engine = engines[random.below(engines.count)]
    switch random.below(24) {
    case 0...9: try write(engine)
    case 10...13: try read(engine)
    case 14: held.append((try engine.snapshot(), model))
    case 15: if !held.isEmpty { try check(held.remove(at: random.below(held.count))) }
    case 16: try engine.checkpoint()
    case 17: try engine.reclaim()
    case 18: if engines.count < 4 { engines.append(try open()) }
    case 19: if readers.count < 2 { readers.append(try open(.readOnly)) }
    case 20: if let reader = readers.last { try read(reader) }
    case 21: if !readers.isEmpty { try readers.removeLast().close() }
    case 22: #expect(try engine.verify().findings == [])
    default:
      guard engines.count > 1, let index = engines.firstIndex(where: { $0 === engine }) else { return }
      try engines.remove(at: index).close()
    }
  }

  private mutating func write(_ engine: Engine) throws {
    var next = model
    let changes = (0...random.below(30)).map { _ in (random.below(200), random.below(600), random.below(5)) }
    try engine.write(durability: random.below(2) == 0 ? .full : .deferred) { transaction in
      for (number, length, kind) in changes {
        let key = [UInt8]("key \(number)".utf8)
        if kind == 0 {
          try transaction.delete(key)
          next[key] = nil
        } else {
          next[key] = [UInt8](repeating: UInt8(truncatingIfNeeded: length), count: length)
          try transaction.put(key, next[key] ?? [])
        }
      }
    }
    model = next
    generation = engine.newestGeneration
  }

  private mutating func read(_ engine: Engine) throws {
    // The first of the two calls reads what other processes have written.
    let key = [UInt8]("key \(random.below(200))".utf8)
    if random.below(2) == 0 { #expect(try engine.get(key) == model[key]) }
    try check((try engine.snapshot(), model))
    #expect(try engine.get(key) == model[key])
  }

  private func check(_ pair: (snapshot: Snapshot, model: Model)) throws {
    try pair.snapshot.expect(pair.model, "generation \(pair.snapshot.generation)")
  }

  mutating func finish() throws {
    for engine in engines + readers { try read(engine) }
    for pair in held { try check(pair) }
    for engine in engines + readers { try engine.close() }
    let engine = try open()
    try engine.snapshot().expect(model, "reopened")
    #expect(try engine.verify().findings == [])
    try engine.close()
  }
}

/// One process is killed at one of its calls. Another continues with the store.
@Suite struct `A process that ends in the middle of a call` {
  @Test(arguments: [FaultPlan.Effect.none, .whole], [nil, 0.03] as [Double?])
  func `a process that is killed at any call leaves every commit to the other processes`(
    effect: FaultPlan.Effect, idleSeconds: Double?
  ) throws {
    var call = 0
    var recoveries = 0
    while true {
      call += 1
      let pair = try Pair(idleSeconds: idleSeconds)
      let plan = FaultPlan([.fail(.any, .from(call), with: .processKilled, effect: effect)])
      guard try pair.live(plan) else { break }
      recoveries += 1
      try pair.goOn("killed at call \(call)")
    }
    #expect(recoveries > 100)
  }
}

/// One call of a process fails. The process continues, in turns with another.
@Suite struct `A process with a failing call` {
  @Test func `two processes that write in turns lose no commit, whichever call of one fails`() throws {
    var call = 0
    while true {
      call += 1
      let pair = try Pair(idleSeconds: nil)
      guard try pair.takeTurns(FaultPlan([.fail(.any, .nth(call), with: .noSpace)])) else { break }
      try pair.goOn("call \(call) failed")
    }
    #expect(call > 100)
  }

  @Test func `a failing call of one of two processes and a later crash of the machine lose no commit`()
    throws
  {
    let pair = try Pair(idleSeconds: nil)
    var images = 0
    pair.observer.beforeMutation = { mutation in
      for image in pair.disk.crashImages(Self.limits) {
        images += 1
        pair.check(image, "before \(mutation): \(image)")
      }
    }
    _ = try pair.takeTurns(FaultPlan())
    pair.observer.beforeMutation = { _ in }
    #expect(images > 300)
  }

  private static var limits: CrashImageLimits {
    var limits = CrashImageLimits()
    limits.imageCount = 3
    return limits
  }

  @Test func `two processes whose checkpoints fail do not name each other's pages`() throws {
    for first in 1...6 {
      for second in 1...6 {
        let pair = try Pair(idleSeconds: nil)
        try pair.takeCheckpoints(withoutWrite: first, then: second)
        try pair.goOn("writes \(first) and \(second) failed")
      }
    }
  }
}

/// Two processes with one store: the victim, whose calls fail or which is killed, and the survivor.
private final class Pair {
  let disk = SimulatedFileSystem(seed: 5)
  let observer = Observer()
  let victim: SimulatedProcess
  let survivor: Engine
  let survivorsFiles: FaultInjectingFileSystem
  var options: EngineOptions
  var model: Model = [:]
  /// The contents after the write in progress.
  var next: Model?

  init(idleSeconds: Double?) throws {
    var options = StoreKind.simulated.options
    (options.segmentBytes, options.busyTimeout, options.idleSeconds) = (64 << 10, 0, nil)
    victim = disk.process(named: "victim")
    survivorsFiles = observer.observed(disk.process(named: "survivor"), FaultPlan())
    survivor = try Engine(at: "/store", options: options, fileSystem: survivorsFiles)
    options.idleSeconds = idleSeconds
    self.options = options
    try write(survivor, 0..<30, bytes: 200)
  }

  /// - Returns: false if the plan's calls never occurred.
  func live(_ plan: FaultPlan) throws -> Bool {
    let fileSystem = FaultInjectingFileSystem(base: victim, plan: plan)
    defer { victim.kill() }
    do {
      let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
      try write(engine, 10..<20, bytes: 900)
      try write(survivor, 20..<25, bytes: 100)
      try write(engine, 20..<40, bytes: 3000, .deferred)
      try engine.checkpoint()
      try write(engine, 0..<5, bytes: 20_000)
      try write(survivor, 4..<12, bytes: 400, .deferred)
      try engine.reclaim()
      try write(engine, 3..<9, bytes: 50)
      try engine.close()
      return fileSystem.injectedErrorCount > 0
    } catch let error as EngineError {
      guard fileSystem.injectedErrorCount > 0 else { throw error }
      return true
    }
  }

  /// - Returns: false if the plan's calls never occurred.
  func takeTurns(_ plan: FaultPlan) throws -> Bool {
    let fileSystem = observer.observed(victim, plan)
    defer { victim.kill() }
    func attempt(_ body: () throws -> Void) throws {
      do {
        try body()
      } catch let error as EngineError {
        guard fileSystem.injectedErrorCount > 0 else { throw error }
        try decide("\(error)")
      }
    }
    try attempt {
      let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
      for round in 0..<3 {
        try attempt { try write(engine, round * 10..<round * 10 + 15, bytes: 150) }
        try attempt { try engine.checkpoint() }
        try write(survivor, round * 10 + 5..<round * 10 + 25, bytes: 170)
        if round == 1 { try attempt { _ = try engine.reclaim() } }
        try survivor.checkpoint()
        try attempt { try engine.snapshot().expect(model, "round \(round)") }
      }
      try engine.close()
    }
    return fileSystem.injectedErrorCount > 0
  }

  /// The victim and then the survivor take a checkpoint one of whose writes fails. Then the victim takes another.
  func takeCheckpoints(withoutWrite first: Int, then second: Int) throws {
    // Both continue after the pages of this one.
    try survivor.checkpoint()
    let fileSystem = observer.observed(victim, FaultPlan())
    let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    for (engine, fileSystem, call) in [(engine, fileSystem, first), (survivor, survivorsFiles, second)] {
      try write(engine, call * 3..<call * 3 + 15, bytes: 150)
      fileSystem.use(FaultPlan([.fail(.write, .nth(call), with: .noSpace)]))
      try? engine.checkpoint()
      fileSystem.use(FaultPlan())
    }
    try write(engine, 10..<25, bytes: 170)
    try engine.checkpoint()
    #expect(try engine.verify().findings == [], "writes \(first) and \(second) failed")
    try engine.close()
  }

  private func write(
    _ engine: Engine, _ keys: Range<Int>, bytes: Int, _ durability: Durability = .full
  ) throws {
    var next = model
    for key in keys { next[Array("key \(key)".utf8)] = [UInt8](repeating: UInt8(key), count: bytes) }
    self.next = next
    try engine.write(durability: durability) { transaction in
      for key in keys { try transaction.put("key \(key)", [UInt8](repeating: UInt8(key), count: bytes)) }
    }
    (model, self.next) = (next, nil)
  }

  /// A crash leaves the committed contents, with or without the write in progress.
  func check(_ image: CrashImage, _ comment: String) {
    do {
      let engine = try Engine(at: "/store", options: options, fileSystem: image.mounted())
      defer { try? engine.close() }
      let found = try engine.snapshot().model()
      #expect(found == model || found == next, "\(comment)")
      #expect(try engine.verify().findings == [], "\(comment)")
    } catch {
      Issue.record("\(comment): \(error)")
    }
  }

  /// The next write decides the outcome of the write in progress.
  private func decide(_ comment: String) throws {
    try survivor.write { try $0.put("decided", [1]) }
    model[Array("decided".utf8)] = [1]
    next?[Array("decided".utf8)] = [1]
    let found = try survivor.snapshot().model()
    if let next, found != model { model = next }
    next = nil
    #expect(found == model, "\(comment)")
  }

  /// The survivor finds every commit, and perhaps the write in progress. It writes, and so do later processes.
  func goOn(_ comment: String) throws {
    try decide(comment)
    let other = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "other"))
    try write(other, 0..<3, bytes: 10)
    try survivor.snapshot().expect(model, "\(comment)")
    #expect(try survivor.verify().findings == [], "\(comment)")
    try survivor.close()
    try other.close()
    let engine = try Engine(at: "/store", options: options, fileSystem: disk)
    try engine.snapshot().expect(model, "\(comment), reopened")
    #expect(try engine.verify().findings == [], "\(comment), reopened")
    try engine.close()
  }
}

/// Receives the changes that two processes of one thread are about to make.
private final class Observer: @unchecked Sendable {
  var beforeMutation: (Mutation) -> Void = { _ in }

  func observed(_ process: SimulatedProcess, _ plan: FaultPlan) -> FaultInjectingFileSystem {
    FaultInjectingFileSystem(base: process, plan: plan) { self.beforeMutation($0) }
  }
}

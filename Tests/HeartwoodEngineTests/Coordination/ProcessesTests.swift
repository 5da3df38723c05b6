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

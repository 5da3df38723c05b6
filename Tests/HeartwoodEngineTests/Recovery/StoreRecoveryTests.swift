import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// An interrupted recovery leaves the next one everything it needs.
@Suite struct StoreRecoveryTests {
  /// The last of four commits is not proven to be on disk by a later one. Of deferred commits, none is proven.
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `an anchor whose sync has failed has a valid slot after a crash, though the system calls it clean`(
    seed: UInt64
  ) throws {
    let disk = SimulatedFileSystem(seed: seed, crashModel: .hostile)
    let plan = FaultPlan([.init(.sync(.failsKeepingData), on: .of(.sync), file: "*anchor*", .nth(2))])
    let options = StoreKind.simulated.options
    let first = try Engine(
      at: "/store", options: options, fileSystem: FaultInjectingFileSystem(base: disk, plan: plan))
    #expect(throws: EngineError.self) { try first.write { try $0.put("a", [1]) } }
    try? first.close()
    let found = Guarded((images: 0, failures: [String]()))
    let observed = FaultInjectingFileSystem(base: disk) { mutation in
      var limits = CrashImageLimits()
      limits.imageCount = 300
      for image in disk.crashImages(limits) {
        let failure = Result {
          try Engine(at: "/store", options: options, fileSystem: image.mounted()).close()
        }
        found.withLock { found in
          found.images += 1
          if case .failure(let error) = failure {
            found.failures.append("before \(mutation), \(image): \(error)")
          }
        }
      }
    }
    let second = try Engine(at: "/store", options: options, fileSystem: observed)
    try second.write { try $0.put("b", [2]) }
    #expect(found.withLock(\.failures.first) == nil)
    #expect(found.withLock(\.images) > 500)
    try second.close()
  }

  @Test(arguments: [false, true])
  func `repeated recoveries of a small store leave few files`(takesCheckpoints: Bool) throws {
    let disk = SimulatedFileSystem(seed: 8)
    let options = StoreKind.simulated.options
    var model: Model = [:]
    for round in 0..<150 {
      let process = disk.process(named: "process \(round)")
      let engine = try Engine(at: "/store", options: options, fileSystem: process)
      let (key, value) = (Array("key \(round % 40)".utf8), [UInt8](repeating: UInt8(round % 250), count: 100))
      try engine.write { try $0.put(key, value) }
      model[key] = value
      if takesCheckpoints { try engine.checkpoint() }
      process.kill()
      try? engine.close()
    }
    let engine = try Engine(at: "/store", options: options, fileSystem: disk)
    try engine.snapshot().expect(model, "after all")
    #expect(try engine.verify().findings == [])
    #expect(try disk.openDirectory("/store").entries().count < 75)
    try engine.close()
  }

  @Test(arguments: [Durability.full, .deferred])
  func `a crash at any call of a recovery keeps every commit`(durability: Durability) throws {
    let disk = SimulatedFileSystem()
    let engine = try Engine(at: "/store", options: options, fileSystem: disk)
    for number in 0..<4 {
      try engine.write(durability: durability) { try $0.put("key \(number)", [UInt8(number)]) }
    }
    var crashes = 0
    for image in disk.crashImages(.prefixesOnly) {
      let expected = try contents(of: image.mounted())
      let recoveries = try crashesOfRecovery(image.mounted())
      for crash in recoveries { #expect(try contents(of: crash.mounted()) == expected, "\(image), \(crash)") }
      crashes += recoveries.count
    }
    try engine.close()
    #expect(crashes > 50)
  }

  /// Segments of the log and of pages, and the anchor, none of them synced by the process that wrote them.
  @Test(arguments: [true, false])
  func `data written without syncs is durable once an engine with syncs has opened the store`(isClosed: Bool)
    throws
  {
    let report = try CrashExplorer().run(acknowledging: UInt64.self) { fileSystem, acknowledge in
      try self.load(try #require(fileSystem.disk), isClosed: isClosed)
      let engine = try Engine(at: "/store", options: self.options, fileSystem: fileSystem)
      acknowledge(engine.newestGeneration.rawValue)
      try engine.write { try $0.put("key 0", [99]) }
      acknowledge(engine.newestGeneration.rawValue)
      try engine.close()
    } verify: { disk, acknowledged in
      guard let promised = acknowledged.last else { return }
      let engine = try Engine(at: "/store", options: self.options, fileSystem: disk)
      #expect(engine.newestGeneration.rawValue >= promised)
      #expect(try engine.read { try $0.contents() }.count == Self.loaded)
      #expect(try engine.verify().isSound)
      try engine.close()
    }
    try report.check()
    #expect(report.images > 50)
  }

  /// How many values such a process writes.
  private static let loaded = LongRun.isWanted ? 40 : 16

  /// Writes as a process without syncs does.
  private func load(_ disk: SimulatedFileSystem, isClosed: Bool) throws {
    let process = disk.process(named: "loader")
    var unsynced = options
    unsynced.durability = .none
    let engine = try Engine(at: "/store", options: unsynced, fileSystem: process)
    for number in 0..<Self.loaded {
      try engine.write { try $0.put("key \(number)", [UInt8](repeating: UInt8(number), count: 5000)) }
    }
    if isClosed { try engine.close() } else { process.kill() }
  }

  /// The crash images before each call of the recovery.
  private func crashesOfRecovery(_ disk: SimulatedFileSystem) throws -> [CrashImage] {
    let images = Guarded<[Int: CrashImage]>([:])
    let observed = FaultInjectingFileSystem(base: disk) { _ in
      for image in disk.crashImages() { images.withLock { $0[image.fingerprint] = image } }
    }
    try Engine(at: "/store", options: options, fileSystem: observed).close()
    return images.withLock { Array($0.values) }
  }

  private func contents(of disk: SimulatedFileSystem) throws -> Model {
    let engine = try Engine(at: "/store", options: options, fileSystem: disk)
    defer { try? engine.close() }
    return try engine.read { try $0.model() }
  }

  private var options: EngineOptions { StoreKind.simulated.options }
}

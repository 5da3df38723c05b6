import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite struct `Reclamation of space` {
  @Test(arguments: StoreKind.allCases)
  func `reclamation frees nearly all space of overwritten values`(kind: StoreKind) throws {
    try kind.withPlace { fileSystem, path in
      let store = try Overwritten(kind, fileSystem, path)
      try store.overwrite(times: 10)
      let before = try store.engine.statistics()
      let space = try store.engine.reclaim()
      let after = try store.engine.statistics()
      #expect(space.bytesBefore > 3 * space.bytesAfter)
      #expect(after.fileBytes == space.bytesAfter)
      #expect(after.logBytes < before.logBytes / 3)
      #expect(after.logBytes < store.liveBytes * 13 / 10 + 2000)
      try store.expectSame()
      try store.reopen()
      try store.expectSame()
      #expect(try store.engine.reclaim().movedValues == 0, "nothing is left to reclaim")
      try store.reopen()
      try store.expectSame()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `reclamation keeps space that an open snapshot needs, and frees it afterwards`(kind: StoreKind) throws
  {
    try kind.withPlace { fileSystem, path in
      let store = try Overwritten(kind, fileSystem, path)
      let old = try store.engine.snapshot()
      let rows = try Overwritten.rows(of: old)
      let past = try store.engine.snapshot(at: Generation(rawValue: 1))
      let pastRows = try Overwritten.rows(of: past)
      for _ in 0..<3 {
        try store.overwrite(times: 4)
        try store.engine.reclaim()
        #expect(try Overwritten.rows(of: old) == rows)
        #expect(try Overwritten.rows(of: past) == pastRows)
      }
      try store.expectSame()
      try store.reopen()
      try store.expectSame()
    }
  }

  @Test func `reclamation drops the generations that need the space, and no others`() throws {
    let kind = StoreKind.simulated
    try kind.withPlace { fileSystem, path in
      let store = try Overwritten(kind, fileSystem, path)
      try store.overwrite(times: 6)
      let lost = store.engine.newestGeneration
      try store.overwrite(times: 1)
      try store.engine.reclaim()
      let error = #expect(throws: EngineError.self) {
        _ = try store.engine.snapshot(at: Generation(rawValue: 2))
      }
      #expect(error?.code == .generationUnavailable)
      #expect(throws: EngineError.self) { _ = try store.engine.snapshot(at: lost) }
      var kept: [(Generation, [String: [UInt8]])] = []
      for _ in 0..<3 {
        try store.overwrite(times: 1)
        kept.append((store.engine.newestGeneration, store.model))
      }
      let records = try store.engine.generations()
      #expect(records.count >= 3)
      #expect(records.last?.generation == store.engine.newestGeneration)
      for record in records { _ = try store.engine.snapshot(at: record.generation) }
      try store.reopen()
      for (generation, rows) in kept {
        #expect(try Overwritten.rows(of: store.engine.snapshot(at: generation)) == rows)
      }
      #expect(
        try store.engine.generations().suffix(records.count).map(\.generation) == records.map(\.generation))
    }
  }

  @Test func `reclamation frees the space of old pages`() throws {
    let kind = StoreKind.simulated
    try kind.withPlace { fileSystem, path in
      let store = try Overwritten(kind, fileSystem, path, keys: 6000, valueBytes: 3)
      for _ in 0..<8 {
        try store.overwrite(times: 1)
        try store.engine.checkpoint()
      }
      let before = try store.engine.statistics()
      try store.engine.reclaim()
      let after = try store.engine.statistics()
      #expect(after.pageBytes < before.pageBytes / 3)
      #expect(after.pageSegments == 1)
      try store.expectSame()
      try store.reopen()
      try store.expectSame()
    }
  }

  /// The leaves are full, so that they are not merged, and all of their segment is live at first.
  @Test func `reclamation frees the pages that moving values has rewritten`() throws {
    let kind = StoreKind.simulated
    try kind.withPlace { fileSystem, path in
      var random = SplitMix64(seed: 7)
      let store = try Overwritten(kind, fileSystem, path, keys: 5003, valueBytes: 40)
      try store.engine.reclaim()
      let once = try store.engine.statistics().pageBytes
      for _ in 0..<3 {
        for _ in 0..<20 { try store.overwriteSome(&random) }
        store.engine.handle.store.checkpoints.withLock { $0.pages.seal() }
        #expect(try store.engine.reclaim().movedValues > 1000)
        #expect(try store.engine.statistics().pageBytes < once * 11 / 10)
      }
      try store.expectSame()
    }
  }

  @Test func `reclamation does not survey a store that can hold little garbage`() {
    let survey = ReclaimState.SpaceSurvey(total: 1_100_000, live: 1_000_000, keys: 1000)
    #expect(!survey.isStale(total: 1_290_000, keys: 1000))
    #expect(survey.isStale(total: 1_310_000, keys: 1000), "values were overwritten")
    #expect(!survey.isStale(total: 1_340_000, keys: 1100), "keys were added")
    #expect(survey.isStale(total: 1_110_000, keys: 800), "keys were deleted")
    #expect(survey.isStale(total: 1_360_000, keys: 1_000_000), "the lengths of their values are unknown")
    #expect(ReclaimState.SpaceSurvey(total: 0, live: 0, keys: 0).isStale(total: 1000, keys: 1))
    let held = ReclaimState.SpaceSurvey(
      total: 1_400_000, live: 1_000_000, keys: 1000, heldGarbage: 400_000)
    #expect(!held.isStale(total: 1_600_000, keys: 1000), "only holds need what is not live")
  }

  @Test func `reclamation keeps all live data in any order of operations`() throws {
    var random = SplitMix64(seed: 5)
    for round in 0..<6 {
      let kind = StoreKind.allCases[round % StoreKind.allCases.count]
      try kind.withPlace { fileSystem, path in
        let store = try Overwritten(kind, fileSystem, path, keys: 100 + random.below(900))
        for _ in 0..<30 {
          switch random.below(6) {
          case 0: try store.engine.reclaim()
          case 1: try store.reopen()
          case 2: try store.engine.checkpoint()
          case 3: try store.deleteSome(&random)
          default: try store.overwriteSome(&random)
          }
          try store.expectSame(verifies: false)
        }
        try store.expectSame()
      }
    }
  }

  /// With segments and checkpoints that are small compared to the live data.
  @Test(arguments: StoreKind.allCases)
  func `reclamation between commits keeps the files within a small multiple of the live data`(kind: StoreKind)
    throws
  {
    try kind.withPlace { fileSystem, path in
      let store = try Overwritten(kind, fileSystem, path, keys: 3000, toleratedGarbage: 0)
      try store.overwrite(times: 1)
      var most: Int64 = 0
      for round in 0..<12 {
        try store.overwrite(times: 1)
        most = max(most, try store.engine.statistics().fileBytes)
        if round % 4 == 3 { try store.expectSame() }
      }
      #expect(most < 3 * store.liveBytes, "\(Double(most) / Double(store.liveBytes)) times what lives")
      try store.reopen()
      try store.expectSame()
      #expect(try store.engine.generations().last?.generation == store.engine.newestGeneration)
    }
  }

  @Test func `reclamation on demand keeps all space and generations until it is requested`() throws {
    let disk = SimulatedFileSystem()
    let store = try Overwritten(.simulated, disk, "/store", reclamation: .onDemand, toleratedGarbage: 0)
    let first = store.model
    try store.overwrite(times: 20)
    #expect(try store.engine.statistics().fileBytes > 10 * store.liveBytes)
    #expect(try Overwritten.rows(of: store.engine.snapshot(at: Generation(rawValue: 4))) == first)
  }

  @Test(arguments: [0, 1])
  func `each slot of the anchor reaches all data after a reclamation`(slot: Int) throws {
    let disk = SimulatedFileSystem()
    let process = disk.process(named: "store")
    let store = try Overwritten(.simulated, process, "/store")
    try store.overwrite(times: 10)
    try store.engine.reclaim()
    process.kill()
    let file = try disk.openDirectory("/store").open("anchor", .readWrite)
    try [0xA5].withUnsafeBytes { try file.writeFully($0, at: Int64(slot * Format.anchorBlockBytes + 100)) }
    try file.close()
    let engine = try Engine(at: "/store", options: StoreKind.simulated.options, fileSystem: disk)
    #expect(try Overwritten.rows(of: engine.snapshot()) == store.model)
    try engine.close()
  }

  @Test func `reclamation runs when writes have stopped`() throws {
    let disk = SimulatedFileSystem()
    let worker = PatientWorker()
    var options = StoreKind.simulated.options
    (options.worker, options.toleratedGarbage, options.checkpointBytes) = (worker, 0, 1 << 20)
    options.sharing = .exclusive
    let engine = try Engine(at: "/store", options: options, fileSystem: disk)
    for number in 0..<300 {
      try engine.write { try $0.put("key \(number % 10)", [UInt8](repeating: 1, count: 2000)) }
    }
    let busy = try engine.statistics().fileBytes
    #expect(worker.count == 1)
    try engine.write { try $0.put("key 1", [2]) }
    worker.runNext()
    #expect(try engine.statistics().fileBytes >= busy, "another thread wrote meanwhile")
    #expect(worker.count == 1)
    worker.runNext()
    #expect(try engine.statistics().fileBytes < busy / 4)
    #expect(try engine.snapshot().get("key 1") == [2])
    #expect(worker.count == 0)
    try engine.close()
  }

  @Test(arguments: StoreKind.allCases, [EngineOptions.Reclamation.automatic, .onDemand])
  func `a closed store keeps no log of values that its tree holds, unless reclamation waits for a request`(
    kind: StoreKind, reclamation: EngineOptions.Reclamation
  ) throws {
    try kind.withPlace { fileSystem, path in
      var options = kind.options
      (options.segmentBytes, options.checkpointBytes) = (8 << 20, 8 << 20)
      (options.toleratedGarbage, options.reclamation) = (64 << 10, reclamation)
      let engine = try Engine(at: path, options: options, fileSystem: fileSystem)
      let model = Model(
        uniqueKeysWithValues: (0..<20_000).map { (Array("key \($0)".utf8), [UInt8(truncatingIfNeeded: $0)]) })
      try engine.write { for (key, value) in model { try $0.put(key, value) } }
      let written = try engine.statistics().logBytes
      try engine.close()
      let again = try Engine(at: path, options: options, fileSystem: fileSystem)
      let kept = try again.statistics().logBytes
      #expect(
        reclamation == .automatic ? kept < written / 10 : kept >= written, "\(kept) of \(written) bytes")
      #expect(try again.read { try $0.model() } == model)
      #expect(try again.verify().findings == [])
      try again.close()
    }
  }

  /// Runs delayed work when the test requests it.
  private final class PatientWorker: BackgroundWorker {
    private let later = Guarded<[@Sendable () -> Void]>([])

    var count: Int { later.withLock { $0.count } }

    func submit(_ work: @escaping @Sendable () -> Void) { work() }
    func submit(afterSeconds seconds: Double, _ work: @escaping @Sendable () -> Void) {
      later.withLock { $0.append(work) }
    }
    func drain() {}

    func runNext() { later.withLock { $0.isEmpty ? nil : $0.removeFirst() }?() }
  }

  /// Some threads write and others read older generations, on a real disk with background work.
  @Test func `reclamation runs while threads write and read`() throws {
    try TemporaryFolder.with { folder in
      var options = StoreKind.posixMapped.options
      options.worker = QueueWorker()
      options.toleratedGarbage = 0
      options.durability = .deferred
      let engine = try Engine(at: folder + "/store", options: options)
      let failures = Guarded<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        do {
          if thread == 3 { try Self.look(engine) } else { try Self.overwrite(engine, thread) }
        } catch { failures.withLock { $0.append("\(error)") } }
      }
      #expect(failures.withLock { $0 } == [])
      try Self.expectCounts(engine)
      #expect(try engine.verify().isSound)
      try engine.close()
      let again = try Engine(at: folder + "/store", options: options)
      try Self.expectCounts(again)
      try again.close()
    }
  }

  /// Each transaction puts the same value for all keys of a thread.
  private static func overwrite(_ engine: Engine, _ thread: Int) throws {
    for round in 1...300 {
      try engine.write { transaction in
        for number in 0..<20 {
          try transaction.put("\(thread) \(number)", [UInt8](repeating: UInt8(round % 251), count: 300))
        }
      }
    }
  }

  private static func look(_ engine: Engine) throws {
    for _ in 0..<200 {
      let snapshot = try engine.snapshot()
      for thread in 0..<3 {
        let values = try (0..<20).map { try snapshot.get(Array("\(thread) \($0)".utf8))?.first }
        #expect(Set(values).count == 1)
      }
    }
  }

  private static func expectCounts(_ engine: Engine) throws {
    let snapshot = try engine.snapshot()
    #expect(snapshot.count == 60)
    for thread in 0..<3 {
      for number in 0..<20 {
        let value = try snapshot.get(Array("\(thread) \(number)".utf8))
        #expect(value == [UInt8](repeating: UInt8(300 % 251), count: 300))
      }
    }
  }

  @Test func `reclamation frees no segment with a damaged value`() throws {
    let disk = SimulatedFileSystem()
    var store: Overwritten? = try Overwritten(.simulated, disk, "/store")
    try store?.overwrite(times: 3)
    try store?.engine.close()
    store = nil
    let directory = try disk.openDirectory("/store")
    let last = try #require(directory.entries().filter { $0.hasSuffix(".log") }.max())
    let file = try directory.open(last, .readWrite)
    try [UInt8](repeating: 0xA5, count: 5).withUnsafeBytes { try file.writeFully($0, at: 3000) }
    try file.close()
    let engine = try Engine(at: "/store", options: StoreKind.simulated.options, fileSystem: disk)
    // So little of the segment is live that it would be emptied.
    try engine.deleteRange("key 5", "key 9")
    let error = #expect(throws: EngineError.self) { try engine.reclaim() }
    #expect(error?.code == .damaged && error?.file?.contains(last) == true, "\(String(describing: error))")
    #expect(try directory.entries().contains(last))
    try engine.write { try $0.put("after", [1]) }
    try engine.close()
  }
}

extension Engine {
  fileprivate func deleteRange(_ from: String, _ to: String) throws {
    try write { _ = try $0.deleteRange(KeyRange(from: Array(from.utf8), to: Array(to.utf8))) }
  }
}

/// A store whose values are overwritten repeatedly, and a dictionary with its expected contents.
private final class Overwritten {
  private let options: EngineOptions
  private let fileSystem: any FileSystem
  private let path: String
  private let keys: Int
  private let valueBytes: Int
  private(set) var engine: Engine
  private(set) var model: [String: [UInt8]] = [:]
  private var round = 0

  init(
    _ kind: StoreKind, _ fileSystem: any FileSystem, _ path: String, keys: Int = 400, valueBytes: Int = 200,
    reclamation: EngineOptions.Reclamation = .automatic, toleratedGarbage: Int = 16 << 20
  ) throws {
    (self.fileSystem, self.path) = (fileSystem, path)
    (self.keys, self.valueBytes) = (keys, valueBytes)
    var options = kind.options
    options.reclamation = reclamation
    options.toleratedGarbage = toleratedGarbage
    self.options = options
    engine = try Engine(at: path, options: options, fileSystem: fileSystem)
    try overwrite(times: 1)
  }

  /// The bytes that the values and keys take in the log at least.
  var liveBytes: Int64 { Int64(model.reduce(0) { $0 + $1.key.utf8.count + $1.value.count + 10 }) }

  func overwrite(times: Int) throws {
    for _ in 0..<times {
      // In another order each time, a hundred keys in a transaction.
      round += 1
      for start in stride(from: 0, to: keys, by: 100) {
        try change(Array(start..<min(start + 100, keys)).map { ($0 * (2 * round + 1) + round) % keys })
      }
    }
  }

  func overwriteSome(_ random: inout SplitMix64) throws {
    round += 1
    try change((0...random.below(150)).map { _ in random.below(keys) })
  }

  func deleteSome(_ random: inout SplitMix64) throws {
    let numbers = (0...random.below(60)).map { _ in random.below(keys) }
    try engine.write { for number in numbers { _ = try $0.delete(Self.key(number)) } }
    for number in numbers { model[Self.key(number)] = nil }
  }

  private func change(_ numbers: [Int]) throws {
    let value = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: valueBytes + round % 7)
    try engine.write { for number in numbers { try $0.put(Self.key(number), value) } }
    for number in numbers { model[Self.key(number)] = value }
  }

  func reopen() throws {
    try engine.close()
    engine = try Engine(at: path, options: options, fileSystem: fileSystem)
  }

  func expectSame(verifies: Bool = true) throws {
    #expect(try Self.rows(of: engine.snapshot()) == model)
    guard verifies else { return }
    let findings = try engine.verify().findings
    #expect(findings == [])
  }

  static func rows(of snapshot: Snapshot) throws -> [String: [UInt8]] {
    var rows: [String: [UInt8]] = [:]
    try snapshot.scan { key, value in
      rows[String(decoding: key, as: UTF8.self)] = Array(value)
      return true
    }
    return rows
  }

  private static func key(_ number: Int) -> String { "key \(number * 7919 % 100_003)" }
}

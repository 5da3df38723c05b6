import Dispatch
import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// `EndToEnd/NoticeTests` of the command uses real processes.
@Suite struct `An observer of commits` {
  @Test(arguments: StoreKind.allCases, [EngineOptions.Access.readWrite, .readOnly])
  func `an observer is notified of commits of other processes, each readable at once`(
    kind: StoreKind, access: EngineOptions.Access
  ) throws {
    try kind.withPlace { fileSystem, path in
      let writer = try Engine(at: path, options: kind.processOptions, fileSystem: fileSystem)
      try writer.write { try $0.put("before", [1]) }
      var options = kind.processOptions
      options.access = access
      let reader = try Engine(at: path, options: options, fileSystem: fileSystem)
      let told = Told()
      let observation = reader.observeCommits { generation in
        told.note(generation, seen: (try? reader.snapshot().generation) ?? .init(rawValue: 0))
      }
      for round in 0..<5 {
        try writer.write(durability: round % 2 == 0 ? .full : .deferred) { try $0.put("\(round)", [1]) }
        try told.wait(for: writer.newestGeneration)
      }
      told.expectAscending()
      observation.cancel()
      try reader.close()
      try writer.close()
    }
  }

  @Test(arguments: EngineOptions.Sharing.all, ["/dev/null", nil])
  func `an observer is notified of commits of its own engine`(sharing: EngineOptions.Sharing, memory: String?)
    throws
  {
    try TemporaryFolder.with { path in
      var options = StoreKind.posixMapped.options
      options.sharing = sharing
      let engine = try Engine(at: memory ?? path, options: options)
      let told = Told()
      let observation = engine.observeCommits { told.note($0) }
      for round in 0..<5 {
        try engine.write { try $0.put("\(round)", [1]) }
        try told.wait(for: engine.newestGeneration)
      }
      told.expectAscending()
      withExtendedLifetime(observation) {}
      try engine.close()
    }
  }

  @Test(arguments: [false, true])
  func `an observer of concurrent commits is notified of the newest last, and never of an older one`(
    isShared: Bool
  ) throws {
    try TemporaryFolder.with { path in
      var options = EngineOptions(segmentBytes: 64 << 10, checkpointBytes: 64 << 10)
      (options.busyTimeout, options.sharesInProcess) = (60, isShared)
      let engines = try (0..<3).map { _ in try Engine(at: path, options: options) }
      let all = engines.map { _ in Told() }
      let observations = zip(engines, all).map { engine, told in
        engine.observeCommits { generation in
          told.note(generation, seen: (try? engine.snapshot().generation) ?? .init(rawValue: 0))
        }
      }
      let failures = Guarded<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 6) { thread in
        for round in 0..<40 {
          do {
            try engines[thread % 3].write(durability: round % 2 == 0 ? .full : .deferred) {
              try $0.put("\(thread) \(round % 5)", [UInt8](repeating: UInt8(round), count: 300))
            }
          } catch {
            failures.withLock { $0.append("thread \(thread): \(error)") }
          }
        }
      }
      #expect(failures.withLock { $0 } == [])
      // A checkpoint may be a generation of its own that follows.
      let newest = engines[0].newestGeneration
      for told in all {
        try told.wait(for: newest)
        told.expectAscending()
      }
      withExtendedLifetime(observations) {}
      for engine in engines { try engine.close() }
    }
  }

  /// The file system sends no notification for bytes that are written through memory.
  @Test func `the file system notifies an observer of one commit in each millisecond`() throws {
    try TemporaryFolder.with { path in
      let clock = SimulatedClock()
      var options = StoreKind.posixMapped.options
      (options.durability, options.clock) = (.deferred, clock)
      let engine = try Engine(at: path + "/store", options: options)
      let folder = try PosixFileSystem().openDirectory(path + "/store")
      guard let watch = try folder.watch() else { return }
      let log = try folder.open("0000000000000001.log", .readWrite)
      let hasWindows = try log.window(at: 0, length: 1) != nil
      func isTold(after nanoseconds: Int64) throws -> Bool {
        clock.jump(by: nanoseconds)
        _ = watch.wait(seconds: 0)
        try engine.write { try $0.put("key", [1, 2, 3]) }
        return watch.wait(seconds: 0)
      }
      for _ in 0..<20 { _ = try isTold(after: 1) }
      #expect(try isTold(after: 1_000_000))
      for _ in 0..<3 { #expect(try isTold(after: 300_000) == !hasWindows) }
      #expect(try isTold(after: 300_000))
      #expect(try isTold(after: -1), "the clock was put back")
      #expect(try isTold(after: 0) == !hasWindows)
      #expect(try isTold(after: 1 << 40))
      try engine.close()
    }
  }

  @Test func `an observer is notified by a timer where the system has no watches left`() throws {
    try TemporaryFolder.with { path in
      let plan: FaultPlan = [.fail(.of(.watch), .forever, with: .tooManyOpenFiles)]
      let disk = FaultInjectingFileSystem(base: PosixFileSystem(), plan: plan)
      let writer = try Engine(at: path, options: StoreKind.posixMapped.processOptions)
      let reader = try Engine(at: path, options: StoreKind.posixMapped.processOptions, fileSystem: disk)
      let told = Told()
      let observation = reader.observeCommits { told.note($0) }
      for round in 0..<3 {
        try writer.write { try $0.put("\(round)", [1]) }
        try told.wait(for: writer.newestGeneration)
      }
      #expect(disk.firingCounts == [1])
      withExtendedLifetime(observation) {}
      try reader.close()
      try writer.close()
    }
  }

  @Test func `an observer is notified after a process has ended in the middle of a write`() throws {
    let disk = SimulatedFileSystem(seed: 5)
    let options = StoreKind.simulated.processOptions
    let reader = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "reader"))
    let told = Told()
    let observation = reader.observeCommits { told.note($0) }
    for round in 0..<4 {
      let process = disk.process(named: "victim \(round)")
      let faulty = FaultInjectingFileSystem(base: process)
      let victim = try Engine(at: "/store", options: options, fileSystem: faulty)
      try victim.write { try $0.put("whole \(round)", [1]) }
      try told.wait(for: victim.newestGeneration)
      faulty.use([.fail(.of(.sync), .forever, with: .processKilled)])
      #expect(throws: EngineError.self) { try victim.write { try $0.put("torn \(round)", [1]) } }
      process.kill()
      let other = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "other"))
      try other.write { try $0.put("other \(round)", [1]) }
      try told.wait(for: other.newestGeneration)
      try other.close()
    }
    told.expectAscending()
    withExtendedLifetime(observation) {}
    try reader.close()
  }

  @Test func `a cancelled observer is not notified, and other observers are`() throws {
    let engine = try Engine(at: "/dev/null")
    let (first, second) = (Told(), Told())
    let cancelled = engine.observeCommits { first.note($0) }
    let kept = engine.observeCommits { second.note($0) }
    try engine.write { try $0.put("a", [1]) }
    try first.wait(for: engine.newestGeneration)
    try second.wait(for: engine.newestGeneration)
    // Also inside a write.
    try engine.write {
      cancelled.cancel()
      try $0.put("b", [1])
    }
    try second.wait(for: engine.newestGeneration)
    #expect(first.all.count == 1)
    kept.cancel()
    cancelled.cancel()
    // An observer that is added after the last one was removed is notified.
    let third = Told()
    let again = engine.observeCommits { third.note($0) }
    try engine.write { try $0.put("c", [1]) }
    try third.wait(for: engine.newestGeneration)
    #expect(third.all == [engine.newestGeneration])
    withExtendedLifetime(again) {}
    try engine.close()
  }

  @Test func `an observer may cancel, release and close while it is notified`() throws {
    try TemporaryFolder.with { path in
      let engine = try Engine(at: path)
      let told = Told()
      let kept = Guarded<CommitObservation?>(nil)
      let observation = engine.observeCommits { generation in
        let own = kept.withLock { kept in
          defer { kept = nil }
          return kept
        }
        own?.cancel()
        try? engine.close()
        told.note(generation)
      }
      kept.withLock { $0 = observation }
      try engine.write { try $0.put("a", [1]) }
      try told.wait(for: Generation(rawValue: 1))
      #expect(throws: EngineError.self) { _ = try engine.snapshot() }
      let reopened = try Engine(at: path)
      #expect(try reopened.snapshot().get("a") == [1])
      try reopened.close()
    }
  }

  @Test func `an observer does not retain the engine, and ends when the engine is released`() async throws {
    var engine: Engine? = try Engine(at: "/dev/null")
    let commits = try #require(engine?.commits)
    try engine?.write { try $0.put("a", [1]) }
    var iterator = commits.makeAsyncIterator()
    #expect(await iterator.next() == Generation(rawValue: 1))
    weak let released = engine
    engine = nil
    #expect(await iterator.next() == nil)
    #expect(released == nil)
  }

  @Test func `a sequence of commits has the newest commit, and ends when the store is closed`() async throws {
    let engine = try Engine(at: "/dev/null")
    let commits = engine.commits
    let abandoned = Guarded<AsyncStream<Generation>?>(engine.commits)
    abandoned.withLock { $0 = nil }
    for round in 1...10 { try engine.write { try $0.put("\(round)", [1]) } }
    var seen: [Generation] = []
    for await generation in commits {
      seen.append(generation)
      if generation == engine.newestGeneration { try engine.close() }
    }
    #expect(seen.last == Generation(rawValue: 10))
    #expect(seen == seen.sorted())
    var ended = engine.commits.makeAsyncIterator()
    #expect(await ended.next() == nil, "a closed store tells nothing")
  }

  @Test func `an observer is not notified of another store that has replaced its folder`() async throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "heartwood-\(UUID().uuidString)").path
    defer { for path in [place, place + "-moved"] { try? FileManager.default.removeItem(atPath: path) } }
    let engine = try Engine(at: place, options: StoreKind.posixMapped.processOptions)
    try engine.write { try $0.put("a", [1]) }
    let commits = engine.commits
    try FileManager.default.moveItem(atPath: place, toPath: place + "-moved")
    let other = try Engine(at: place, options: StoreKind.posixMapped.processOptions)
    let told = Told()
    let observation = other.observeCommits { told.note($0) }
    for round in 0..<3 { try other.write { try $0.put("\(round)", [1]) } }
    try told.wait(for: other.newestGeneration)
    try? engine.close()
    var iterator = commits.makeAsyncIterator()
    #expect(await iterator.next() == nil)
    withExtendedLifetime(observation) {}
    try other.close()
  }

  @Test func `an observer polls often after a commit, then rarely, and not at all where no process writes`() {
    var rest = CommitWatch.PollInterval()
    #expect((0..<8).map { _ in rest.next(.none) } == [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.05, nil])
    rest.begin()
    #expect(rest.next(.here) == nil)
    let pauses = (0..<100).map { _ in rest.next(.elsewhere) }
    #expect(pauses.first == 0.001)
    #expect(pauses.last == 1)
    #expect(pauses.filter { $0 == 0.05 }.count > 20)
    rest.begin()
    #expect(rest.next(.elsewhere) == 0.001)
  }
}

extension EngineOptions.Sharing {
  fileprivate static let all: [Self] = [.processes, .exclusive]
}

/// The notifications that an observer received.
final class Told: Sendable {
  private let pairs = Guarded<[(told: Generation, seen: Generation)]>([])
  private let news = DispatchSemaphore(value: 0)

  var all: [Generation] { pairs.withLock { $0.map(\.told) } }

  /// - Parameter seen: The generation of a snapshot that was taken then.
  func note(_ generation: Generation, seen: Generation? = nil) {
    pairs.withLock { $0.append((generation, seen ?? generation)) }
    news.signal()
  }

  func wait(for generation: Generation, sourceLocation: SourceLocation = #_sourceLocation) throws {
    while all.last.map({ $0 < generation }) ?? true {
      try #require(
        news.wait(timeout: .now() + 60) == .success, "\(generation) was not told, but \(all)",
        sourceLocation: sourceLocation)
    }
  }

  func expectAscending(sourceLocation: SourceLocation = #_sourceLocation) {
    let all = all
    #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 }, "\(all)", sourceLocation: sourceLocation)
    #expect(
      pairs.withLock { $0.allSatisfy { $0.seen >= $0.told } }, "a snapshot was older than what was told",
      sourceLocation: sourceLocation)
  }
}

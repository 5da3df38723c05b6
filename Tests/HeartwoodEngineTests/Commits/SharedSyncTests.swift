import Foundation
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import HeartwoodEngine

@Suite struct `Commits that share a sync` {
  @Test func `commits that arrive during a sync are covered by one later sync`() throws {
    let stall = try Stall()
    let failures = stall.committing(1...8)
    #expect(failures == Array(repeating: nil, count: 8))
    // The stalled sync, and one for all commits that arrived during it.
    #expect(stall.syncCount == 2)
    #expect(try stall.rows() == stall.rows(of: 0...8))
    #expect(try stall.rowsAfterCrashes() == [stall.rows(of: 0...8)])
    try stall.engine.close()
  }

  @Test(arguments: [1, 2])
  func `every commit that shares a sync fails when the sync fails`(failing: Int) throws {
    let stall = try Stall(plan: [.fail(.sync, file: "*.log", .nth(failing))])
    let failures = stall.committing(1...8)
    let unknown = failures.count { $0 == .outcomeUnknown }
    #expect(unknown == (failing == 1 ? 8 : 7))
    #expect(failures.count { $0 == nil } == 8 - unknown)
    let shown = try stall.rows()
    #expect(shown == stall.rows(of: failing == 1 ? 0...0 : 0...1), "what was not synced is not shown")
    #expect(throws: EngineError.self) { try stall.engine.write { try $0.put("later", [1]) } }
    try? stall.engine.close()
    for rows in try stall.rowsAfterCrashes() { #expect(shown.allSatisfy { rows[$0.key] == $0.value }) }
  }

  @Test func `a commit that needs no sync is published in its order among commits that share one`() throws {
    let stall = try Stall()
    let before = stall.engine.newestGeneration
    let seen = Guarded<[Generation]>([])
    stall.duringSync = { seen.withLock { $0.append(stall.engine.newestGeneration) } }
    let failures = stall.committing(1...2) { $0 == 2 ? .deferred : .full }
    #expect(failures == [nil, nil])
    #expect(seen.withLock { $0.first } == before, "the deferred one is not published before the full one")
    #expect(try stall.rows() == stall.rows(of: 0...2))
    try stall.engine.close()
  }

  @Test func `the published generation stays whole while later commits are written`() throws {
    let stall = try Stall(keys: 2000)
    let before = try stall.rows()
    let seen = Guarded<[[String: [UInt8]]?]>([])
    stall.duringSync = { seen.withLock { $0.append(try? stall.rows()) } }
    #expect(stall.committing(1...6) == Array(repeating: nil, count: 6))
    #expect(seen.withLock { $0.first } == before)
    #expect(try stall.engine.verify().findings == [])
    try stall.engine.close()
  }

  @Test(arguments: [false, true])
  func `a transaction without changes waits for the sync of what it has read`(isGivenUp: Bool) throws {
    let stall = try Stall()
    let read = stall.readingDuringSync(isGivenUp: isGivenUp)
    #expect(read.value == stall.rows(of: 1...1)["key 1"])
    #expect(read.generation == stall.engine.newestGeneration)
    #expect(read.error is GivenUp == isGivenUp)
    try stall.engine.close()
  }

  @Test(arguments: [false, true])
  func `a transaction without changes fails when the sync of what it has read fails`(isGivenUp: Bool) throws {
    let stall = try Stall(plan: [.fail(.sync, file: "*.log", .nth(1))])
    let read = stall.readingDuringSync(isGivenUp: isGivenUp)
    #expect((read.error as? EngineError)?.code == .stopped)
    try? stall.engine.close()
  }

  @Test func `data written while a checkpoint syncs does not count as synced`() throws {
    let disk = SimulatedFileSystem()
    let engine = Guarded<Engine?>(nil)
    let isArmed = Guarded(false)
    let fileSystem = FaultInjectingFileSystem(base: disk) { mutation in
      guard mutation.operation == .sync, mutation.path.hasSuffix(".log"),
        isArmed.withLock({ armed in
          defer { armed = false }
          return armed
        }), let engine = engine.withLock({ $0 })
      else { return }
      // Fills the segment, and continues in the next.
      try? engine.write(durability: .deferred) { try $0.put("b", [UInt8](repeating: 2, count: 70_000)) }
      try? engine.write(durability: .deferred) { try $0.put("c", [3]) }
    }
    var options = StoreKind.simulated.options
    options.checkpointBytes = 1 << 30
    let opened = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    engine.withLock { $0 = opened }
    try opened.write { try $0.put("a", [1]) }
    isArmed.withLock { $0 = true }
    // A sync may have reached the file before those writes.
    fileSystem.use([.sync(.lies, file: "*1.log")])
    try opened.checkpoint()
    try opened.write { try $0.put("d", [4]) }
    #expect(isArmed.withLock { !$0 })
    for image in disk.crashImages() {
      let found = try Engine(at: "/store", options: options, fileSystem: image.mounted())
      #expect(try found.snapshot().count == 4, "\(image)")
      try found.close()
    }
    engine.withLock { $0 = nil }
    try opened.close()
  }
}

private struct GivenUp: Error {}

/// A store whose next sync of the log waits until all of a number of commits are written.
private final class Stall: @unchecked Sendable {
  private let disk = SimulatedFileSystem()
  private(set) var engine: Engine
  private let keys: Int
  private let isWritten = DispatchSemaphore(value: 0)
  private let state = Guarded((awaited: 0, isArmed: false, syncs: 0))
  /// Called in the stalled sync, when all commits are written.
  var duringSync: @Sendable () -> Void = {}

  init(keys: Int = 10, plan: FaultPlan = FaultPlan()) throws {
    self.keys = keys
    let hook = Guarded<(@Sendable (Mutation) -> Void)?>(nil)
    let fileSystem = FaultInjectingFileSystem(base: disk) { mutation in hook.withLock { $0 }?(mutation) }
    engine = try Engine(at: "/store", options: Self.options, fileSystem: fileSystem)
    try engine.write { transaction in
      for number in 0..<keys { try transaction.put("base \(number)", Self.value(number)) }
    }
    let observer: @Sendable (Mutation) -> Void = { [weak self] in self?.observe($0) }
    hook.withLock { $0 = observer }
    fileSystem.use(plan)
  }

  private static var options: EngineOptions {
    var options = StoreKind.simulated.options
    options.segmentBytes = 1 << 20
    options.checkpointBytes = 1 << 30
    return options
  }

  var syncCount: Int { state.withLock { $0.syncs } }

  private func observe(_ mutation: Mutation) {
    guard mutation.path.hasSuffix(".log") else { return }
    switch mutation.operation {
    case .write: isWritten.signal()
    case .sync: stall()
    default: break
    }
  }

  private func stall() {
    let awaited = state.withLock { state in
      state.syncs += 1
      defer { state.isArmed = false }
      return state.isArmed ? state.awaited : 0
    }
    guard awaited > 0 else { return }
    for _ in 0..<awaited { isWritten.wait() }
    // The last commit is about to be written. It releases this lock when it waits for its sync or needs none.
    try? engine.handle.store.writer.withLock { _ in }
    duringSync()
  }

  /// Commits from as many threads, the first of which reaches the sync before the others begin; returns
  /// how each failed.
  func committing(
    _ numbers: ClosedRange<Int>, _ durability: @escaping @Sendable (Int) -> Durability = { _ in .full }
  ) -> [EngineError.Code?] {
    state.withLock { $0 = (numbers.count, true, 0) }
    let failures = Guarded([EngineError.Code?](repeating: nil, count: numbers.count))
    let group = DispatchGroup()
    for number in numbers {
      group.enter()
      Thread.detachNewThread { [self] in
        let failure = commit(number, durability(number))
        failures.withLock { $0[number - numbers.lowerBound] = failure }
        group.leave()
      }
      while number == numbers.lowerBound, state.withLock({ $0.isArmed }) { sched_yield() }
    }
    group.wait()
    // The closure may retain this object.
    duringSync = {}
    return failures.withLock { $0 }
  }

  private func commit(_ number: Int, _ durability: Durability) -> EngineError.Code? {
    do {
      try engine.write(durability: durability) { transaction in
        try transaction.put("key \(number)", Self.value(number))
        // Pages are copied, and the pages that they replace are reclaimed.
        for key in stride(from: 0, to: keys, by: 7) where key >= 10 {
          try transaction.put("base \(key)", Self.value(key + number))
        }
      }
      return nil
    } catch {
      return (error as? EngineError)?.code
    }
  }

  func rows() throws -> [String: [UInt8]] { try Self.rows(of: engine) }

  /// The contents of a small store after the commits with these numbers. The base is 0.
  func rows(of numbers: ClosedRange<Int>) -> [String: [UInt8]] {
    var rows: [String: [UInt8]] = [:]
    for number in 0..<keys { rows["base \(number)"] = Self.value(number) }
    for number in numbers where number > 0 { rows["key \(number)"] = Self.value(number) }
    return rows
  }

  func rowsAfterCrashes() throws -> Set<[String: [UInt8]]> {
    var found: Set<[String: [UInt8]]> = []
    for image in disk.crashImages(.prefixesOnly) {
      let engine = try Engine(at: "/store", options: Self.options, fileSystem: image.mounted())
      found.insert(try Self.rows(of: engine))
      try engine.close()
    }
    return found
  }

  private static func rows(of engine: Engine) throws -> [String: [UInt8]] {
    var rows: [String: [UInt8]] = [:]
    try engine.snapshot().scan { key, value in
      rows[String(decoding: key, as: UTF8.self)] = Array(value)
      return true
    }
    return rows
  }

  /// Longer than a value that a page stores itself.
  private static func value(_ number: Int) -> [UInt8] { Array("the value with number \(number)".utf8) }
}

extension Stall {
  struct Reading: Sendable {
    var value: [UInt8]?
    var generation: Generation?
    var error: (any Error)?
  }

  /// Commits, and reads what is committed in another transaction before it is synced.
  func readingDuringSync(isGivenUp: Bool) -> Reading {
    let reading = Guarded(Reading())
    let group = DispatchGroup()
    duringSync = { [self] in
      // On another thread, as this one is in the middle of a commit.
      let isRead = DispatchSemaphore(value: 0)
      group.enter()
      Thread.detachNewThread {
        let found = self.reading(isRead, isGivenUp)
        reading.withLock { $0 = found }
        group.leave()
      }
      isRead.wait()
    }
    _ = committing(1...1)
    group.wait()
    return reading.withLock { $0 }
  }

  private func reading(_ isRead: DispatchSemaphore, _ isGivenUp: Bool) -> Reading {
    var reading = Reading()
    do {
      try engine.write { transaction in
        defer { isRead.signal() }
        reading.value = try transaction.get("key 1")
        if isGivenUp { throw GivenUp() }
      }
    } catch {
      reading.error = error
    }
    reading.generation = engine.newestGeneration
    return reading
  }
}

import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// One process is killed at one of its calls. Another continues with the store. Each case of a usual run tries another quarter of the calls, a long run
/// tries all.
@Suite struct `A process that ends in the middle of a call` {
  @Test(arguments: [
    (1, FaultPlan.Effect.none, nil), (2, .none, 0.03), (3, .whole, nil), (4, .whole, 0.03 as Double?),
  ])
  func `a process that is killed at any call leaves every commit to the other processes`(
    first: Int, effect: FaultPlan.Effect, idleSeconds: Double?
  ) throws {
    var recoveries = 0
    for call in stride(from: LongRun.isWanted ? 1 : first, to: .max, by: LongRun.isWanted ? 1 : 4) {
      let pair = try Pair(idleSeconds: idleSeconds)
      let plan = FaultPlan([.fail(.any, .from(call), with: .processKilled, effect: effect)])
      guard try pair.live(plan) else { break }
      recoveries += 1
      try pair.goOn("killed at call \(call)")
    }
    #expect(recoveries > (LongRun.isWanted ? 100 : 25))
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

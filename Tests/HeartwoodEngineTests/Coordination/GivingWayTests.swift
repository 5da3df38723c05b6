import Dispatch
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import HeartwoodEngine

/// A long task of one process does not block the writes of other processes.
@Suite struct `Long tasks while another process writes` {
  @Test func `a backup holds its generation while another process writes and reclaims`() throws {
    let pair = try OverwrittenStore(.readWrite)
    pair.files.interrupt(before: ".log") {
      #expect(throws: Never.self) { try pair.overwriteAndReclaim() }
    }
    let report = try pair.engine.backup(to: "/backup", fileSystem: pair.disk)
    #expect(pair.files.hasHappened && report.copiedBytes > 0)
    try pair.expectBackup(report, rounds: 2)
    try pair.close()
  }

  @Test
  func `a backup by a read-only engine holds one state while another process writes and reclaims`()
    throws
  {
    // The writer writes before the first file is opened, before the second, and so on.
    for step in 0..<60 {
      let pair = try OverwrittenStore(.readOnly)
      let before = pair.engine.newestGeneration
      pair.files.interrupt(after: step) { try? pair.overwriteAndReclaim() }
      let report = try pair.engine.backup(to: "/backup", fileSystem: pair.disk)
      try pair.expectBackup(report, rounds: report.generation == before ? 2 : 3)
      guard pair.files.hasHappened else { return }
      try pair.close()
    }
    Issue.record("a backup makes more calls than steps")
  }

  @Test(arguments: [EngineOptions.Access.readWrite, .readOnly])
  func `a verification has no findings in space that is reclaimed while it reads`(
    access: EngineOptions.Access
  ) throws {
    let pair = try OverwrittenStore(access)
    var hasWritten = false
    let report = try pair.engine.verify { _, _ in
      guard !hasWritten else { return }
      hasWritten = true
      #expect(throws: Never.self) { try pair.overwriteAndReclaim() }
    }
    #expect(hasWritten && report.findings == [] && report.keys == OverwrittenStore.keys)
    try pair.close()
  }

  @Test(arguments: [".log", ".pages"])
  func `a verification restarts when files that it is about to open are reclaimed`(suffix: String) throws {
    let pair = try OverwrittenStore(.readOnly)
    pair.files.interrupt(before: suffix) {
      #expect(throws: Never.self) { try pair.overwriteAndReclaim() }
    }
    let report = try pair.engine.verify()
    #expect(pair.files.hasHappened && report.findings == [])
    try pair.close()
  }

  @Test(arguments: [false, true])
  func `other processes write and take checkpoints between the steps of a reclamation`(takesCheckpoint: Bool)
    throws
  {
    let disk = SimulatedFileSystem(seed: 6)
    let hook = Hook()
    var options = OverwrittenStore.options
    options.busyTimeout = 600
    let files = FaultInjectingFileSystem(base: disk.process(named: "reclaims"), plan: FaultPlan()) {
      hook.body.withLock { $0 }($0)
    }
    let engine = try Engine(at: "/store", options: options, fileSystem: files)
    for round in 0..<2 { try OverwrittenStore.write(round, engine) }
    let other = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "other"))
    // On both sides of the part that was already searched.
    let changes = OverwrittenStore.changes(8)
    let visitor = Visitor(engine) {
      try other.write { for (key, value) in changes { try $0.put(key, value) } }
      if takesCheckpoint { try other.checkpoint() }
    }
    hook.body.withLock { $0 = { visitor.call($0) } }
    let space = try engine.reclaim()
    #expect(visitor.isDone && space.movedValues > 0)
    hook.body.withLock { $0 = { _ in } }
    try visitor.wait()

    var model = OverwrittenStore.rows(after: 2)
    for (key, value) in changes { model[key] = value }
    for engine in [engine, other] {
      try engine.snapshot().expect(model, "open")
      #expect(try engine.verify().findings == [])
      try engine.close()
    }
    let reopened = try Engine(at: "/store", options: options, fileSystem: disk)
    try reopened.snapshot().expect(model, "reopened")
    #expect(try reopened.verify().findings == [])
    try reopened.close()
  }
}

/// An overwritten store, open in two processes, neither of which waits for the other.
private struct OverwrittenStore {
  static let keys = 2000
  let disk = SimulatedFileSystem(seed: 5)
  let files: InterruptedOpening
  let options: EngineOptions
  /// The engine with the long task.
  let engine: Engine
  let other: Engine

  init(_ access: EngineOptions.Access) throws {
    options = Self.options
    files = InterruptedOpening(disk.process(named: "task"))
    other = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "other"))
    for round in 0..<2 { try Self.write(round, other) }
    var mine = options
    (mine.access, mine.busyTimeout) = (access, 60)
    engine = try Engine(at: "/store", options: mine, fileSystem: files)
  }

  static var options: EngineOptions {
    var options = StoreKind.simulated.processOptions
    (options.busyTimeout, options.reclamation) = (0, .onDemand)
    return options
  }

  /// The contents after a number of rounds of writing.
  static func rows(after rounds: Int) -> Model {
    var rows: Model = [:]
    for round in 0..<rounds { for (key, value) in changes(round) { rows[key] = value } }
    return rows
  }

  /// All keys, then every other, then every third, and so on.
  static func changes(_ round: Int) -> [(key: [UInt8], value: [UInt8])] {
    stride(from: 0, to: keys, by: round + 1).map {
      (Array("\($0)".utf8), [UInt8](repeating: UInt8(round), count: 200))
    }
  }

  static func write(_ round: Int, _ engine: Engine) throws {
    try engine.write { for (key, value) in changes(round) { try $0.put(key, value) } }
    try engine.checkpoint()
  }

  func overwriteAndReclaim() throws {
    try Self.write(2, other)
    let space = try other.reclaim()
    #expect(space.bytesAfter < space.bytesBefore)
  }

  func expectBackup(_ report: BackupReport, rounds: Int) throws {
    let backup = try Engine(at: "/backup", options: options, fileSystem: disk)
    #expect(backup.newestGeneration == report.generation)
    try backup.snapshot().expect(Self.rows(after: rounds), "the backup")
    #expect(try backup.verify().findings == [])
    try backup.close()
  }

  func close() throws {
    try engine.close()
    try other.snapshot().expect(Self.rows(after: 3), "in the end")
    #expect(try other.verify().findings == [])
    try other.close()
  }
}

/// Called before each change of a file.
private final class Hook: Sendable {
  let body = Guarded<@Sendable (Mutation) -> Void>({ _ in })
}

/// Another process, on its own thread, that starts when an engine has written the third frame of a task.
private final class Visitor: @unchecked Sendable {
  private let store: OpenStore
  private let body: () throws -> Void
  private var frames = 0
  private var hasBegun = false
  private let outcome = Guarded<Result<Void, any Error>?>(nil)
  private let end = DispatchSemaphore(value: 0)

  init(_ engine: Engine, _ body: @escaping () throws -> Void) {
    store = engine.handle.store
    self.body = body
  }

  var isDone: Bool { outcome.withLock { $0 } != nil }

  /// Called before a change of a file. Returns when the visitor waits for the writer lease, or is done.
  func call(_ mutation: Mutation) {
    guard mutation.operation == .write, mutation.path.hasSuffix(".log") else { return }
    frames += 1
    guard frames >= 3 else { return }
    if !hasBegun {
      hasBegun = true
      DispatchQueue.global().async { [self] in
        let result = Result(catching: body)
        outcome.withLock { $0 = result }
        end.signal()
      }
    }
    while !isDone, !isWaiting { CurrentThread.pause() }
  }

  func wait() throws {
    end.wait()
    try outcome.withLock { $0 }?.get()
  }

  private var isWaiting: Bool {
    (try? store.attachment?.page.waiterCount()) != store.lease.yieldedTo.load(ordering: .relaxed)
  }
}

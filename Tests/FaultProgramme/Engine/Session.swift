import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// A store under a workload, with a reference model.
final class Session {
  let reference: ReferenceModel
  private let fileSystem: any FileSystem
  private var engine: Engine?
  /// The engine of the other process, if there is one.
  private var other: Engine?
  /// The file system of the engine's process, until the process is killed.
  private var process: FaultInjectingFileSystem
  private var otherProcess: FaultInjectingFileSystem
  /// The errors so far, in order.
  private(set) var errors: [EngineError] = []
  /// Called after the first error.
  var onFirstError: () throws -> Void = {}

  /// Whether failed syncs drop bytes that a stopped store may still have to read.
  var syncsRevert = false

  /// Whether automatic reclamation runs after commits as soon as there is garbage.
  private var givesBack = false
  /// Whether the next opening merges small files, and whether an opening has done so.
  private var (joinsFiles, hasJoinedFiles) = (false, false)
  /// Whether another process has the store open too.
  private var hasOtherProcesses = false
  /// Whether the engine moves values without a request.
  private var moves: Bool { givesBack || hasJoinedFiles }

  /// The seed of the store's identifier, which distinguishes its files from those of other stores.
  private let seed: UInt64

  init(_ fileSystem: any FileSystem, reference: ReferenceModel = ReferenceModel(), seed: UInt64 = 0) {
    self.fileSystem = fileSystem
    self.reference = reference
    self.seed = seed
    process = FaultInjectingFileSystem(base: fileSystem)
    otherProcess = process
  }

  static let path = "/store"
  /// The folder of the backups.
  static let backupPath = "/backup"

  /// Options for small segments, work on the caller's thread, reproducible bytes, and no generations created
  /// by opening.
  static var options: EngineOptions {
    var options = EngineOptions(
      segmentBytes: 64 << 10, checkpointBytes: 1 << 20, worker: InlineWorker(), clock: SimulatedClock(),
      entropy: SeededEntropy(seed: 0))
    options.toleratedSmallFiles = .max
    options.frameBytes = 16 << 10
    return options
  }

  /// Runs all steps. The first error ends the run.
  func run(_ steps: [Step]) throws {
    try open()
    for step in steps { try run(step) }
  }

  /// Runs all steps and continues after errors as an application would: a failed step is not repeated, and a
  /// stopped store is closed and reopened.
  func runThroughErrors(_ steps: [Step]) throws {
    try persist { try self.open() }
    for step in steps {
      try persist { try self.run(step) }
      if engine == nil { try persist { try self.open() } }
    }
  }

  private func persist(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as EngineError {
      note(error)
      if errors.count == 1 { try onFirstError() }
      if error.code == .stopped || error.isOutcomeUnknown || isStopped { try discard() }
    }
  }

  /// Records an error. Damage is expected, and not recorded, after a failed sync that has dropped bytes has
  /// stopped the store.
  private func note(_ error: EngineError) {
    if error.code != .damaged || !syncsRevert || !isStopped { errors.append(error) }
  }

  /// Whether the store refuses to write.
  private var isStopped: Bool {
    do {
      try engine?.write { _ in }
      return false
    } catch {
      return true
    }
  }

  /// Closes a stopped engine. Before that it must still be readable, as far as the disk is.
  private func discard() throws {
    guard let engine else { return }
    do {
      let rows = try Self.rows(of: engine)
      try require(reference.candidates.contains(rows), "a stopped store shows \(rows.summary)")
    } catch let error as EngineError { note(error) }
    try? engine.close()
    self.engine = nil
  }

  // MARK: Steps

  func run(_ step: Step) throws {
    switch step {
    case .commit(let durability, let edits):
      if let engine { try commit(durability, edits, in: engine) }
    case .elsewhere(let durability, let edits):
      if let engine { try commit(durability, edits, in: other ?? engine) }
    case .rollBack(let edits): try rollBack(edits)
    case .checkpoint:
      // Without a store nothing becomes durable.
      guard let engine else { return }
      try engine.checkpoint()
      reference.acknowledge(through: Int(engine.newestGeneration.rawValue))
    case .reclaim: try reclaim()
    case .backup: try backUp()
    case .reclaimOfPeer:
      try closeHere()
      givesBack = true
      try open()
    case .otherProcess:
      try closeHere()
      hasOtherProcesses = true
      try open()
    case .reopen:
      try closeHere()
      try open()
    case .kill:
      kill()
      try open()
    case .joinFiles:
      kill()
      (joinsFiles, hasJoinedFiles) = (true, true)
      defer { joinsFiles = false }
      try open()
    }
  }

  /// The newest generation of the open store; 0 if none is open.
  var newestGeneration: Int { engine.map { Int($0.newestGeneration.rawValue) } ?? 0 }

  func open() throws {
    guard engine == nil else { return }
    process = FaultInjectingFileSystem(base: fileSystem)
    var options = Self.options
    options.entropy = SeededEntropy(seed: seed)
    if givesBack { (options.toleratedGarbage, options.checkpointBytes) = (0, 64 << 10) }
    if joinsFiles { options.toleratedSmallFiles = 1 }
    if givesBack || joinsFiles { allowMoves() }
    // Each process releases the writer lease after each write.
    if hasOtherProcesses { (options.idleSeconds, options.sharesInProcess) = (nil, false) }
    let opened = try Engine(at: Self.path, options: options, fileSystem: process)
    engine = opened
    if hasOtherProcesses, other == nil {
      otherProcess = FaultInjectingFileSystem(base: fileSystem)
      other = try Engine(at: Self.path, options: options, fileSystem: otherProcess)
    }
    let rows = try Self.rows(of: opened)
    try require(
      reference.settle(on: Int(opened.newestGeneration.rawValue), rows, opensWithMoves: joinsFiles),
      "opened at generation \(opened.newestGeneration) with \(rows.summary); possible are "
        + reference.now.summary)
    // If a sync has failed in the meantime, the last moves may be unpublished.
    if joinsFiles { allowMoves() }
  }

  func close() throws {
    defer { other = nil }
    try other?.close()
    try closeHere()
  }

  /// Closes the engine of this process. The other process keeps the store open.
  private func closeHere() throws {
    guard let closing = engine else { return }
    // The engine is closed even if `close` throws.
    engine = nil
    try closing.close()
    reference.acknowledge(through: Int(closing.newestGeneration.rawValue))
  }

  /// Ends the use of the store without any further call that changes something.
  func kill() {
    for each in [process, otherProcess] { each.use(FaultPlan([.init(.any, duration: .forever)])) }
    (engine, other) = (nil, nil)
  }

  /// Opens a store and closes it again.
  static func recover(_ fileSystem: any FileSystem) throws {
    try Engine(at: path, options: options, fileSystem: fileSystem).close()
  }

  private func commit(_ durability: Durability, _ edits: [Edit], in engine: Engine) throws {
    if other != nil { try refresh(in: engine) }
    let number = reference.begin()
    var rows = reference.newest
    for edit in edits { edit.apply(to: &rows, transaction: number) }
    // A transaction without changes makes no generation.
    guard edits.contains(where: \.isPut) || rows != reference.newest else {
      return try engine.write(durability: durability) { transaction in
        for edit in edits { try edit.apply(to: transaction, number: number) }
      }
    }
    let before = Int(engine.newestGeneration.rawValue)
    if moves { reference.settleAttempts(through: before) }
    reference.attempt(rows)
    if moves { allowMoves() }
    do {
      try engine.write(durability: durability) { transaction in
        for edit in edits { try edit.apply(to: transaction, number: number) }
      }
    } catch {
      if (error as? EngineError)?.isOutcomeUnknown != true {
        reference.settleAttempts(through: before)
        if moves { allowMoves() }
      }
      throw error
    }
    if durability == .full { reference.acknowledge(through: before + 1) }
    try expect(engine, rows)
  }

  /// Makes a process apply the commits of the other one. This can make a generation with the same contents.
  private func refresh(in engine: Engine) throws {
    allowMoves()
    try engine.write { _ in }
    settleMoves(engine)
  }

  /// Allows for moves of values after a commit, which are transactions of the engine itself.
  private func allowMoves() {
    let rows = reference.newest
    for _ in 0..<Self.internalLimit { reference.attempt(rows) }
  }

  /// The maximum number of generations that moving live values makes. They have the same contents.
  private static let internalLimit = 64

  private func reclaim() throws {
    guard let engine else { return }
    let rows = reference.newest
    allowMoves()
    do {
      try engine.reclaim()
    } catch {
      // If the outcome is unknown, it is also unknown whether the values were moved.
      if !error.isOutcomeUnknown { settleMoves(engine) }
      throw error
    }
    settleMoves(engine)
    // The checkpoints of a reclamation sync everything.
    reference.acknowledge(through: Int(engine.newestGeneration.rawValue))
    try expect(engine, rows)
  }

  private func settleMoves(_ engine: Engine) {
    reference.settleAttempts(through: Int(engine.newestGeneration.rawValue))
    if moves { allowMoves() }
  }

  private func backUp() throws {
    guard let engine else { return }
    reference.beginBackup()
    let report = try engine.backup(to: Self.backupPath, fileSystem: process)
    // A backup makes everything durable before it is copied.
    reference.acknowledge(through: Int(engine.newestGeneration.rawValue))
    reference.endBackup(of: Int(report.generation.rawValue))
  }

  private func rollBack(_ edits: [Edit]) throws {
    guard let engine else { return }
    let number = reference.begin()
    do {
      try engine.write { transaction in
        for edit in edits { try edit.apply(to: transaction, number: number) }
        throw SecondThoughts()
      }
    } catch is SecondThoughts {}
    try expect(engine, reference.newest)
  }

  private func expect(_ engine: Engine, _ rows: Rows) throws {
    let found = try Self.rows(of: engine)
    try require(found == rows, "the store shows \(found.summary) and not \(rows.summary)")
  }

  private struct SecondThoughts: Error {}

  static func rows(of engine: Engine) throws -> Rows { try rows(of: try engine.snapshot()) }

  static func rows(of snapshot: Snapshot) throws -> Rows {
    var rows: Rows = [:]
    try snapshot.scan { key, value in
      rows[String(decoding: key, as: UTF8.self)] = Array(value)
      return true
    }
    return rows
  }
}

extension Rows {
  /// A summary that distinguishes states in a message.
  var summary: String {
    let parts = sorted { $0.key < $1.key }.map { key, value in
      "\(key)=\(String(decoding: value.prefix(6), as: UTF8.self))…\(value.count)"
    }
    return "{" + parts.prefix(12).joined(separator: " ") + (count > 12 ? " … \(count)}" : "}")
  }
}

extension ReferenceModel.Promise {
  /// All states that may be found.
  var summary: String {
    generations.indices[durable...].map { "\($0): \(generations[$0].summary)" }.joined(separator: " or ")
  }
}

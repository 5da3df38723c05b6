import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// A store under a workload, with a witness beside it.
final class Session {
  let reference: ReferenceModel
  private let fileSystem: any FileSystem
  private var engine: Engine?
  /// The one of another process, where there is one.
  private var other: Engine?
  /// What the engine sees of the file system, until the process is killed.
  private var process: FaultInjectingFileSystem
  private var otherProcess: FaultInjectingFileSystem
  /// What failed, in order.
  private(set) var errors: [EngineError] = []
  /// What is looked at when something has failed for the first time.
  var onFirstError: () throws -> Void = {}

  /// Whether failed syncs take bytes away that a stopped store may still have to read.
  var syncsRevert = false

  /// Space is given back beside commits, as soon as there is any.
  private var givesBack = false
  /// Whether the next opening puts small files together, and whether one has.
  private var (joinsFiles, hasJoinedFiles) = (false, false)
  /// Whether another process is to have the store open too.
  private var hasOtherProcesses = false
  /// Whether values are moved that nobody has asked for.
  private var moves: Bool { givesBack || hasJoinedFiles }

  /// What the store's identifier is made of, and what tells its files from those of others.
  private let seed: UInt64

  init(_ fileSystem: any FileSystem, reference: ReferenceModel = ReferenceModel(), seed: UInt64 = 0) {
    self.fileSystem = fileSystem
    self.reference = reference
    self.seed = seed
    process = FaultInjectingFileSystem(base: fileSystem)
    otherProcess = process
  }

  static let path = "/store"
  /// Where its backups are.
  static let backupPath = "/backup"

  /// Small segments, everything on the caller's thread, the same bytes at every run, and no generations that opening makes.
  static var options: EngineOptions {
    var options = EngineOptions(
      segmentBytes: 64 << 10, checkpointBytes: 1 << 20, worker: InlineWorker(), clock: SimulatedClock(),
      entropy: SeededEntropy(seed: 0))
    options.toleratedSmallFiles = .max
    options.frameBytes = 16 << 10
    return options
  }

  /// Runs all steps; the first error ends them.
  func run(_ steps: [Step]) throws {
    try open()
    for step in steps { try run(step) }
  }

  /// Runs all steps, going on after errors as an application would: what failed is not repeated, and a
  /// store that has stopped is closed and opened again.
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

  /// What a failed sync has taken away, a store that has stopped because of it can't show.
  private func note(_ error: EngineError) {
    if error.code != .damaged || !syncsRevert || !isStopped { errors.append(error) }
  }

  /// Whether the store refuses to be written.
  private var isStopped: Bool {
    do {
      try engine?.write { _ in }
      return false
    } catch {
      return true
    }
  }

  /// Closes what can't be used any more; reading works up to then, as far as the disk does.
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
    case .giveBack:
      try closeHere()
      givesBack = true
      try open()
    case .company:
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

  /// Where the store is that is open; 0 where none is.
  var newestGeneration: Int { engine.map { Int($0.newestGeneration.rawValue) } ?? 0 }

  func open() throws {
    guard engine == nil else { return }
    process = FaultInjectingFileSystem(base: fileSystem)
    var options = Self.options
    options.entropy = SeededEntropy(seed: seed)
    if givesBack { (options.toleratedGarbage, options.checkpointBytes) = (0, 64 << 10) }
    if joinsFiles { options.toleratedSmallFiles = 1 }
    if givesBack || joinsFiles { allowMoves() }
    // Each lets go of the lead when it has written.
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
    // Where a sync has failed meanwhile, what was moved last may not be published.
    if joinsFiles { allowMoves() }
  }

  func close() throws {
    defer { other = nil }
    try other?.close()
    try closeHere()
  }

  /// The other process keeps it open.
  private func closeHere() throws {
    guard let closing = engine else { return }
    // Whatever close says, the store is closed.
    engine = nil
    try closing.close()
    reference.acknowledge(through: Int(closing.newestGeneration.rawValue))
  }

  /// Ends the use of the store without another call that could change anything.
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
    // A transaction that changes nothing is none.
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

  /// Lets a process take up what the other has done, which may make a generation that holds the same.
  private func refresh(in engine: Engine) throws {
    allowMoves()
    try engine.write { _ in }
    settleMoves(engine)
  }

  /// Behind every commit values may be moved, by transactions that nobody is told of.
  private func allowMoves() {
    let rows = reference.newest
    for _ in 0..<Self.internalLimit { reference.attempt(rows) }
  }

  /// Moving what lives makes generations that hold the same: so many at most.
  private static let internalLimit = 64

  private func reclaim() throws {
    guard let engine else { return }
    let rows = reference.newest
    allowMoves()
    do {
      try engine.reclaim()
    } catch {
      // Of values that were being moved it may be open whether they were.
      if !error.isOutcomeUnknown { settleMoves(engine) }
      throw error
    }
    settleMoves(engine)
    // Its checkpoints have synced everything.
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
    // What was copied was made durable before.
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
  /// Enough to tell one state from another in a message.
  var summary: String {
    let parts = sorted { $0.key < $1.key }.map { key, value in
      "\(key)=\(String(decoding: value.prefix(6), as: UTF8.self))…\(value.count)"
    }
    return "{" + parts.prefix(12).joined(separator: " ") + (count > 12 ? " … \(count)}" : "}")
  }
}

extension ReferenceModel.Promise {
  /// All that may be found.
  var summary: String {
    generations.indices[durable...].map { "\($0): \(generations[$0].summary)" }.joined(separator: " or ")
  }
}

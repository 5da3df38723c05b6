import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// The life of one store: its operations, the faults, and the checks of its guarantees.
final class EngineSimulation: Simulation {
  var random: SplitMix64
  let machine: Machine
  let trace: Trace
  var figures = Figures()
  var ledger = PromiseLedger<Rows>()
  var engine: Engine?
  var options: EngineOptions
  /// Snapshots that are held, with the rows of their generations.
  var held: [(snapshot: Snapshot, rows: Rows)] = []
  /// Whether the process ends after this operation, so that the result is never acknowledged.
  var isDying = false
  /// Whether a crash followed lying syncs: the store may be refused as damaged.
  var isInDoubt = false
  /// Whether the store was opened without syncs and not with syncs since.
  var isUnsafe = false
  /// Whether an opening has succeeded, so that the store exists.
  var isMade = false
  /// Whether space was reclaimed, so that old generations may be missing.
  var hasReclaimed = false
  /// Whether the last use of the store ended with a clean close.
  var wasClosedCleanly = false
  private var transactions = 0

  init(seed: UInt64, _ trace: Trace) {
    random = SplitMix64(seed: seed)
    self.trace = trace
    machine = Machine(seed: random.next(), &random)
    options = Session.options
  }

  func step() throws {
    guard engine != nil else { return try beginAgain() }
    switch random.below(1000) {
    case 0..<360: try write()
    case 360..<410: try rollBack()
    case 410..<640: try getSome()
    case 640..<720: try scan()
    case 720..<770: try countAndRank()
    case 770..<830: try hold()
    case 830..<890: try lookAtHeld()
    case 890..<905: try lookAtPast()
    case 905..<910: try verify()
    case 910..<925: try checkpoint()
    case 925..<935: try close()
    case 935..<941: try kill()
    case 941..<946: try crash()
    case 946..<953: try dieSoon()
    case 953..<957: setClock()
    case 957..<960: try reclaim()
    case 960..<963: try openTwice()
    case 963..<966: try compareAll()
    default: try turnOfFaults()
    }
  }

  // MARK: Expected errors

  /// Runs an operation that may fail if the machine does. Any other error is a finding.
  ///
  /// - Returns: The error, or nil.
  @discardableResult
  func tolerate(_ what: @autoclosure () -> String, _ body: () throws -> Void) throws -> EngineError? {
    do {
      try body()
      trace.note(what())
      return nil
    } catch let error as EngineError {
      trace.note("\(what()): \(error.code)")
      figures["errors"] += 1
      try require(isExcused(error), "an error without a cause: \(error)")
      return error
    }
  }

  private func isExcused(_ error: EngineError) -> Bool {
    if error.isInjected { return !error.message.isEmpty }
    // Reclamation checks the free space before it uses any.
    if error.code == .noSpace { return machine.disk.spaceLimit != nil }
    // Bytes that a failed sync dropped are missing, and the store reports this as damage.
    return error.code == .damaged && (machine.syncsHaveReverted || isInDoubt)
  }

  // MARK: Writing

  private func write() throws {
    guard let engine else { return }
    let (edits, rows, changes) = drawTransaction()
    let durability = random.pick([
      Durability.full, .full, .full, .deferred, .deferred, Durability.none, nil, nil,
    ])
    let before = ledger.rows
    let error = try tolerate("write \(durability.map { "\($0)" } ?? "as usual") \(edits)") {
      try engine.write(durability: durability) { try Self.apply(edits, to: $0, from: before) }
    }
    if let error {
      if changes { noteFailure(error, rows) }
    } else if changes {
      defer { noteMoves() }
      ledger.commit(rows, isDurable: (durability ?? options.durability) == .full && !isUnsafe)
      figures["commits"] += 1
    }
    guard !isDying else { return }
    try require(
      engine.newestGeneration.rawValue == UInt64(ledger.newest),
      "the store is at generation \(engine.newestGeneration), not \(ledger.newest)")
    try tolerate("look") { try expect(edits.flatMap(\.keys), of: try engine.snapshot(), ledger.rows) }
  }

  /// Counts the generations that moves of live values have made.
  func noteMoves() {
    guard let engine, options.givesBackSoon else { return }
    while ledger.newest < Int(engine.newestGeneration.rawValue) {
      ledger.commit(ledger.rows, isDurable: false)
      figures["moves beside commits"] += 1
    }
  }

  private func noteFailure(_ error: EngineError, _ rows: Rows) {
    if error.isOutcomeUnknown || isDying {
      if !ledger.isLastOpen { ledger.leaveOpen(rows) }
    }
  }

  private func drawTransaction() -> (edits: [SimulatedEdit], rows: Rows, changes: Bool) {
    transactions += 1
    var rows = ledger.rows
    var changes = false
    let count = random.below(12) == 0 ? 2 + random.below(20) : 1 + random.below(3)
    let edits = (0..<count).map { _ in random.drawEdit(transactions) }
    for edit in edits { changes = edit.apply(to: &rows) || changes }
    return (edits, rows, changes)
  }

  private static func apply(
    _ edits: [SimulatedEdit], to transaction: WriteTransaction, from before: Rows
  ) throws {
    var rows = before
    for edit in edits {
      let count = rows.count
      _ = edit.apply(to: &rows)
      try edit.apply(to: transaction, before: count, after: rows)
    }
  }

  private func rollBack() throws {
    guard let engine else { return }
    let edits = drawTransaction().edits
    let before = ledger.rows
    try tolerate("give up \(edits)") {
      do {
        try engine.write { transaction in
          try Self.apply(edits, to: transaction, from: before)
          throw SecondThoughts()
        }
      } catch is SecondThoughts {}
    }
    try tolerate("look") { try expect(edits.flatMap(\.keys), of: try engine.snapshot(), before) }
  }

  private struct SecondThoughts: Error {}

  private func checkpoint() throws {
    guard let engine else { return }
    let error = try tolerate("checkpoint") { try engine.checkpoint() }
    if error == nil, options.durability != .none { ledger.settle() }
  }

  /// Reclaims space. Moves of live values make generations with the same contents.
  private func reclaim() throws {
    guard let engine else { return }
    hasReclaimed = true
    let error = try tolerate("reclaim") { try engine.reclaim() }
    figures["reclamations"] += 1
    while !ledger.isLastOpen, ledger.newest < Int(engine.newestGeneration.rawValue) {
      ledger.commit(ledger.rows, isDurable: false)
    }
    if let error {
      guard isDying || error.isOutcomeUnknown else { return }
      for _ in 0..<Self.mostMoves { ledger.leaveOpen(ledger.rows) }
    } else {
      if options.durability != .none { ledger.settle() }
      try compareAll()
    }
  }

  /// The maximum number of generations that moves can make.
  static let mostMoves = 100

  // MARK: The machine

  /// Ends the process or the machine in the middle of the next operation.
  private func dieSoon() throws {
    machine.use(random.drawEnd())
    isDying = true
    trace.note("the end: \(machine.files.plan)")
    switch random.below(8) {
    case 0: try checkpoint()
    case 2, 3: try reclaim()
    case 1: try close()
    default: try write()
    }
    if random.below(2) == 0 { try kill() } else { try crash() }
    if random.below(3) > 0 { machine.heal() }
  }
}

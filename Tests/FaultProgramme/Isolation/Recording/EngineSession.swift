import HeartwoodEngine
import HeartwoodFaults

/// The operations of one thread on an engine.
final class EngineSession {
  private struct ThrownAway: Error {}

  /// A snapshot that is held while other transactions run.
  private struct Held {
    let snapshot: Snapshot
    var transaction: History.Transaction
  }

  private let session: SessionRecorder
  private let engine: Engine
  private var held: [Held] = []

  init(_ session: SessionRecorder, _ engine: Engine) {
    self.session = session
    self.engine = engine
  }

  /// Runs this many more transactions; fewer if the store stops.
  func run(_ count: Int) throws {
    let goal = session.transactions.count + count
    while session.transactions.count + held.count < goal {
      switch session.random.below(20) {
      case 0..<12:
        guard try write() else { return try letGo(of: 0) }
      case 12..<16: try hold()
      case 16, 17: try readHeld()
      case 18: try readPast()
      default: if session.random.below(10) == 0 { try? engine.checkpoint() }
      }
      if held.count > 3 { try letGo(of: 3) }
    }
    try letGo(of: 0)
  }

  private func object() -> Int {
    min(session.random.below(EngineRecorder.objects), session.random.below(EngineRecorder.objects))
  }

  // MARK: Writing

  /// Returns false if the store no longer accepts writes.
  private func write() throws -> Bool {
    var transaction = session.begin()
    let isThrownAway = session.random.below(10) == 0
    let durability = [Durability.full, .full, .deferred, .none][session.random.below(4)]
    do {
      try engine.write(durability: durability) { writer in
        transaction.snapshot = Int(writer.generation.rawValue)
        try self.change(writer, &transaction)
        if isThrownAway { throw ThrownAway() }
        let marker = EngineKeys.marker(writer.generation.rawValue + 1)
        try writer.put(marker, Elements.bytes([transaction.id]))
      }
      session.end(transaction, .committed(transaction.snapshot + 1))
    } catch is ThrownAway {
      session.end(transaction, .aborted)
    } catch let error as EngineError where error.isOutcomeUnknown {
      session.end(transaction, .unknown([]))
      return false
    } catch let error as EngineError where error.code == .stopped || error.code == .inputOutput {
      // The transaction never began, or was rolled back.
      if !transaction.operations.isEmpty { session.end(transaction, .aborted) }
      return false
    }
    return true
  }

  private func change(_ writer: WriteTransaction, _ transaction: inout History.Transaction) throws {
    for step in 0..<1 + session.random.below(5) {
      session.pause()
      let object = object()
      let element = transaction.id * 10 + step
      switch session.random.below(8) {
      case 0, 1: try read(History.list(of: object), writer, &transaction)
      case 2: try scan(writer, &transaction)
      case 3:
        let key = History.register(of: object)
        try read(key, writer, &transaction)
        if session.random.below(3) == 0, try writer.delete(EngineKeys.key(key)) {
          transaction.operations.append(.set(key, []))
        } else {
          try put([element], to: key, writer)
          transaction.operations.append(.set(key, [element]))
        }
      default:
        let key = History.list(of: object)
        let value = try EngineKeys.value(of: key, in: writer)
        transaction.operations.append(.read(key, value))
        try put(value + [element], to: key, writer)
        transaction.operations.append(.append(key, element))
      }
    }
  }

  private func put(_ value: [Int], to key: Int, _ writer: WriteTransaction) throws {
    try writer.put(EngineKeys.key(key), Elements.bytes(value))
  }

  // MARK: Reading

  private func read(_ key: Int, _ reader: any KeyValueReader, _ transaction: inout History.Transaction) throws
  {
    transaction.operations.append(.read(key, try EngineKeys.value(of: key, in: reader)))
  }

  /// Reads some adjacent objects with one scan.
  private func scan(_ reader: any KeyValueReader, _ transaction: inout History.Transaction) throws {
    let first = 2 * session.random.below(EngineRecorder.objects)
    let last = min(first + 8, 2 * EngineRecorder.objects)
    var found: [[UInt8]: [Int]] = [:]
    let range = KeyRange(from: EngineKeys.key(first), to: EngineKeys.key(last))
    try reader.scan(range, reversed: session.random.below(2) == 0) { key, value in
      found[Array(key)] = try Elements.elements(value)
      return true
    }
    for key in first..<last { transaction.operations.append(.read(key, found[EngineKeys.key(key)] ?? [])) }
  }

  private func hold() throws {
    var transaction = session.begin()
    let snapshot = try engine.snapshot()
    transaction.snapshot = Int(snapshot.generation.rawValue)
    session.pause()
    try read(History.list(of: object()), snapshot, &transaction)
    held.append(Held(snapshot: snapshot, transaction: transaction))
  }

  private func readHeld() throws {
    guard !held.isEmpty else { return }
    let index = session.random.below(held.count)
    for _ in 0..<2 {
      try read(2 * object() + session.random.below(2), held[index].snapshot, &held[index].transaction)
    }
    try scan(held[index].snapshot, &held[index].transaction)
  }

  /// Reads from held snapshots once more and releases all but `rest` of them.
  private func letGo(of rest: Int) throws {
    while held.count > rest {
      var oldest = held.remove(at: session.random.below(held.count))
      for _ in 0..<3 { try read(History.list(of: object()), oldest.snapshot, &oldest.transaction) }
      session.end(oldest.transaction, .readOnly)
    }
  }

  private func readPast() throws {
    let newest = Int(engine.newestGeneration.rawValue)
    var transaction = session.begin()
    transaction.isPast = true
    transaction.snapshot = max(0, newest - session.random.below(30))
    let snapshot = try engine.snapshot(at: Generation(rawValue: UInt64(transaction.snapshot)))
    try require(snapshot.generation.rawValue == UInt64(transaction.snapshot), "another generation")
    try read(History.list(of: object()), snapshot, &transaction)
    try scan(snapshot, &transaction)
    session.end(transaction, .readOnly)
  }
}

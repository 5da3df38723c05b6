import Foundation
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// Records the operations of several threads on an engine.
final class EngineRecorder: Sendable {
  /// The parameters of a recording.
  struct Plan: Sendable {
    var seed: UInt64
    var transactions = 1000
    var threads = 4
    /// A folder on the disk of the machine; nil for a file system in memory.
    var folder: String?
    /// The number of the log sync that fails; the store is then closed and reopened.
    var failingSync: Int?
  }

  static let objects = 24

  private let plan: Plan
  private let moments = Moments()
  private let fileSystem: FaultInjectingFileSystem

  init(_ plan: Plan) {
    self.plan = plan
    fileSystem = moments.fileSystem(inMemory: plan.folder == nil)
  }

  private func open() throws -> Engine {
    let options = EngineOptions(segmentBytes: 256 << 10, checkpointBytes: 64 << 10)
    return try Engine(at: plan.folder ?? "/store", options: options, fileSystem: fileSystem)
  }

  /// Runs half of the transactions, reopens the store, and runs the other half.
  func record() throws -> History {
    var history = History(promise: .serial, base: 0)
    let sessions = (0..<plan.threads).map { SessionRecorder($0, seed: plan.seed, moments) }
    for half in 0..<2 {
      if half == 0, let number = plan.failingSync {
        fileSystem.use(FaultPlan([.fail(.sync, .nth(number)).unlessUnused]))
      }
      let engine = try open()
      try onThreads(sessions) { session in
        try EngineSession(session, engine).run(self.plan.transactions / 2 / self.plan.threads)
      }
      fileSystem.use(FaultPlan())
      // A stopped store can't write a last checkpoint. The next opening recovers it.
      try? engine.close()
      history.transactions += sessions.flatMap { $0.take() }
      try look(&history)
    }
    return try finish(history)
  }

  /// Determines which of the transactions with unknown outcome are in the store.
  private func look(_ history: inout History) throws {
    let engine = try open()
    let markers = try Self.markers(engine)
    for index in history.transactions.indices {
      guard case .unknown(let looks) = history.transactions[index].outcome else { continue }
      let id = history.transactions[index].id
      let found = markers.first { $0.value == id }?.key
      history.transactions[index].outcome = .unknown(looks + [found])
      if looks.isEmpty { history.transactions[index].end = moments.next() }
    }
    try engine.close()
  }

  /// Reads the final state and some earlier ones, and the list of generations.
  private func finish(_ unfinished: History) throws -> History {
    var history = unfinished
    let engine = try open()
    let reader = SessionRecorder(plan.threads, seed: plan.seed, moments)
    let last = try engine.snapshot()
    let newest = Int(last.generation.rawValue)
    for generation in stride(from: 0, through: newest, by: max(1, newest / 6)) {
      try Self.readAll(
        of: try engine.snapshot(at: Generation(rawValue: UInt64(generation))), reader, isPast: true)
    }
    try Self.readAll(of: last, reader, isPast: false)
    history.transactions += reader.take()
    let markers = try Self.markers(engine)
    history.account = try engine.generations().map { record in
      let number = Int(record.generation.rawValue)
      return History.Entry(
        generation: number, transaction: markers[number] ?? -1,
        changes: .count(Int(record.puts + record.deletes) - 1))
    }
    let report = try engine.verify()
    try require(report.isSound, "not sound: \(report)")
    try engine.close()
    return history
  }

  private static func readAll(of snapshot: Snapshot, _ reader: SessionRecorder, isPast: Bool) throws {
    var transaction = reader.begin()
    transaction.snapshot = Int(snapshot.generation.rawValue)
    transaction.isPast = isPast
    for key in 0..<2 * objects {
      transaction.operations.append(.read(key, try EngineKeys.value(of: key, in: snapshot)))
    }
    reader.end(transaction, .readOnly)
  }

  /// For each generation, the transaction that claims to have made it.
  private static func markers(_ engine: Engine) throws -> [Int: Int] {
    var markers: [Int: Int] = [:]
    try engine.snapshot().scan(.prefix(EngineKeys.markerPrefix)) { key, value in
      markers[Int(UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self)))] =
        try Elements.elements(value).first
      return true
    }
    return markers
  }
}

/// The keys of the objects of a history.
enum EngineKeys {
  static let markerPrefix = Array("m".utf8)

  static func key(_ key: Int) -> [UInt8] { Array("k".utf8) + [UInt8(key >> 8), UInt8(key & 255)] }

  static func marker(_ generation: UInt64) -> [UInt8] {
    markerPrefix + withUnsafeBytes(of: generation.bigEndian, Array.init)
  }

  static func value(of key: Int, in reader: any KeyValueReader) throws -> [Int] {
    try reader.get(Self.key(key)).map { try Elements.elements($0) } ?? []
  }
}

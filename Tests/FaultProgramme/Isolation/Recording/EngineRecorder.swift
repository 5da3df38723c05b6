import Foundation
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// Records what several threads do to an engine.
final class EngineRecorder: Sendable {
  /// How a recording differs from the others.
  struct Plan: Sendable {
    var seed: UInt64
    var transactions = 1000
    var threads = 4
    /// A folder on the machine's disk; nil for one in memory.
    var folder: String?
    /// The number of the log's sync that fails, after which the store is closed and opened again.
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

  /// Half of the transactions, the store closed and opened, and the other half.
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
      // A store that stopped has no last checkpoint; it is recovered by the next opening.
      try? engine.close()
      history.transactions += sessions.flatMap { $0.take() }
      try look(&history)
    }
    return try finish(history)
  }

  /// Looks which of the unknown transactions are there.
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

  /// Everything as it is at the end and was at some times before, and what the store says of its generations.
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

  /// Which transaction says to have made which generation.
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

/// Where the values of a history are in the engine.
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

import BenchmarkHarness
import HeartwoodEngine

/// Heartwood's engine through its public face. Not durable means that syncing waits for the next checkpoint.
final class HeartwoodPeer: EnginePeer {
  private let engine: Engine
  private let owns: Bool
  private var durability = Durability.deferred

  init(directory: String, records: Int) throws {
    engine = try Engine(at: directory + "/store")
    owns = true
  }

  private init(_ engine: Engine) {
    self.engine = engine
    owns = false
  }

  static var knowsRanks: Bool { true }
  static var opensCopies: Bool { true }

  func forAnotherThread() -> any EnginePeer { HeartwoodPeer(engine) }

  func makeCommits(durable: Bool) { durability = durable ? .full : .deferred }

  func read(_ body: (any PeerReader) throws -> Void) throws {
    try body(HeartwoodReader(try engine.snapshot()))
  }

  func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    guard try engine.withValue(of: key, { digest.add(ends: $0) }) != nil else {
      throw missingKey("Heartwood")
    }
  }

  func write(_ body: (any PeerWriter) throws -> Void) throws {
    try engine.write(durability: durability) { try body(HeartwoodWriter($0)) }
  }

  func settle() throws { try engine.checkpoint() }
  func close() throws { if owns { try engine.close() } }
}

private final class HeartwoodReader: PeerReader {
  private let snapshot: Snapshot

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }

  func get(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    guard let value = try snapshot.pointer(of: key) else { throw missingKey("Heartwood") }
    digest.add(ends: value)
  }

  func scan(from key: UnsafeRawBufferPointer?, limit: Int, into digest: inout ReadDigest) throws -> Int {
    var found = 0
    try snapshot.scan(KeyRange(from: key.map(Array.init), to: nil)) { key, value in
      digest.add(ends: key)
      digest.add(ends: value)
      found &+= 1
      return found < limit
    }
    return found
  }

  func scanWholly(into digest: inout ReadDigest) throws {
    try snapshot.scan { key, value in
      digest.add(all: key)
      digest.add(all: value)
      return true
    }
  }

  func count(from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer) throws -> Int {
    Int(try snapshot.count(in: KeyRange(from: Array(lower), to: Array(upper))))
  }

  func entry(at rank: Int, into digest: inout ReadDigest) throws {
    guard let (key, value) = try snapshot.entry(at: UInt64(rank)) else { throw missingKey("Heartwood") }
    key.withUnsafeBytes { digest.add(ends: $0) }
    value.withUnsafeBytes { digest.add(ends: $0) }
  }
}

private final class HeartwoodWriter: PeerWriter {
  private let transaction: WriteTransaction

  init(_ transaction: WriteTransaction) { self.transaction = transaction }

  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
    try transaction.put(key, value)
  }

  func delete(_ key: UnsafeRawBufferPointer) throws {
    guard try transaction.delete(key) else { throw missingKey("Heartwood") }
  }
}

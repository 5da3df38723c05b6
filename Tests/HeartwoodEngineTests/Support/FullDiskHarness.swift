import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import HeartwoodEngine

/// A store on a simulated disk whose room is set by the test, with a plain model of its contents.
final class FullDiskHarness {
  let disk: SimulatedFileSystem
  var options: EngineOptions
  /// The acknowledged contents.
  private(set) var model: Model = [:]
  /// Changes whose outcome is unknown: none, as no sync fails here.
  private(set) var engine: Engine?
  private var process: SimulatedProcess
  private var processCount = 0

  init(seed: UInt64 = 0, segmentBytes: Int = 64 << 10) throws {
    disk = SimulatedFileSystem(seed: seed)
    options = EngineOptions(
      segmentBytes: segmentBytes, checkpointBytes: 1 << 20, reclamation: .onDemand, worker: InlineWorker(),
      clock: SimulatedClock(), entropy: SeededEntropy(seed: seed))
    process = disk.process(named: "0")
    try open()
  }

  /// A store of some 2.5 MB in several segments, and its reserve.
  static func withReserve(segmentBytes: Int = 64 << 10) throws -> FullDiskHarness {
    let harness = try FullDiskHarness(segmentBytes: segmentBytes)
    harness.leaveRoom(100 << 20)
    for key in 0..<2400 { #expect(harness.put(key, bytes: 1000, .deferred) == nil) }
    try harness.engine?.checkpoint()
    return harness
  }

  // MARK: The disk

  /// Leaves a number of bytes from now on, or no limit for nil.
  func leaveRoom(_ bytes: Int?) { disk.spaceLimit = bytes.map { disk.usedBytes + Int64($0) } }

  /// The number of segment files of the store.
  func segmentCount() throws -> Int {
    try disk.openDirectory("/store").entries().count { $0.hasSuffix(".log") || $0.hasSuffix(".pages") }
  }

  /// The length of the reserve, or nil if there is none.
  func reserveBytes() throws -> Int64? {
    do {
      let file = try disk.openDirectory("/store").open(StoreFolder.reserveName, .readOnly)
      defer { try? file.close() }
      return try file.size()
    } catch {
      return nil
    }
  }

  // MARK: The store

  func open() throws {
    engine = try Engine(at: "/store", options: options, fileSystem: process)
  }

  /// Opens the store. Returns the error's code if that fails.
  func tryOpen() -> EngineError.Code? { code { try open() } }

  /// Closes the store. Returns the error's code if that fails.
  func close() -> EngineError.Code? {
    defer { engine = nil }
    return code { try engine?.close() }
  }

  /// Kills the process.
  func kill() {
    process.kill()
    engine = nil
    processCount += 1
    process = disk.process(named: "\(processCount)")
  }

  func put(_ key: Int, bytes: Int, _ durability: Durability = .full) -> EngineError.Code? {
    let (key, value) = (Self.key(key), [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: bytes))
    let refusal = code { try engine?.write(durability: durability) { try $0.put(key, value) } }
    if refusal == nil { model[key] = value }
    return refusal
  }

  /// Puts values until one is refused. Returns how many were accepted.
  func fill(from first: Int = 0, bytes: Int) -> Int {
    var key = first
    while put(key, bytes: bytes) == nil { key += 1 }
    return key - first
  }

  func delete(_ keys: some Sequence<Int>) -> EngineError.Code? {
    let keys = keys.map(Self.key)
    let refusal = code { try engine?.write { for key in keys { _ = try $0.delete(key) } } }
    if refusal == nil { for key in keys { model[key] = nil } }
    return refusal
  }

  func reclaim() -> EngineError.Code? { code { _ = try engine?.reclaim() } }

  static func key(_ number: Int) -> [UInt8] {
    let digits = Array(String(number).utf8)
    return [UInt8](repeating: 48, count: max(0, 8 - digits.count)) + digits
  }

  /// Expects the store to hold the acknowledged contents and nothing else.
  func check(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
    let engine = try #require(engine, sourceLocation: sourceLocation)
    #expect(try engine.read { try $0.model() } == model, sourceLocation: sourceLocation)
  }

  func verify(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
    try check(sourceLocation)
    #expect(try engine?.verify().findings == [], sourceLocation: sourceLocation)
  }
}

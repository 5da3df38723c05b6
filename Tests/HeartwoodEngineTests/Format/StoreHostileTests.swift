import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Bytes that this engine never writes, with valid checksums, yield errors or odd data, and never cause a trap.
@Suite struct StoreHostileTests {
  @Test func `a field of any value is refused or read, and never causes a trap`() throws {
    let store = try HostileStore()
    var pristine = store
    pristine.seal()
    #expect(pristine.files.files == store.files.files, "sealing changes nothing where nothing was changed")
    var random = SplitMix64(seed: 22)
    var opened = 0
    for round in 0..<(LongRun.isWanted ? 60_000 : 200) {
      var hostile = store
      let changes = (0..<(1 + random.below(2))).map { _ in hostile.change(&random) }
      hostile.seal()
      let reading: EngineOptions.Reading = round % 2 == 0 ? .buffered : .mapped
      if try use(hostile.files, reading, "seed 22, round \(round): \(changes)") { opened += 1 }
    }
    #expect(opened > 20)
  }

  /// Runs every operation on a store. Returns whether it could be opened.
  private func use(
    _ store: StoreFiles, _ reading: EngineOptions.Reading, _ comment: String
  ) throws -> Bool {
    var options = StoreKind.memoryMapped.options
    options.reading = reading
    var opened: Engine?
    attempt(comment) {
      opened = try Engine(at: StoreFiles.path, options: options, fileSystem: try store.mounted())
    }
    guard let engine = opened else { return false }
    attempt(comment) { try engine.read { try look(at: $0, comment) } }
    attempt(comment) { _ = try engine.verify() }
    attempt(comment) { _ = try engine.statistics() }
    attempt(comment) { _ = try engine.generations() }
    attempt(comment) { try look(at: try engine.snapshot(at: Generation(rawValue: 1)), comment) }
    attempt(comment) { try change(engine) }
    attempt(comment) { _ = try engine.verify() }
    attempt(comment) { try engine.close() }
    return true
  }

  private func attempt(_ comment: String, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      #expect(error is EngineError, "\(comment): \(error)")
    }
  }

  private func look(at snapshot: Snapshot, _ comment: String) throws {
    attempt(comment) { _ = try snapshot.contents() }
    attempt(comment) { try snapshot.scan(.all, reversed: true) { _, _ in true } }
    for key in ["key/1050/", "key/1", "more/2", "zzz", "\u{0}"] {
      attempt(comment) { _ = try snapshot.get(key) }
      attempt(comment) { _ = try snapshot.rank(of: [UInt8](key.utf8)) }
      attempt(comment) { _ = try snapshot.count(in: .prefix([UInt8](key.utf8))) }
    }
    for rank in [0, 70, snapshot.count / 2, snapshot.count &- 1, 1 << 63] {
      attempt(comment) { _ = try snapshot.entry(at: rank) }
    }
  }

  private func change(_ engine: Engine) throws {
    try engine.write { transaction in
      try transaction.put("key/1070", [UInt8](repeating: 1, count: 20))
      try transaction.put("a", [UInt8](repeating: 1, count: 10))
      for number in 1020..<1060 { try transaction.put("key/\(number)/new", [UInt8](repeating: 2, count: 12)) }
      _ = try transaction.deleteRange(.prefix([UInt8]("key/109".utf8)))
      _ = try transaction.deleteRange(.prefix([UInt8]("key/10".utf8)))
    }
    try engine.checkpoint()
  }
}

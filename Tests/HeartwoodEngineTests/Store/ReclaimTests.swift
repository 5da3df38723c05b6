import Foundation
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import HeartwoodEngine

@Suite struct `Space that is given back` {
  @Test(arguments: StoreKind.allCases)
  func `is nearly all that overwritten values took`(kind: StoreKind) throws {
    try kind.withPlace { fileSystem, path in
      let store = try Overwritten(kind, fileSystem, path)
      try store.overwrite(times: 10)
      let before = try store.engine.statistics()
      let space = try store.engine.reclaim()
      let after = try store.engine.statistics()
      #expect(space.bytesBefore > 3 * space.bytesAfter)
      #expect(after.fileBytes == space.bytesAfter)
      #expect(after.logBytes < before.logBytes / 3)
      #expect(after.logBytes < store.liveBytes * 13 / 10 + 2000)
      try store.expectSame()
      try store.reopen()
      try store.expectSame()
      #expect(try store.engine.reclaim().movedValues == 0, "nothing is left to be given back")
      try store.reopen()
      try store.expectSame()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `is kept for those who hold an older generation, and comes back after them`(kind: StoreKind) throws {
    try kind.withPlace { fileSystem, path in
      let store = try Overwritten(kind, fileSystem, path)
      let old = try store.engine.snapshot()
      let rows = try Overwritten.rows(of: old)
      let past = try store.engine.snapshot(at: Generation(rawValue: 1))
      let pastRows = try Overwritten.rows(of: past)
      for _ in 0..<3 {
        try store.overwrite(times: 4)
        try store.engine.reclaim()
        #expect(try Overwritten.rows(of: old) == rows)
        #expect(try Overwritten.rows(of: past) == pastRows)
      }
      try store.expectSame()
      try store.reopen()
      try store.expectSame()
    }
  }

  @Test func `takes generations along that need it, and no others`() throws {
    let kind = StoreKind.simulated
    try kind.withPlace { fileSystem, path in
      let store = try Overwritten(kind, fileSystem, path)
      try store.overwrite(times: 6)
      let lost = store.engine.newestGeneration
      try store.overwrite(times: 1)
      try store.engine.reclaim()
      let error = #expect(throws: EngineError.self) {
        _ = try store.engine.snapshot(at: Generation(rawValue: 2))
      }
      #expect(error?.code == .generationUnavailable)
      #expect(throws: EngineError.self) { _ = try store.engine.snapshot(at: lost) }
      var kept: [(Generation, [String: [UInt8]])] = []
      for _ in 0..<3 {
        try store.overwrite(times: 1)
        kept.append((store.engine.newestGeneration, store.model))
      }
      let records = try store.engine.generations()
      #expect(records.count >= 3)
      #expect(records.last?.generation == store.engine.newestGeneration)
      for record in records { _ = try store.engine.snapshot(at: record.generation) }
      try store.reopen()
      for (generation, rows) in kept {
        #expect(try Overwritten.rows(of: store.engine.snapshot(at: generation)) == rows)
      }
      #expect(
        try store.engine.generations().suffix(records.count).map(\.generation) == records.map(\.generation))
    }
  }

  @Test func `is that of old pages too`() throws {
    let kind = StoreKind.simulated
    try kind.withPlace { fileSystem, path in
      let store = try Overwritten(kind, fileSystem, path, keys: 6000, valueBytes: 3)
      for _ in 0..<8 {
        try store.overwrite(times: 1)
        try store.engine.checkpoint()
      }
      let before = try store.engine.statistics()
      try store.engine.reclaim()
      let after = try store.engine.statistics()
      #expect(after.pageBytes < before.pageBytes / 3)
      #expect(after.pageSegments == 1)
      try store.expectSame()
      try store.reopen()
      try store.expectSame()
    }
  }

  @Test func `comes back whatever was done before, in any order`() throws {
    var random = SplitMix64(seed: 5)
    for round in 0..<6 {
      let kind = StoreKind.allCases[round % StoreKind.allCases.count]
      try kind.withPlace { fileSystem, path in
        let store = try Overwritten(kind, fileSystem, path, keys: 100 + random.below(900))
        for _ in 0..<30 {
          switch random.below(6) {
          case 0: try store.engine.reclaim()
          case 1: try store.reopen()
          case 2: try store.engine.checkpoint()
          case 3: try store.deleteSome(&random)
          default: try store.overwriteSome(&random)
          }
          try store.expectSame(verifies: false)
        }
        try store.expectSame()
      }
    }
  }

  @Test func `is not given back where a value is damaged`() throws {
    let disk = SimulatedFileSystem()
    var store: Overwritten? = try Overwritten(.simulated, disk, "/store")
    try store?.overwrite(times: 3)
    try store?.engine.close()
    store = nil
    let directory = try disk.openDirectory("/store")
    let last = try #require(directory.entries().filter { $0.hasSuffix(".log") }.max())
    let file = try directory.open(last, .readWrite)
    try [UInt8](repeating: 0xA5, count: 5).withUnsafeBytes { try file.writeFully($0, at: 3000) }
    try file.close()
    let engine = try Engine(at: "/store", options: StoreKind.simulated.options, fileSystem: disk)
    // Not enough of the segment lives, so that it would be emptied.
    try engine.deleteRange("key 5", "key 9")
    let error = #expect(throws: EngineError.self) { try engine.reclaim() }
    #expect(error?.code == .damaged && error?.file?.contains(last) == true, "\(String(describing: error))")
    #expect(try directory.entries().contains(last))
    try engine.write { try $0.put("after", [1]) }
    try engine.close()
  }
}

extension Engine {
  fileprivate func deleteRange(_ from: String, _ to: String) throws {
    try write { _ = try $0.deleteRange(KeyRange(from: Array(from.utf8), to: Array(to.utf8))) }
  }
}

/// A store whose values are written again and again, and a dictionary beside it.
private final class Overwritten {
  private let kind: StoreKind
  private let fileSystem: any FileSystem
  private let path: String
  private let keys: Int
  private let valueBytes: Int
  private(set) var engine: Engine
  private(set) var model: [String: [UInt8]] = [:]
  private var round = 0

  init(
    _ kind: StoreKind, _ fileSystem: any FileSystem, _ path: String, keys: Int = 400, valueBytes: Int = 200
  ) throws {
    (self.kind, self.fileSystem, self.path) = (kind, fileSystem, path)
    (self.keys, self.valueBytes) = (keys, valueBytes)
    engine = try Engine(at: path, options: kind.options, fileSystem: fileSystem)
    try overwrite(times: 1)
  }

  /// What the values and keys take in the log at least.
  var liveBytes: Int64 { Int64(model.reduce(0) { $0 + $1.key.utf8.count + $1.value.count + 10 }) }

  func overwrite(times: Int) throws {
    for _ in 0..<times {
      // In another order each time, a hundred in a transaction.
      round += 1
      for start in stride(from: 0, to: keys, by: 100) {
        try change(Array(start..<min(start + 100, keys)).map { ($0 * (2 * round + 1) + round) % keys })
      }
    }
  }

  func overwriteSome(_ random: inout SplitMix64) throws {
    round += 1
    try change((0...random.below(150)).map { _ in random.below(keys) })
  }

  func deleteSome(_ random: inout SplitMix64) throws {
    let numbers = (0...random.below(60)).map { _ in random.below(keys) }
    try engine.write { for number in numbers { _ = try $0.delete(Self.key(number)) } }
    for number in numbers { model[Self.key(number)] = nil }
  }

  private func change(_ numbers: [Int]) throws {
    let value = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: valueBytes + round % 7)
    try engine.write { for number in numbers { try $0.put(Self.key(number), value) } }
    for number in numbers { model[Self.key(number)] = value }
  }

  func reopen() throws {
    try engine.close()
    engine = try Engine(at: path, options: kind.options, fileSystem: fileSystem)
  }

  func expectSame(verifies: Bool = true) throws {
    #expect(try Self.rows(of: engine.snapshot()) == model)
    guard verifies else { return }
    let findings = try engine.verify().findings
    #expect(findings == [])
  }

  static func rows(of snapshot: Snapshot) throws -> [String: [UInt8]] {
    var rows: [String: [UInt8]] = [:]
    try snapshot.scan { key, value in
      rows[String(decoding: key, as: UTF8.self)] = Array(value)
      return true
    }
    return rows
  }

  private static func key(_ number: Int) -> String { "key \(number * 7919 % 100_003)" }
}

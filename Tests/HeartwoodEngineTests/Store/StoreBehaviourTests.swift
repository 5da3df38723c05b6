import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Individual guarantees of transactions, generations and the log.
@Suite struct StoreBehaviourTests {
  private func open(_ change: (inout EngineOptions) -> Void = { _ in }) throws -> Engine {
    var options = EngineOptions(
      worker: InlineWorker(), clock: CountingClock(), entropy: SeededEntropy(seed: 5))
    change(&options)
    return try Engine(at: "/store", options: options, fileSystem: MemoryFileSystem())
  }

  @Test func `a transaction may put a value that it has read from itself`() throws {
    let engine = try Engine(at: "/dev/null", options: EngineOptions(worker: InlineWorker()))
    let value = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    try engine.write { transaction in
      try transaction.put("a", value)
      // The frame under construction has to grow for this value.
      let key = Array("a".utf8)
      let own = try key.withUnsafeBytes { try transaction.pointer(of: $0) }
      try Array("b".utf8).withUnsafeBytes { try transaction.put($0, try #require(own)) }
    }
    #expect(try engine.get("a") == value && engine.get("b") == value)
    try engine.close()
  }

  @Test func `other files in the folder do not prevent maintenance of the store`() throws {
    try TemporaryFolder.with { folder in
      let path = folder + "/store"
      let engine = try Engine(at: path)
      try engine.write { try $0.put("a", [1]) }
      try FileManager.default.createDirectory(atPath: path + "/notes", withIntermediateDirectories: false)
      try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: "/none")
      #expect(try engine.statistics().fileBytes > 0)
      try engine.reclaim()
      try engine.close()
    }
  }

  @Test func `a commit of a hundred bytes takes less than a kibibyte of log`() throws {
    let engine = try open()
    try engine.write { try $0.put("first", [UInt8](repeating: 1, count: 100)) }
    let before = try engine.statistics().logBytes
    try engine.write { try $0.put("second", [UInt8](repeating: 2, count: 100)) }
    #expect(try engine.statistics().logBytes - before < 1024)
  }

  @Test func `keys and values outside their limits are refused and the transaction continues`() throws {
    let engine = try open()
    try engine.write { transaction in
      #expect(code { try transaction.put([], [1]) } == .invalidKey)
      #expect(code { try transaction.put([UInt8](repeating: 1, count: 1025), [1]) } == .invalidKey)
      #expect(code { try transaction.delete([UInt8]()) } == .invalidKey)
      try transaction.put([UInt8](repeating: 1, count: 1024), [])
      let huge = UnsafeRawBufferPointer(
        start: UnsafeRawPointer(bitPattern: 4096), count: Format.valueLimit + 1)
      #expect(code { try [1].withUnsafeBytes { try transaction.put($0, huge) } } == .tooLarge)
    }
    #expect(try engine.snapshot().get([UInt8](repeating: 1, count: 1024)) == [])
    #expect(try engine.snapshot().get([UInt8]()) == nil)
    #expect(try engine.snapshot().get([UInt8](repeating: 1, count: 2000)) == nil)
  }

  @Test func `a write, checkpoint or close inside a write is an error`() throws {
    let engine = try open()
    try engine.write { transaction in
      try transaction.put("key", [1])
      #expect(code { try engine.write { _ in } } == .nestedWrite)
      #expect(code { try engine.checkpoint() } == .nestedWrite)
      #expect(code { try engine.close() } == .nestedWrite)
      #expect(try engine.snapshot().get("key") == nil)
    }
    #expect(try engine.snapshot().get("key") == [1])
  }

  @Test func `closed engines and ended transactions report that they are closed`() throws {
    let engine = try open()
    let transaction = try engine.write { transaction in
      try transaction.put("key", [1])
      let cursor = try transaction.cursor()
      #expect(try cursor.moveToFirst())
      try transaction.put("other", [1])
      #expect(code { _ = try cursor.next() } == .closed)
      #expect(code { try transaction.scan { _, _ in try transaction.delete("key") } } == .closed)
      return transaction
    }
    #expect(code { try transaction.put("key", [2]) } == .closed)
    #expect(code { _ = try transaction.get("key") } == .closed)
    let snapshot = try engine.snapshot()
    try engine.close()
    try engine.close()
    #expect(code { try engine.write { _ in } } == .closed)
    #expect(code { _ = try engine.snapshot() } == .closed)
    #expect(code { try engine.checkpoint() } == .closed)
    #expect(try snapshot.get("other") == [1])
  }

  @Test func `a transaction that is kept after its end stays ended while others run`() throws {
    let engine = try open()
    var kept: [WriteTransaction] = []
    for number in 1...3 {
      try engine.write { transaction in
        try transaction.put([UInt8(number)], [1])
        for former in kept {
          #expect(code { try former.put([9], [9]) } == .closed)
          #expect(code { _ = try former.get([1]) } == .closed)
        }
        if number < 3 { kept.append(transaction) }
      }
    }
    #expect(kept.map(\.generation.rawValue) == [0, 1])
    #expect(try engine.read { try $0.contents() }.map(\.key) == [[1], [2], [3]])
  }

  @Test(arguments: [EngineOptions.Reading.mapped, .buffered])
  func `a value that is being read stays unchanged while other values are written and reclaimed`(
    reading: EngineOptions.Reading
  ) throws {
    let engine = try open {
      $0.reading = reading
      $0.segmentBytes = 64 << 10
    }
    let long = [UInt8](repeating: 1, count: 500)
    try engine.write { transaction in
      try transaction.put("long", long)
      try transaction.put("short", [1, 2])
    }
    for (key, value) in [("long", long), ("short", [1, 2])] {
      let seen = try Array(key.utf8).withUnsafeBytes { bytes in
        try engine.withValue(of: bytes) { found in
          for round in 0..<40 {
            try engine.write { transaction in
              for number in 0..<40 {
                try transaction.put("other \(number)", [UInt8](repeating: 7, count: 300 + round))
              }
              try transaction.put(key, [UInt8](repeating: 9, count: value.count))
            }
          }
          try engine.reclaim()
          return Array(found)
        }
      }
      #expect(seen == value)
      #expect(try engine.get(key) == [UInt8](repeating: 9, count: value.count))
      #expect(try engine.statistics().oldestPinned == nil)
    }
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      try Array("long".utf8).withUnsafeBytes { try engine.withValue(of: $0) { _ in throw Refusal() } }
    }
    #expect(try engine.statistics().oldestPinned == nil)
    #expect(try engine.get("nothing") == nil)
    try engine.close()
    #expect(code { _ = try engine.get("long") } == .closed)
  }

  @Test func `an error names a generation that does not exist`() throws {
    let engine = try open()
    try engine.write { try $0.put("key", [1]) }
    #expect(code { _ = try engine.snapshot(at: Generation(rawValue: 2)) } == .generationUnavailable)
    #expect(try engine.snapshot(at: Generation(rawValue: 0)).count == 0)
  }

  @Test func `generations are recorded with their times and sizes`() throws {
    let engine = try open()
    for number in 1...3 {
      try engine.write { transaction in
        for part in 0..<number { try transaction.put("key \(part)", [UInt8](repeating: 1, count: 50)) }
        if number == 3 { try transaction.delete("key 0") }
      }
      try engine.checkpoint()
    }
    let records = try engine.generations()
    #expect(records.map(\.generation.rawValue) == [1, 2, 3])
    #expect(records.map(\.puts) == [1, 2, 3])
    #expect(records.map(\.deletes) == [0, 0, 1])
    #expect(records.map(\.time) == records.map(\.time).sorted())
    #expect(records[0].bytes < records[1].bytes)
  }

  @Test func `a transaction larger than a frame continues in the next, and rolls back over both`() throws {
    struct Refusal: Error {}
    let fileSystem = MemoryFileSystem()
    let options = EngineOptions(worker: InlineWorker())
    let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    let large = [UInt8](repeating: 3, count: 6 << 20)
    try engine.write { try $0.put("before", [1]) }
    #expect(throws: Refusal.self) {
      try engine.write { transaction in
        for number in 0..<4 { try transaction.put("given up \(number)", large) }
        throw Refusal()
      }
    }
    try engine.write { transaction in
      for number in 0..<4 { try transaction.put("large \(number)", large) }
      #expect(try transaction.get("large 0")?.count == large.count)
      #expect(try transaction.get("large 3")?.count == large.count)
    }
    try engine.write { try $0.put("after", [1]) }
    let frames = try engine.verify()
    #expect(frames.findings == [])
    #expect(frames.frames == 7)
    #expect(try engine.statistics().logSegments == 2)
    try engine.close()
    let again = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    #expect(try again.snapshot().count == 6)
    #expect(try again.snapshot().get("large 2") == large)
  }

  @Test func `memory of the tree is released when it exceeds its limit`() throws {
    let engine = try open {
      $0.arenaBytes = 256 << 10
      $0.checkpointBytes = 64 << 10
    }
    var random = SplitMix64(seed: 9)
    var model: Model = [:]
    let held = try engine.snapshot()
    for _ in 0..<60 {
      try engine.write { transaction in
        for _ in 0..<60 {
          let key = [UInt8]("key \(random.below(6000))".utf8)
          let value = random.bytes(30)
          try transaction.put(key, value)
          model[key] = value
        }
      }
    }
    try engine.checkpoint()
    try engine.write { try $0.put("last", [1]) }
    model[[UInt8]("last".utf8)] = [1]
    try engine.write { try $0.put("last", [1]) }
    #expect(try engine.statistics().memoryBytes < 256 << 10)
    try engine.read { try $0.expect(model, "seed 9") }
    #expect(held.count == 0)
    #expect(try engine.verify().findings == [])
  }

  @Test func `readers see whole generations while a writer commits`() async throws {
    let engine = try open { $0.worker = QueueWorker() }
    try engine.write { transaction in
      for part in 0..<20 { try transaction.put("key \(part)", [0]) }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<200 {
            let snapshot = try engine.snapshot()
            var values: Set<[UInt8]> = []
            try snapshot.scan { _, value in
              values.insert(Array(value))
              return true
            }
            #expect(values.count == 1)
          }
        }
      }
      group.addTask {
        for number in 1...150 {
          try engine.write(durability: .deferred) { transaction in
            let value = [UInt8](repeating: UInt8(number), count: number % 2 == 0 ? 3 : 40)
            for part in 0..<20 { try transaction.put("key \(part)", value) }
          }
          if number % 50 == 0 { try engine.checkpoint() }
        }
      }
      try await group.waitForAll()
    }
    #expect(engine.newestGeneration.rawValue == 151)
    #expect(try engine.verify().findings == [])
    try engine.close()
  }

  @Test func `a cursor moves both ways`() throws {
    let engine = try open()
    try engine.write { transaction in
      for number in 0..<500 { try transaction.put(Self.key(number), Self.key(number)) }
    }
    let cursor = try engine.snapshot().cursor()
    #expect(!cursor.isValid)
    #expect(try cursor.seek(Self.key(250)))
    #expect(try cursor.next())
    #expect(Array(cursor.key) == Self.key(251))
    #expect(Array(try cursor.value()) == Self.key(251))
    #expect(try cursor.seekBefore(Self.key(250)))
    #expect(Array(cursor.key) == Self.key(249))
    #expect(try cursor.moveToLast())
    #expect(try !cursor.next())
    #expect(!cursor.isValid)
    #expect(try cursor.moveToFirst())
    #expect(try !cursor.previous())
    #expect(try cursor.seek(rank: 77))
    #expect(Array(cursor.key) == Self.key(77))
  }

  private static func key(_ number: Int) -> [UInt8] {
    let digits = String(number)
    return [UInt8]((String(repeating: "0", count: 6 - digits.count) + digits).utf8)
  }
}

import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite struct `A value that is written and read in pieces` {
  /// In these tests, a value of this many bytes is a frame of its own.
  private static let frameBytes = 20_000
  private static let sizes = [0, 1, 16, 17, 19_999, 20_000, 20_001, 70_000, 300_000]

  @Test(arguments: StoreKind.allCases)
  func `a value written in pieces equals a value written whole`(kind: StoreKind) throws {
    try kind.withPlace { fileSystem, path in
      var options = kind.options
      (options.frameBytes, options.segmentBytes) = (Self.frameBytes, 64 << 10)
      var engine = try Engine(at: path, options: options, fileSystem: fileSystem)
      var model: Model = [:]
      try engine.write { transaction in
        for (index, size) in Self.sizes.enumerated() {
          let (key, value) = (Array("key \(index)".utf8), Self.value(size))
          var source = Source(value, most: 7001)
          try transaction.put(key, count: size) { try source.next(into: $0) }
          try transaction.put("between \(index)", [UInt8(index)])
          model[key] = value
          model[Array("between \(index)".utf8)] = [UInt8(index)]
          #expect(try Self.pieces(of: key, in: transaction, 3000) == value)
        }
      }
      for _ in 0..<2 {
        let snapshot = try engine.snapshot()
        for (key, value) in model {
          for pieceBytes in [1 << 20, 4096, 333] {
            let isSame = try Self.pieces(of: key, in: snapshot, pieceBytes) == value
            #expect(isSame)
          }
        }
        try snapshot.expect(model, "as wholes")
        #expect(try engine.verify().findings == [])
        try engine.reclaim()
        try engine.close()
        engine = try Engine(at: path, options: options, fileSystem: fileSystem)
      }
      try engine.close()
    }
  }

  @Test(arguments: [100, 50_000])
  func `a value whose source fails or ends too early leaves no data`(size: Int) throws {
    struct Broken: Error {}
    let disk = SimulatedFileSystem(seed: 2)
    var options = StoreKind.simulated.options
    options.frameBytes = Self.frameBytes
    var engine = try Engine(at: "/store", options: options, fileSystem: disk)
    try engine.write { try $0.put("before", [1]) }
    #expect(throws: Broken.self) {
      try engine.write { transaction in
        try transaction.put("lost", [1])
        var calls = 0
        try transaction.put(Array("broken".utf8), count: size) { buffer in
          calls += 1
          guard calls < 3 else { throw Broken() }
          return max(1, min(buffer.count, size / 4))
        }
      }
    }
    let error = #expect(throws: EngineError.self) {
      try engine.write { transaction in
        try transaction.put("lost", [1])
        // A transaction that continues after the error cannot commit.
        _ = try? transaction.put(Array("short".utf8), count: size) { _ in 0 }
      }
    }
    #expect(error?.code == .truncatedSource)
    let overrun = #expect(throws: EngineError.self) {
      try engine.write { transaction in
        try transaction.put(Array("long".utf8), count: size) { $0.count + 1 }
      }
    }
    #expect(overrun?.message.contains("return the number of bytes written to it") == true)
    try engine.write { transaction in
      try transaction.put("after", [2])
      guard size > Self.frameBytes else { return }
      try transaction.put(Array("between".utf8), count: size) { buffer in
        let nested = #expect(throws: EngineError.self) { try transaction.put("nested", [1]) }
        #expect(nested?.code == .nestedWrite)
        return buffer.count
      }
      try transaction.delete("between")
    }
    for _ in 0..<2 {
      try engine.snapshot().expect([Array("before".utf8): [1], Array("after".utf8): [2]], "size \(size)")
      #expect(try engine.verify().findings == [])
      try engine.close()
      engine = try Engine(at: "/store", options: options, fileSystem: disk)
    }
    try engine.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `a value is checked before its first piece is returned`(kind: StoreKind) throws {
    try kind.withPlace { fileSystem, path in
      var options = kind.options
      options.frameBytes = Self.frameBytes
      let engine = try Engine(at: path, options: options, fileSystem: fileSystem)
      try engine.write { try $0.put("key", Self.value(60_000)) }
      try engine.close()
      let log = try fileSystem.openDirectory(path).entries().filter { $0.hasSuffix(".log") }.sorted()
      let file = try fileSystem.openDirectory(path).open(try #require(log.first), .readWrite)
      try file.write(all: [0xA5, 0x5A, 0xA5], at: 50_000)
      try file.close()
      let damaged = try Engine(at: path, options: options, fileSystem: fileSystem)
      var pieces = 0
      let error = #expect(throws: EngineError.self) {
        try damaged.snapshot().readValue(of: Array("key".utf8), pieceBytes: 1000) { _ in
          pieces += 1
          return true
        }
      }
      #expect(error?.code == .damaged)
      #expect(pieces == 0)
      try? damaged.close()
    }
  }

  #if os(Linux)
    /// Takes 1 GiB of disk.
    @Test(
      .enabled(if: LongRun.isWanted, "A value of 1 GiB; set HEARTWOOD_LONG."),
      arguments: [StoreKind.posixMapped, .posixBuffered])
    func `a value in pieces takes no more memory than a few of its pieces`(kind: StoreKind) throws {
      try kind.withPlace { fileSystem, path in
        let engine = try Engine(
          at: path, options: EngineOptions(reading: kind.reading), fileSystem: fileSystem)
        let before = try Self.memory()
        var most = before
        try engine.write { transaction in
          try transaction.put(Array("key".utf8), count: Format.valueLimit) { buffer in
            most = max(most, try Self.memory())
            buffer.initializeMemory(as: UInt8.self, repeating: 7)
            return buffer.count
          }
        }
        var bytes = 0
        try engine.snapshot().readValue(of: Array("key".utf8)) { piece in
          most = max(most, try Self.memory())
          bytes += piece.count
          return true
        }
        #expect(bytes == Format.valueLimit)
        print("\(kind): \((most - before) >> 20) MiB")
        #expect(most - before < 16 << 20)
        try engine.close()
      }
    }

    /// The anonymous memory of the process in bytes.
    private static func memory() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
      return 1024
        * (try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }))
    }
  #endif

  @Test func `a reader can stop in the middle of a value`() throws {
    let engine = try Engine(at: "/dev/null")
    try engine.write { try $0.put("key", Self.value(5000)) }
    var pieces = 0
    let isThere = try engine.snapshot().readValue(of: Array("key".utf8), pieceBytes: 1000) { _ in
      pieces += 1
      return pieces < 2
    }
    #expect(isThere && pieces == 2)
    #expect(try engine.snapshot().readValue(of: Array("other".utf8)) { _ in true } == false)
    try engine.close()
  }

  private static func value(_ size: Int) -> [UInt8] {
    var random = SplitMix64(seed: UInt64(size))
    return (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  private static func pieces(
    of key: [UInt8], in reader: any KeyValueReader, _ pieceBytes: Int
  ) throws -> [UInt8]? {
    var found: [UInt8] = []
    let isThere = try reader.readValue(of: key, pieceBytes: pieceBytes) { piece in
      #expect(piece.count <= pieceBytes)
      found += piece
      return true
    }
    return isThere ? found : nil
  }
}

@Suite struct `A transaction over several segments` {
  @Test(arguments: StoreKind.allCases)
  func `a transaction over several segments leaves no files and no data when it is rolled back`(
    kind: StoreKind
  ) throws {
    try kind.withPlace { fileSystem, path in
      var options = kind.options
      options.frameBytes = 4096
      struct GivenUp: Error {}
      var engine = try Engine(at: path, options: options, fileSystem: fileSystem)
      try engine.write { try $0.put("before", [1]) }
      for round in 0..<3 {
        #expect(throws: GivenUp.self) {
          try engine.write { transaction in
            for key in 0..<150 { try transaction.put("key \(key)", [UInt8](repeating: 1, count: 2000)) }
            throw GivenUp()
          }
        }
        try engine.write { try $0.put("round \(round)", [2]) }
        let names = try fileSystem.openDirectory(path).entries().filter { $0.hasSuffix(".log") }
        #expect(names.count == round + 2)
        #expect(try engine.snapshot().count == round + 2)
        #expect(try engine.verify().findings == [])
      }
      try engine.write { transaction in
        for key in 0..<150 { try transaction.put("key \(key)", [UInt8](repeating: 3, count: 2000)) }
      }
      let snapshot = try engine.snapshot(at: Generation(rawValue: 4))
      #expect(snapshot.count == 4)
      try engine.close()
      engine = try Engine(at: path, options: options, fileSystem: fileSystem)
      #expect(try engine.snapshot().count == 154)
      #expect(try engine.verify().findings == [])
      try engine.close()
    }
  }

  @Test(arguments: [0, 1], [false, true])
  func `each slot of the anchor reaches all data after a rollback over several segments`(
    slot: Int, continuesAfter: Bool
  ) throws {
    let disk = SimulatedFileSystem()
    let process = disk.process(named: "store")
    var options = StoreKind.simulated.options
    options.frameBytes = 4096
    struct GivenUp: Error {}
    let engine = try Engine(at: "/store", options: options, fileSystem: process)
    try engine.write { try $0.put("before", [1]) }
    try? engine.write { transaction in
      for key in 0..<150 { try transaction.put("key \(key)", [UInt8](repeating: 1, count: 2000)) }
      throw GivenUp()
    }
    // The log continues in another segment, with or without a frame there.
    try? engine.write { transaction in
      guard continuesAfter else { throw GivenUp() }
      try transaction.put("after", [2])
    }
    process.kill()
    let file = try disk.openDirectory("/store").open("anchor", .readWrite)
    try file.write(all: [0xA5], at: slot * Format.anchorBlockBytes + 100)
    try file.close()
    let reopened = try Engine(at: "/store", options: options, fileSystem: disk)
    var model: Model = [Array("before".utf8): [1]]
    if continuesAfter { model[Array("after".utf8)] = [2] }
    try reopened.snapshot().expect(model, "slot \(slot)")
    try reopened.close()
  }
}

/// Returns a few bytes at a time.
private struct Source {
  private var rest: ArraySlice<UInt8>
  private let most: Int

  init(_ bytes: [UInt8], most: Int) {
    rest = bytes[...]
    self.most = most
  }

  mutating func next(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = min(buffer.count, rest.count, most)
    buffer.copyBytes(from: rest.prefix(count))
    rest.removeFirst(count)
    return count
  }
}

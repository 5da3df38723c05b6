import BenchmarkHarness
import HeartwoodEngine

/// The space that compressed values save, and their cost: documents of JSON of 1 to 8 KB, written, read at
/// random, scanned.
struct CompressionBenchmark {
  private static let documents = 20_000
  private static let putsOfCommit = 100

  let options: Options

  func run() throws -> [String] {
    let ways = [EngineOptions.Compression.none, .values(ofAtLeast: 512)]
    return try ways.map { way in (way, way == .none ? "plain values" : "compressed values") }
      .filter { options.includes(row: $0.1) }.map { way, name in try line(way, name) }
  }

  private func line(_ compression: EngineOptions.Compression, _ name: String) throws -> String {
    progress("\(name): \(Self.documents) documents")
    let scratch = try Scratch(in: options.directory, named: "compression")
    var engineOptions = EngineOptions(durability: .deferred)
    engineOptions.compression = compression
    let engine = try Engine(at: scratch.path + "/store", options: engineOptions)
    var random = SplitMix64(seed: 5)
    let documents = (0..<Self.documents).map { Self.document($0, &random) }
    let writing = try timed { try write(documents, to: engine) }
    try engine.checkpoint()
    let order = (0..<Self.documents).shuffled(using: &random)
    let reading = try timed { try read(documents, order, from: engine) }
    let scanning = try timed { try scan(engine) }
    try engine.close()
    let bytes = documents.reduce(0) { $0 + $1.count }
    return
      "\(name): \(times(try scratch.occupiedBytes(), bytes)) times the values, \(decimal(Double(bytes) / 1e6, places: 0)) MB; "
      + "a put \(microseconds(writing.seconds)) µs, a read \(microseconds(reading.seconds)) µs, "
      + "a value of a scan \(microseconds(scanning.seconds)) µs"
  }

  private func times(_ bytes: Int, _ whole: Int) -> String {
    decimal(Double(bytes) / Double(whole), places: 2)
  }

  private func microseconds(_ seconds: Double) -> String {
    decimal(seconds * 1e6 / Double(Self.documents), places: 1)
  }

  private func write(_ documents: [[UInt8]], to engine: Engine) throws {
    for start in stride(from: 0, to: documents.count, by: Self.putsOfCommit) {
      try engine.write { transaction in
        for number in start..<min(documents.count, start + Self.putsOfCommit) {
          try transaction.put(Self.key(number), documents[number])
        }
      }
    }
  }

  private func read(_ documents: [[UInt8]], _ order: [Int], from engine: Engine) throws {
    for number in order {
      let isEqual = try Self.key(number).withUnsafeBytes { key in
        try engine.withValue(of: key) {
          $0.count == documents[number].count && $0.last == documents[number].last
        }
      }
      guard isEqual == true else { throw BenchmarkError("document \(number) is another") }
    }
  }

  private func scan(_ engine: Engine) throws {
    let snapshot = try engine.snapshot()
    var count = 0
    try snapshot.scan { _, value in
      count += value.isEmpty ? 0 : 1
      if count.isMultiple(of: 1000) { snapshot.forgetDecompressedValues() }
      return true
    }
    guard count == Self.documents else { throw BenchmarkError("documents are missing") }
  }

  private static func key(_ number: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
  }

  private static func document(_ number: Int, _ random: inout SplitMix64) -> [UInt8] {
    let orders = (0..<Int.random(in: 8...80, using: &random)).map { _ in
      #"{"article": \#(Int.random(in: 0..<100_000, using: &random)), "quantity": \#(Int.random(in: 1..<20, using: &random)), "#
        + #""price": \#(Int.random(in: 100..<100_000, using: &random)), "state": "delivered"}"#
    }
    return Array(
      #"{"customer": \#(number), "name": "Customer \#(number)", "orders": [\#(orders.joined(separator: ", "))]}"#
        .utf8)
  }
}

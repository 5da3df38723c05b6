import HeartwoodEncryption
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

@Suite(.serialized) struct CrashTests {
  private static let path = "/store"

  /// Small and large commits, deferred ones, a checkpoint and a compaction.
  private static func work(_ engine: Engine, _ acknowledge: (Int) -> Void) throws {
    for number in 0..<24 {
      let size = [3, 40, 900, 5000, 12_000][number % 5]
      try engine.write(durability: number % 4 == 3 ? .deferred : .full) {
        try $0.put(Array("key \(number)".utf8), [UInt8](repeating: UInt8(number), count: size))
        try $0.put(Array("last".utf8), [UInt8(number)])
      }
      if number % 4 != 3 { acknowledge(number) }
      if number == 9 { try engine.checkpoint() }
      if number == 16 { _ = try engine.reclaim() }
    }
  }

  private static func check(_ engine: Engine, _ acknowledged: [Int]) throws {
    let rows = try contents(engine)
    let last = rows[Array("last".utf8)]?.first.map(Int.init) ?? -1
    guard last >= acknowledged.last ?? -1 else { throw Wrong.lost }
    for number in 0..<max(0, last + 1) {
      let value = rows[Array("key \(number)".utf8)]
      guard let value, value == [UInt8](repeating: UInt8(number), count: value.count) else {
        throw Wrong.value
      }
    }
    guard rows.count == last + 1 + (last >= 0 ? 1 : 0) else { throw Wrong.count }
  }

  enum Wrong: Error { case lost, value, count, findings }

  @Test(arguments: [CrashModel.hostile, .posix, .ext4Ordered])
  func `a crash loses no acknowledged commit, and no pair of key and nonce is used twice`(
    model: CrashModel
  ) throws {
    let notes = SealNotes()
    var explorer = CrashExplorer(seed: 1, crashModel: model)
    explorer.limits.imageCount = 40
    explorer.imageBudget = 6000
    let report = try explorer.run(acknowledging: Int.self) { disk, acknowledge in
      let engine = try Engine(
        at: Self.path, options: smallOptions(), fileSystem: notes.fileSystem(over: disk))
      try Self.work(engine, acknowledge)
      try engine.close()
    } verify: { image, acknowledged in
      // Each image is written to again, with the key and the counters that the crash has left.
      let engine = try Engine(
        at: Self.path, options: smallOptions(), fileSystem: notes.fileSystem(over: image))
      try Self.check(engine, acknowledged)
      guard try engine.verify().findings.isEmpty else { throw Wrong.findings }
      try engine.write { try $0.put(Array("after".utf8), [1, 2, 3]) }
      try engine.close()
    }
    print("\(model): \(report); \(notes.count) blocks sealed")
    try report.check()
    #expect(report.images >= 3400)
    #expect(notes.repeatedCount == 0)
    #expect(notes.count > report.images)
  }

  @Test func `two processes that write in turn read what the other has written`() throws {
    let disk = SimulatedFileSystem()
    let notes = SealNotes()
    var engines: [Engine] = []
    for name in ["first", "second"] {
      var options = EngineOptions(segmentBytes: 64 << 10)
      options.reading = .buffered
      engines.append(
        try Engine(
          at: Self.path, options: options, fileSystem: notes.fileSystem(over: disk.process(named: name))))
    }
    for number in 0..<300 {
      let (writer, reader) = (engines[number % 2], engines[(number + 1) % 2])
      let value = [UInt8](repeating: UInt8(number % 250), count: 1 + number * 37 % 3000)
      try writer.write(durability: number % 3 == 0 ? .deferred : .full) { try $0.put("key \(number)", value) }
      #expect(try reader.get("key \(number)") == value)
    }
    for engine in engines { #expect(try engine.verify().findings.isEmpty) }
    for engine in engines { try engine.close() }
    #expect(notes.repeatedCount == 0)
  }
}

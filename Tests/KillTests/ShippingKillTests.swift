import Foundation
import HeartwoodEngine
import HeartwoodFaults
import Testing

@testable import FaultProgramme

/// The commands `ship` and `follow` as processes that are killed while a store is written. `HEARTWOOD_LONG=1` kills 100.
@Suite(.serialized) struct `Shipping and following commands that are killed` {
  private static let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil
  private static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "heartwood")

  @Test func `the follower is equal after every death`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "ships-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (store, place, copy) = (folder.path + "/store", folder.path + "/place", folder.path + "/copy")
    let engine = try Engine(at: store)
    var random = SplitMix64(seed: 5100)
    try Self.write(engine, 0, &random)
    try Self.run(["ship", store, place, "--once"])
    for death in 0..<(Self.isLong ? 100 : 6) {
      let shipper = try KilledMigration(Self.program, ["ship", store, place], waits: false)
      let follower = try KilledMigration(Self.program, ["follow", place, copy], waits: false)
      for number in 0..<40 { try Self.write(engine, number, &random) }
      usleep(UInt32(random.below(300_000)))
      (random.below(2) == 0 ? shipper : follower).kill()
      for number in 0..<10 { try Self.write(engine, number, &random) }
      if death % 3 == 1 { try engine.reclaim() }
      shipper.kill()
      follower.kill()
      try Self.run(["ship", store, place, "--once"])
      try Self.run(["follow", place, copy, "--once"])
      let reader = try Engine(at: copy, options: EngineOptions(access: .readOnly))
      #expect(reader.newestGeneration == engine.newestGeneration, "death \(death)")
      #expect(try Self.contents(reader) == Self.contents(engine), "death \(death)")
      try reader.close()
    }
    try engine.close()
  }

  private static func run(_ arguments: [String]) throws {
    try KilledMigration(program, arguments, waits: false).waitUntilDone()
  }

  private static func write(_ engine: Engine, _ number: Int, _ random: inout SplitMix64) throws {
    let value = [UInt8](repeating: UInt8(number), count: random.below(3000))
    try engine.write { try $0.put("key \(random.below(200))", value) }
  }

  private static func contents(_ engine: Engine) throws -> [[UInt8]: [UInt8]] {
    var contents: [[UInt8]: [UInt8]] = [:]
    try engine.snapshot().scan { key, value in
      contents[Array(key)] = Array(value)
      return true
    }
    return contents
  }
}

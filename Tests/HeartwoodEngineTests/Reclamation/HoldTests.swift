import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite struct `Held generations` {
  /// Random writes, holds, releases and reclamations, beside the contents that each held generation had.
  @Test(arguments: [StoreKind.posixMapped, .memoryBuffered, .simulated], 1...3)
  func `a held generation is read as it was until it is released, over reclaiming and reopening`(
    kind: StoreKind, seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    try kind.withPlace { fileSystem, path in
      var engine = try Engine(at: path, options: kind.options, fileSystem: fileSystem)
      var model = Model()
      var held: [String: (generation: Generation, contents: Model)] = [:]
      var past: [(generation: Generation, contents: Model)] = []
      for step in 0..<(LongRun.isWanted ? 2_000 : 150) {
        switch random.below(10) {
        case 0..<4:
          try engine.write { transaction in
            for _ in 0..<(1 + random.below(40)) {
              let key = Array("key \(random.below(200))".utf8)
              let value = [UInt8](repeating: UInt8(truncatingIfNeeded: step), count: random.below(900))
              try transaction.put(key, value)
              model[key] = value
            }
          }
          past.append((engine.newestGeneration, model))
        case 4:
          let hold = try engine.hold("hold \(step)")
          #expect(hold.generation == engine.newestGeneration)
          held[hold.name] = (hold.generation, model)
        case 5:
          guard !past.isEmpty else { continue }
          let chosen = past[random.below(past.count)]
          do {
            held["past \(step)"] = chosen
            try engine.hold("past \(step)", generation: chosen.generation)
          } catch let error as EngineError where error.code == .generationUnavailable {
            held["past \(step)"] = nil
            #expect(throws: EngineError.self) { try engine.snapshot(at: chosen.generation) }
          }
        case 6:
          guard let name = held.keys.sorted().first else { continue }
          #expect(try engine.releaseHold(name))
          held[name] = nil
        case 7: try engine.reclaim()
        case 8: try engine.checkpoint()
        default:
          try engine.close()
          engine = try Engine(at: path, options: kind.options, fileSystem: fileSystem)
        }
        guard step % 10 == 9 else { continue }
        #expect(try engine.holds().map(\.name) == held.keys.sorted())
        for (name, expected) in held {
          let found = try engine.snapshot(at: expected.generation).model()
          #expect(found == expected.contents, "\(name) of seed \(seed)")
        }
        #expect(try engine.snapshot().model() == model)
      }
      #expect(try engine.verify().findings == [])
      try engine.close()
    }
  }

  @Test func `released files come back, and so do those of a hold that is over`() throws {
    let kind = StoreKind.simulated
    let clock = SimulatedClock(nanosecondsSince1970: 1_000)
    var options = kind.options
    options.clock = clock
    let engine = try Engine(at: "/store", options: options, fileSystem: SimulatedFileSystem())
    func overwrite(_ value: UInt8) throws {
      for start in stride(from: 0, to: 400, by: 100) {
        try engine.write { transaction in
          for key in start..<(start + 100) {
            try transaction.put("key \(key)", [UInt8](repeating: value, count: 400))
          }
        }
      }
    }
    try overwrite(1)
    try engine.reclaim()
    let least = try engine.statistics().fileBytes
    try engine.hold("kept")
    let limited = try engine.hold("limited", forSeconds: 60)
    #expect(limited.end == 60_000_001_000)
    for value: UInt8 in 2...6 { try overwrite(value) }
    try engine.reclaim()
    let bytes = try engine.bytesOfHolds()
    #expect(bytes["kept"] == bytes["limited"])
    #expect(try #require(bytes["kept"]) > 160_000)
    #expect(try engine.statistics().fileBytes > 2 * 160_000)
    #expect(try engine.releaseHold("kept"))
    try engine.reclaim()
    #expect(try engine.snapshot(at: limited.generation).get("key 7")?.first == 1)
    clock.jump(by: 61_000_000_000)
    try engine.reclaim()
    #expect(try engine.holds() == [], "a hold that is over goes with the reclamation")
    #expect(throws: EngineError.self) { try engine.snapshot(at: limited.generation) }
    #expect(try engine.statistics().fileBytes < least * 3 / 2)
    try engine.close()
  }

  @Test func `a held generation and a later one are compared in one tree, and again in the same one`() throws
  {
    let kind = StoreKind.memoryMapped
    let engine = try Engine(at: "/dev/null", options: kind.options)
    try engine.write { transaction in
      for key in 0..<200 { try transaction.put("key \(key)", [UInt8](repeating: 1, count: 30)) }
    }
    let before = try engine.hold("before").generation
    func change(_ key: Int) throws -> Generation {
      try engine.write { try $0.put("key \(key)", [UInt8](repeating: 2, count: 30)) }
      return try engine.snapshot().generation
    }
    let after = try change(7)
    _ = try change(8)
    var replays: [PastReplay?] = []
    for _ in 0..<2 {
      let (former, present) = try engine.snapshots(at: before, and: after)
      var differing = 0
      _ = try present.differences(from: former) { _, _, _ in
        differing += 1
        return true
      }
      #expect(differing == 1)
      replays.append(engine.handle.store.lastReplay.found)
    }
    #expect(replays[0] != nil && replays[0] === replays[1])
    try engine.close()
  }

  @Test func `one process holds while another reclaims`() throws {
    let disk = SimulatedFileSystem(seed: 3)
    let options = StoreKind.simulated.processOptions
    let writer = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "writer"))
    let other = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "other"))
    var held: [Generation: UInt8] = [:]
    for round: UInt8 in 0..<8 {
      try writer.write { transaction in
        for key in 0..<300 { try transaction.put("key \(key)", [UInt8](repeating: round, count: 300)) }
      }
      if round % 2 == 0 { held[try other.hold("\(round)").generation] = round }
      try writer.reclaim()
      for (generation, value) in held {
        #expect(try writer.snapshot(at: generation).get("key 5")?.first == value)
        #expect(try other.snapshot(at: generation).get("key 5")?.first == value)
      }
    }
    #expect(try writer.verify().findings == [])
    try writer.close()
    try other.close()
  }

  @Test func `after a crash a hold is there and readable, or it is not there`() throws {
    let options = StoreKind.simulated.options
    let report = try CrashExplorer(seed: 5).run(acknowledging: String.self) { fileSystem, acknowledge in
      let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
      for round: UInt8 in 0..<(LongRun.isWanted ? 4 : 3) {
        try engine.write { transaction in
          for key in 0..<40 { try transaction.put("key \(key)", [UInt8](repeating: round, count: 900)) }
        }
        try engine.hold("\(round)")
        acknowledge("\(round)")
        try engine.reclaim()
        if round == 2 {
          acknowledge("end of 0")
          try engine.releaseHold("0")
        }
      }
      try engine.close()
    } verify: { disk, acknowledged in
      guard try Engine.containsStore(at: "/store", orRest: false, fileSystem: disk) else { return }
      let engine = try Engine(at: "/store", options: options, fileSystem: disk)
      #expect(try !disk.openDirectory("/store").entries().contains("holds.new"))
      let holds = try engine.holds()
      for name in acknowledged where name.count == 1 && !(name == "0" && acknowledged.contains("end of 0")) {
        #expect(holds.contains { $0.name == name })
      }
      try engine.reclaim()
      for hold in holds {
        #expect(try engine.snapshot(at: hold.generation).get("key 5")?.first == UInt8(hold.name))
      }
      #expect(try engine.verify().isSound)
      try engine.close()
    }
    try report.check()
    #expect(report.images > 50)
  }

  @Test func `a damaged file of holds is an error, and nothing is reclaimed`() throws {
    let disk = SimulatedFileSystem()
    let engine = try Engine(at: "/store", options: StoreKind.simulated.options, fileSystem: disk)
    try engine.write { try $0.put("key", [1]) }
    try engine.hold("kept")
    let file = try disk.openDirectory("/store").open("holds", .readWrite)
    let whole = try file.size()
    for place in 0..<whole {
      var byte: [UInt8] = [0]
      try byte.withUnsafeMutableBytes { _ = try file.readFully(into: $0, at: Int64(place)) }
      try file.write(all: [byte[0] ^ 1], at: Int(place))
      let error = #expect(throws: EngineError.self) { try engine.holds() }
      #expect(error?.code == .damaged)
      try file.write(all: byte, at: Int(place))
    }
    try file.write(all: [0], at: 40)
    #expect(throws: EngineError.self) { try engine.reclaim() }
    #expect(throws: EngineError.self) { try engine.hold("more") }
    #expect(try engine.verify().findings.contains { $0.contains("held generations") })
    #expect(try engine.get("key") == [1])
    try engine.close()
  }

  @Test func `holds are refused that cannot be`() throws {
    let engine = try Engine(at: "/dev/null", options: StoreKind.memoryBuffered.options)
    try engine.write { try $0.put("key", [1]) }
    try engine.hold("kept")
    func code(_ body: () throws -> Void) -> EngineError.Code? {
      #expect(throws: EngineError.self, performing: body)?.code
    }
    #expect(code { try engine.hold("kept") } == .exists)
    #expect(code { try engine.hold("") } == .invalidKey)
    #expect(code { try engine.hold(String(repeating: "n", count: 256)) } == .invalidKey)
    #expect(code { try engine.hold("later", generation: Generation(rawValue: 99)) } == .generationUnavailable)
    #expect(try !engine.releaseHold("none"))
    try engine.hold("again", generation: engine.holds()[0].generation)
    #expect(try engine.snapshot(at: engine.holds()[0].generation).get("key") == [1])
    try engine.close()
  }
}

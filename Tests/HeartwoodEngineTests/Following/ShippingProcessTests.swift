import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// A writer, a shipper, a follower and a reader, each in a process of its own.
@Suite struct `Processes that ship and follow` {
  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64], [EngineOptions.Access.readOnly, .readWrite])
  func `each of them may be killed, and the others go on`(seed: UInt64, access: EngineOptions.Access) throws {
    let machine = try Machine(seed: seed, access)
    for step in 0..<(LongRun.isWanted ? 1000 : 200) {
      try machine.step("seed \(seed), step \(step), \(access)")
    }
    #expect(machine.killedWriters > 3)
    try machine.end()
  }

  private final class Machine {
    private let disk: SimulatedFileSystem
    private let access: EngineOptions.Access
    private var random: SplitMix64
    private var processes = 0
    private(set) var killedWriters = 0
    private var model: Model = [:]

    private var writer: (engine: Engine, process: SimulatedProcess)
    private var shipper: (engine: Engine, shipper: Shipper, process: SimulatedProcess)
    private var follower: (follower: Follower, process: SimulatedProcess)
    private var reader: Engine

    init(seed: UInt64, _ access: EngineOptions.Access) throws {
      let disk = SimulatedFileSystem(seed: seed)
      self.disk = disk
      self.access = access
      random = SplitMix64(seed: seed)
      writer = try Self.writer(disk.process(named: "writer 0"))
      try writer.engine.write { try $0.put("first", [1]) }
      model = ["first"].reduce(into: [:]) { $0[Array($1.utf8)] = [1] }
      shipper = try Self.shipper(disk.process(named: "shipper 0"), access)
      try shipper.shipper.ship()
      follower = try Self.follower(disk.process(named: "follower 0"))
      try follower.follower.advance()
      reader = try Self.reader(disk.process(named: "reader"))
    }

    // MARK: The processes

    private static func options(_ access: EngineOptions.Access) -> EngineOptions {
      var options = StoreKind.simulated.processOptions
      (options.access, options.busyTimeout) = (access, 0.5)
      return options
    }

    private static func writer(_ process: SimulatedProcess) throws -> (Engine, SimulatedProcess) {
      (try Engine(at: "/store", options: options(.readWrite), fileSystem: process), process)
    }

    private static func shipper(
      _ process: SimulatedProcess, _ access: EngineOptions.Access
    ) throws -> (Engine, Shipper, SimulatedProcess) {
      let engine = try Engine(at: "/store", options: options(access), fileSystem: process)
      let place = try FolderDestination("/place", creates: true, fileSystem: process)
      return (engine, Shipper(engine, to: place, options: .testing), process)
    }

    private static func follower(_ process: SimulatedProcess) throws -> (Follower, SimulatedProcess) {
      let place = try FolderDestination("/place", fileSystem: process)
      return (Follower(from: place, to: "/follower", fileSystem: process), process)
    }

    private static func reader(_ process: SimulatedProcess) throws -> Engine {
      try Engine(at: "/follower", options: options(.readOnly), fileSystem: process)
    }

    private func process(_ name: String) -> SimulatedProcess {
      processes += 1
      return disk.process(named: "\(name) \(processes)")
    }

    // MARK: Steps

    func step(_ comment: Comment) throws {
      switch random.below(24) {
      case 0...7: try write()
      case 8: try writer.engine.checkpoint()
      case 9: try writer.engine.reclaim()
      case 10:
        killedWriters += 1
        writer.process.kill()
        writer = try Self.writer(process("writer"))
      case 11:
        try writer.engine.close()
        writer = try Self.writer(process("writer"))
      case 12:
        shipper.process.kill()
        shipper = try Self.shipper(process("shipper"), access)
      case 13:
        follower.process.kill()
        follower = try Self.follower(process("follower"))
      case 14:
        // Meanwhile there is no writer.
        writer.process.kill()
        try copy(comment)
        writer = try Self.writer(process("writer"))
      default: try copy(comment)
      }
    }

    private func write() throws {
      let durability: Durability = random.below(2) == 0 ? .full : .deferred
      var next = model
      try writer.engine.write(durability: durability) { transaction in
        for _ in 0..<(1 + random.below(8)) {
          let key = [UInt8]("key \(random.below(80))".utf8)
          next[key] = (0..<random.below(900)).map { _ in UInt8(random.below(256)) }
          try transaction.put(key, next[key] ?? [])
        }
      }
      model = next
    }

    private func copy(_ comment: Comment) throws {
      let shipped = try shipper.shipper.ship()
      let copied = try follower.follower.advance()
      #expect(copied.generation == shipped.generation, comment)
      let snapshot = try reader.snapshot()
      #expect(snapshot.generation == copied.generation, comment)
      try snapshot.expect(model, comment)
    }

    func end() throws {
      try copy("at the end")
      #expect(try reader.verify().findings == [])
      try reader.close()
      follower.follower.close()
      try shipper.engine.close()
      try writer.engine.close()
    }
  }
}

import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// A writer is killed while another process ships the store.
@Suite struct `A writer that is killed beside a shipper` {
  private static func open(
    _ disk: SimulatedFileSystem, _ process: any FileSystem, _ access: EngineOptions.Access = .readWrite,
    at path: String = "/store"
  ) throws -> Engine {
    var options = StoreKind.simulated.processOptions
    (options.busyTimeout, options.access) = (0, access)
    return try Engine(at: path, options: options, fileSystem: process)
  }

  @Test func `two processes may make the folder that is shipped to at once`() throws {
    let disk = SimulatedFileSystem()
    let plan = FaultPlan([.fail(.createDirectory, .nth(1), with: .alreadyExists, effect: .whole)])
    let files = FaultInjectingFileSystem(base: disk, plan: plan)
    #expect(try FolderDestination("/place", creates: true, fileSystem: files).list() == [])
    #expect(files.firingCounts == [1])
  }

  /// Each writer continues the log in a new segment, and the checkpoint of its reclamation names no earlier one. If it is killed before the anchor
  /// names that, the next one continues from the checkpoint before, whose segments the shipped pieces do not have.
  /// A shipper that is started after that shows what the writer has left, or opens the store before the next writer publishes what it recovered.
  @Test(arguments: [false, true])
  func `what was shipped is continued, at whatever call the writer is killed`(isStartedAgain: Bool) throws {
    var afterCommits = 0
    for call in 1... {
      let disk = SimulatedFileSystem(seed: 7)
      for value in 1...2 as ClosedRange<UInt8> {
        let process = disk.process(named: "writer \(value)")
        let engine = try Self.open(disk, process)
        try engine.write { try $0.put("n", [value]) }
        _ = try engine.reclaim()
        process.kill()
      }
      var reader = try Self.open(disk, disk.process(named: "shipper"), .readOnly)
      let place = try FolderDestination("/place", creates: true, fileSystem: disk)
      var shipper = Shipper(reader, to: place, options: .testing)
      func start() throws {
        guard isStartedAgain else { return }
        reader = try Self.open(disk, disk.process(named: "shipper"), .readOnly)
        shipper = Shipper(reader, to: place, options: .testing)
      }
      try shipper.ship()
      if isStartedAgain { try reader.close() }

      let victim = disk.process(named: "victim")
      let plan = FaultPlan([.fail(.any, .from(call), with: .processKilled)])
      let files = FaultInjectingFileSystem(base: victim, plan: plan)
      var acknowledged: UInt8 = 2
      do {
        let engine = try Self.open(disk, files)
        for value in 3...4 as ClosedRange<UInt8> {
          try engine.write { try $0.put("n", [value]) }
          acknowledged = value
          // Its frame is in the segment of the transaction, and says that this is durable.
          try engine.checkpoint()
          _ = try engine.reclaim()
        }
      } catch {}
      victim.kill()
      guard files.injectedErrorCount > 0 else { break }
      try start()
      let shipped = try shipper.ship().generation
      if isStartedAgain { try reader.close() }

      let next = try Self.open(disk, disk.process(named: "next"))
      #expect(try next.get("n")?.first ?? 0 >= acknowledged, "call \(call)")
      #expect(next.newestGeneration >= shipped, "call \(call)")
      try start()
      let follower = Follower(from: place, to: "/follower", fileSystem: disk)
      for round in 0..<3 as Range<UInt8> {
        let report = try shipper.ship()
        #expect(report.generation == next.newestGeneration, "call \(call)")
        #expect(try follower.advance().generation == report.generation, "call \(call)")
        let copy = try Self.open(disk, disk, .readOnly, at: "/follower")
        #expect(try copy.get("n") == next.get("n") && copy.verify().findings == [], "call \(call)")
        try copy.close()
        try next.write { try $0.put("n", [10 + round]) }
      }
      if acknowledged > 2 { afterCommits += 1 }
      follower.close()
      try next.close()
      try reader.close()
    }
    #expect(afterCommits > 10)
  }
}

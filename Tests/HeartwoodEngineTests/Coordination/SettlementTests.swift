import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// The state that is seen of a transaction whose process ended, or whose sync failed, before it was published, while another process has
/// the store open.
struct SettlementTests {
  /// A store that a process holds open, and that another one writes.
  private struct Place {
    let disk = SimulatedFileSystem(seed: 9)
    let holder: Engine
    var options: EngineOptions

    init() throws {
      options = StoreKind.simulated.processOptions
      options.busyTimeout = 0
      holder = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "holder"))
      try holder.write { try $0.put("n", [0]) }
    }

    func open(_ name: String, _ access: EngineOptions.Access = .readWrite) throws -> Engine {
      var options = options
      options.access = access
      return try Engine(at: "/store", options: options, fileSystem: disk.process(named: name))
    }

    /// The values that a new opening sees at first, and in its first transaction.
    func look(_ name: String) throws -> (first: UInt8?, inside: UInt8?) {
      let engine = try open(name)
      let first = try engine.get("n")?.first
      var inside: UInt8?
      try engine.write { transaction in
        inside = try transaction.get("n")?.first
        try transaction.put("x", [1])
      }
      try engine.close()
      return (first, inside)
    }
  }

  @Test func `reopening after a failed sync shows what stays, at any sync`() throws {
    var (unknown, present) = (0, 0)
    for sync in 1...12 {
      let place = try Place()
      let plan = FaultPlan([.fail(.sync, .nth(sync), with: .inputOutput)])
      let files = FaultInjectingFileSystem(base: place.disk.process(named: "writer"), plan: plan)
      guard let writer = try? Engine(at: "/store", options: place.options, fileSystem: files) else {
        continue
      }
      for value in 1...4 as ClosedRange<UInt8> {
        do {
          try writer.write { try $0.put("n", [value]) }
        } catch let error as EngineError {
          guard error.code == .outcomeUnknown else { break }
          unknown += 1
          try? writer.close()
          let found = try place.look("again")
          #expect(found.first == found.inside, "sync \(sync)")
          #expect(found.first == value || found.first == value - 1, "sync \(sync)")
          #expect(try place.holder.get("n")?.first == found.first, "sync \(sync)")
          if found.first == value { present += 1 }
          break
        }
      }
      try? place.holder.close()
    }
    #expect(unknown > 2 && present > 0)
  }

  @Test(arguments: [FaultPlan.Effect.none, .whole], [false, true])
  func `an opening after a kill shows what stays, and so does every other reader`(
    effect: FaultPlan.Effect, isDeferred: Bool
  ) throws {
    var adopted = 0
    for call in 1... {
      let place = try Place()
      let reader = try place.open("reader", .readOnly)
      #expect(try reader.get("n") == [0])
      let victim = place.disk.process(named: "victim")
      let plan = FaultPlan([.fail(.any, .from(call), with: .processKilled, effect: effect)])
      let files = FaultInjectingFileSystem(base: victim, plan: plan)
      var acknowledged: UInt8 = 0
      do {
        let engine = try Engine(at: "/store", options: place.options, fileSystem: files)
        for value in 1...3 as ClosedRange<UInt8> {
          try engine.write(durability: isDeferred ? .deferred : .full) { try $0.put("n", [value]) }
          acknowledged = value
        }
        victim.kill()
      } catch {
        victim.kill()
      }
      guard files.injectedErrorCount > 0 else {
        #expect(call > 20)
        break
      }
      let what = "killed at call \(call), \(acknowledged) acknowledged"
      // In this order: each of them could be the first to find what the victim has left.
      let opened = try place.open("read only", .readOnly)
      let shown = try opened.get("n")?.first
      #expect(try reader.get("n")?.first == shown, "\(what), a reader that was open")
      let found = call % 2 == 0 ? try place.holder.get("n")?.first : shown
      #expect(found == shown, "\(what), the process that was open")
      let looked = try place.look("new")
      #expect(looked.first == shown && looked.inside == shown, "\(what), opened for writing")
      #expect(try opened.get("n")?.first == shown && place.holder.get("n")?.first == shown, "\(what), later")
      #expect(shown ?? 0 >= acknowledged, "\(what): lost")
      if shown ?? 0 > acknowledged { adopted += 1 }
      try opened.close()
      try reader.close()
      try place.holder.close()
    }
    // A deferred commit makes no call between its frame and its return.
    #expect(adopted > 0 || isDeferred && effect == .none)
  }

  /// The page that processes share is never synced: after a power failure the newer record may have its counter, and nothing else.
  @Test func `a reader looks once for what a writer has left beside a record that a crash has torn`() throws {
    var place = try Place()
    try place.holder.close()
    place.options.idleSeconds = 60
    let victim = place.disk.process(named: "victim")
    let writer = try Engine(at: "/store", options: place.options, fileSystem: victim)
    try writer.write { try $0.put("n", [1]) }
    victim.kill()
    withExtendedLifetime(writer) {}
    let page = try place.disk.openDirectory("/store").open("processes", .readWrite)
    func word(_ offset: Int) throws -> UInt64 {
      var word: UInt64 = 0
      _ = try withUnsafeMutableBytes(of: &word) { (buffer) throws(FileSystemError) in
        try page.readFully(into: buffer, at: Int64(offset))
      }
      return word
    }
    let counters = try [SharedHeader.firstRecord, SharedHeader.secondRecord].map(word)
    let (newest, torn) =
      counters[0] > counters[1]
      ? (SharedHeader.firstRecord, SharedHeader.secondRecord)
      : (SharedHeader.secondRecord, SharedHeader.firstRecord)
    let counter = try word(newest)
    for (offset, value) in [
      (torn, counter + 1), (torn + WriterRecord.stateOffset, try word(newest + WriterRecord.stateOffset)),
    ] {
      try page.write(all: withUnsafeBytes(of: value) { Array($0) }, at: offset)
    }
    let reader = try place.open("reader", .readOnly)
    #expect(try reader.get("n") == [1])
    #expect(try reader.handle.open().lease.settledRecord.load(ordering: .relaxed) == counter)
    try reader.close()
  }

  @Test func `an opening does not wait for a process that lives and holds the lease`() throws {
    var place = try Place()
    place.options.idleSeconds = 60
    place.options.busyTimeout = 3600
    let writer = try Engine(
      at: "/store", options: place.options, fileSystem: place.disk.process(named: "writer"))
    // It has not released the lease, and its record says so.
    var opened: [Engine] = []
    try writer.write { transaction in
      try transaction.put("n", [7])
      opened = try [place.open("new"), place.open("reader", .readOnly)]
      for engine in opened { #expect(try engine.get("n") == [0]) }
    }
    for engine in opened {
      #expect(try engine.get("n") == [7])
      try engine.close()
    }
    #expect(try place.open("later").get("n") == [7])
    try writer.close()
    try place.holder.close()
  }

  @Test func `a transaction that is being written is not shown to a reader that opens the store`() throws {
    let place = try Place()
    let before = Guarded<(@Sendable () -> Void)?>(nil)
    let files = FaultInjectingFileSystem(base: place.disk.process(named: "writer"), plan: FaultPlan()) {
      if $0.operation == .sync { before.withLock { $0 }?() }
    }
    let writer = try Engine(at: "/store", options: place.options, fileSystem: files)
    try writer.write { try $0.put("n", [1]) }
    let seen = Guarded<[UInt8?]>([])
    before.withLock { before in
      before = {
        let reader = try? place.open("reader", .readOnly)
        let found = (try? reader?.get("n"))??.first
        seen.withLock { $0.append(found) }
        try? reader?.close()
      }
    }
    try writer.write { try $0.put("n", [2]) }
    before.withLock { $0 = nil }
    #expect(seen.withLock { !$0.isEmpty && $0.allSatisfy { $0 == 1 } })
    #expect(try place.open("later", .readOnly).get("n") == [2])
    try writer.close()
    try place.holder.close()
  }

  @Test func `a read-only opening after a crash shows what the next opening for writing does`() throws {
    let disk = SimulatedFileSystem(seed: 3)
    let options = StoreKind.simulated.options
    var shownMore = 0
    var images = 0
    let engine = try Engine(at: "/store", options: options, fileSystem: disk)
    for round in 0..<24 {
      try engine.write(durability: round % 3 == 0 ? .full : .deferred) {
        for key in 0...round % 5 { try $0.put("key \(key)", [UInt8(round)]) }
      }
      if round == 12 { try engine.checkpoint() }
      var limits = CrashImageLimits()
      limits.imageCount = 8
      for image in disk.crashImages(limits) {
        images += 1
        var reading = options
        reading.access = .readOnly
        let crashed = image.mounted()
        let reader = try Engine(at: "/store", options: reading, fileSystem: crashed)
        let (generation, rows) = (reader.newestGeneration, try reader.snapshot().contents().map(\.value))
        #expect(try reader.statistics().unrecoveredTransactions == 0)
        try reader.close()
        let writer = try Engine(at: "/store", options: options, fileSystem: crashed)
        #expect(writer.newestGeneration == generation, "round \(round), \(image)")
        #expect(try writer.snapshot().contents().map(\.value) == rows, "round \(round), \(image)")
        if generation.rawValue == UInt64(round + 1) { shownMore += 1 }
        try writer.close()
      }
    }
    #expect(images > 50 && shownMore > 10)
    try engine.close()
  }

  @Test func `a reader whose sync fails shows what is proven, and counts the rest`() throws {
    let disk = SimulatedFileSystem(seed: 3)
    let process = disk.process(named: "writer")
    let engine = try Engine(at: "/store", options: StoreKind.simulated.options, fileSystem: process)
    for value in 1...3 as ClosedRange<UInt8> { try engine.write { try $0.put("n", [value]) } }
    process.kill()
    var reading = StoreKind.simulated.options
    reading.access = .readOnly
    let files = FaultInjectingFileSystem(
      base: disk, plan: FaultPlan([.fail(.sync, .from(1), with: .inputOutput)]))
    let reader = try Engine(at: "/store", options: reading, fileSystem: files)
    let statistics = try reader.statistics()
    #expect(statistics.unrecoveredTransactions > 0)
    #expect(Int(statistics.generation.rawValue) + statistics.unrecoveredTransactions == 3)
    try reader.close()
    withExtendedLifetime(engine) {}
  }
}

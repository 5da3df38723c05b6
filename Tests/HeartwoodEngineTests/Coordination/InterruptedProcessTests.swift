import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import HeartwoodEngine

/// Another process does something in the middle of an opening or a reading.
extension `Several processes` {
  @Test
  func `a reader that opens a generation during its reclamation is told that it is gone, not damaged`()
    throws
  {
    let disk = SimulatedFileSystem(seed: 5)
    let files = InterruptedOpening(disk.process(named: "reader"))
    let writer = try Engine(
      at: "/store", options: StoreKind.simulated.processOptions, fileSystem: disk.process(named: "writer"))
    func overwrite(_ round: UInt8) throws {
      try writer.write {
        for key in 0..<500 { try $0.put("key \(key)", [UInt8](repeating: round, count: 100)) }
      }
      try writer.checkpoint()
    }
    try overwrite(0)
    let past = writer.newestGeneration
    try overwrite(1)
    let reader = try Engine(at: "/store", options: StoreKind.simulated.processOptions, fileSystem: files)
    #expect(try reader.snapshot(at: past).get("key 7") == [UInt8](repeating: 0, count: 100))
    reader.handle.store.lastReplay.forget()
    files.interrupt(before: ".pages") { #expect((try? writer.reclaim())?.movedValues == 500) }
    let error = #expect(throws: EngineError.self) { try reader.snapshot(at: past) }
    #expect(files.hasHappened && error?.code == .generationUnavailable, "\(String(describing: error))")
    #expect(try reader.snapshot().get("key 7") == [UInt8](repeating: 1, count: 100))
    try reader.close()
    try writer.close()
  }

  @Test(arguments: [EngineOptions.Access.readWrite, .readOnly])
  func `a reader that follows a writer sees a checkpoint of which it was not notified yet`(
    access: EngineOptions.Access
  ) throws {
    let disk = SimulatedFileSystem(seed: 5)
    let files = InterruptedOpening(disk.process(named: "reader"))
    var options = StoreKind.simulated.processOptions
    options.busyTimeout = 0
    let writer = try Engine(
      at: "/store", options: options, fileSystem: disk.process(named: "writer"))
    @Sendable func overwrite(_ round: UInt8) throws {
      try writer.write {
        for key in 0..<500 { try $0.put("key \(key)", [UInt8](repeating: round, count: 300)) }
      }
      try writer.checkpoint()
    }
    try overwrite(0)
    var mine = options
    mine.access = access
    let reader = try Engine(at: "/store", options: mine, fileSystem: files)
    try overwrite(1)
    try writer.reclaim()
    // The reader has read the shared header, and not yet the anchor.
    files.interrupt(before: InterruptedOpening.listing) {
      #expect(throws: Never.self) { try overwrite(2) }
    }
    #expect(try reader.snapshot().get("key 7") == [UInt8](repeating: 2, count: 300))
    #expect(files.hasHappened && reader.newestGeneration == writer.newestGeneration)
    try overwrite(3)
    #expect(try reader.snapshot().get("key 7") == [UInt8](repeating: 3, count: 300))
    #expect(try reader.verify().findings == [])
    try reader.close()
    try writer.close()
  }

  @Test(arguments: [true, false])
  func `a store that is removed at any call of an opening is gone, not damaged`(isMade: Bool) throws {
    var removals = 0
    for count in 0..<30 {
      let disk = SimulatedFileSystem(seed: 5)
      let files = InterruptedOpening(disk.process(named: "opener"))
      var options = StoreKind.simulated.processOptions
      (options.busyTimeout, options.createsStore) = (0, true)
      let writer = try Engine(at: "/store", options: options, fileSystem: disk.process(named: "writer"))
      try writer.write { try $0.put("key", [1]) }
      try writer.close()
      let isRemoved = Guarded(false)
      files.interrupt(after: count) {
        let other = disk.process(named: "other")
        let done: Void? = try? Engine.destroy(at: "/store", busyTimeout: 0, fileSystem: other)
        isRemoved.withLock { $0 = done != nil }
      }
      options.createsStore = isMade
      do {
        let engine = try Engine(at: "/store", options: options, fileSystem: files)
        let value = try engine.snapshot().get("key")
        #expect(
          isRemoved.withLock { $0 } == (value == nil) && (isMade || value != nil), "after \(count) calls")
        try engine.close()
      } catch {
        #expect(error.code == .notAStore && !isMade, "after \(count) calls: \(error)")
      }
      if isRemoved.withLock({ $0 }) { removals += 1 }
      guard files.hasHappened else { break }
    }
    #expect(removals > 1)
  }
}

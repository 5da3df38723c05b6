import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// An operation that is refused for lack of room takes no room.
@Suite struct `A full disk` {
  @Test(arguments: [500, 40_000, 300_000])
  func `refused commits leave no files and take no room`(bytes: Int) throws {
    let harness = try FullDiskHarness()
    harness.options.frameBytes = 16 << 10
    _ = harness.close()
    try harness.open()
    for key in 0..<20 { #expect(harness.put(key, bytes: 900) == nil) }
    harness.leaveRoom(200_000)
    _ = harness.fill(from: 100, bytes: bytes)
    let (files, used) = (try harness.segmentCount(), harness.disk.usedBytes)
    for key in 0..<30 { #expect(harness.put(5000 + key, bytes: bytes) == .noSpace) }
    #expect(try harness.segmentCount() == files)
    #expect(harness.disk.usedBytes <= used)
    try harness.check()
    harness.leaveRoom(nil)
    #expect(harness.put(7000, bytes: bytes) == nil)
    try harness.verify()
    harness.kill()
    try harness.open()
    try harness.verify()
  }

  @Test(arguments: [400_000, 1_200_000])
  func `repeatedly refused commits create no new files when room becomes free`(
    bytes: Int
  ) throws {
    let harness = try FullDiskHarness()
    harness.options.frameBytes = 16 << 10
    _ = harness.close()
    try harness.open()
    #expect(harness.put(1, bytes: 900) == nil)
    harness.leaveRoom(bytes / 20)
    #expect(harness.put(2, bytes: bytes) == .noSpace)
    let files = try harness.segmentCount()
    for _ in 0..<10 {
      harness.leaveRoom(bytes / 20)
      #expect(harness.put(2, bytes: bytes) == .noSpace)
      #expect(try harness.segmentCount() == files)
    }
    harness.leaveRoom(bytes / 2)
    #expect(harness.put(2, bytes: bytes) == nil, "what refused commits took is used by the next")
    try harness.verify()
    harness.leaveRoom(nil)
    harness.kill()
    try harness.open()
    try harness.verify()
  }

  @Test func `a power cut after refused commits leaves every acknowledged commit`() throws {
    let harness = try FullDiskHarness()
    harness.leaveRoom(30_000)
    _ = harness.fill(bytes: 700)
    #expect(harness.put(9000, bytes: 900) == .noSpace)
    harness.leaveRoom(60_000)
    #expect(harness.put(9001, bytes: 600) == nil)
    for image in harness.disk.crashImages() {
      let engine = try Engine(at: "/store", options: harness.options, fileSystem: image.mounted())
      #expect(try engine.read { try $0.model() } == harness.model)
    }
  }

  @Test func `a checkpoint that finds no room releases the room that it took`() throws {
    let harness = try FullDiskHarness()
    for key in 0..<2000 { #expect(harness.put(key, bytes: 20, .deferred) == nil) }
    try harness.engine?.checkpoint()
    for key in stride(from: 0, to: 2000, by: 20) { #expect(harness.put(key, bytes: 30) == nil) }
    let used = harness.disk.usedBytes
    for room in stride(from: 4096, to: 8 * 4096, by: 4096) {
      harness.leaveRoom(room)
      #expect(code { try harness.engine?.checkpoint() } == .noSpace)
      #expect(harness.disk.usedBytes <= used + Int64(Format.pageBytes))
    }
    try harness.verify()
    harness.leaveRoom(nil)
    try harness.engine?.checkpoint()
    try harness.verify()
    #expect(harness.close() == nil)
    try harness.open()
    try harness.verify()
  }

  @Test func `a store that is closed without room for its checkpoint opens without recovery`() throws {
    let harness = try FullDiskHarness()
    for key in 0..<500 { #expect(harness.put(key, bytes: 20) == nil) }
    harness.leaveRoom(0)
    let used = harness.disk.usedBytes
    for _ in 0..<5 {
      #expect(harness.close() == nil, "everything that was committed is on disk")
      try harness.open()
      try harness.check()
    }
    #expect(harness.disk.usedBytes == used)
    #expect(harness.put(1, bytes: 100) == nil, "the zeros ahead are used")
    harness.leaveRoom(nil)
    try harness.verify()
  }

  @Test(arguments: [0, 17_000, 90_000])
  func `an opening without room to copy the log's end rewrites it in place`(room: Int) throws {
    let harness = try FullDiskHarness()
    for key in 0..<60 { #expect(harness.put(key, bytes: 2000, .deferred) == nil) }
    for round in 0..<3 {
      harness.kill()
      let (files, used) = (try harness.segmentCount(), harness.disk.usedBytes)
      harness.leaveRoom(room)
      #expect(harness.tryOpen() == nil)
      #expect(try harness.segmentCount() == files)
      #expect(harness.disk.usedBytes == used)
      try harness.verify()
      for image in harness.disk.crashImages().sampled(every: 10) {
        let engine = try Engine(at: "/store", options: harness.options, fileSystem: image.mounted())
        #expect(try engine.read { try $0.model() } == harness.model)
      }
      harness.leaveRoom(nil)
      for key in 0..<60 { #expect(harness.put(100 * round + key, bytes: 2000, .deferred) == nil) }
    }
    try harness.verify()
  }

  @Test func `a crash while the log's end is rewritten in place loses no durable data`() throws {
    var (images, isDone) = (0, false)
    for call in 1..<200 where !isDone {
      let harness = try FullDiskHarness()
      for key in 0..<10 { #expect(harness.put(key, bytes: 2000) == nil) }
      let durable = harness.model
      for key in 10..<30 { #expect(harness.put(key, bytes: 2000, .deferred) == nil) }
      harness.kill()
      harness.leaveRoom(0)
      let process = harness.disk.process(named: "opens")
      let files = FaultInjectingFileSystem(base: process) { if $0.number == call { process.kill() } }
      isDone = (try? Engine(at: "/store", options: harness.options, fileSystem: files)) != nil
      for image in harness.disk.crashImages().sampled(every: 2) {
        images += 1
        let engine = try Engine(at: "/store", options: harness.options, fileSystem: image.mounted())
        for (key, value) in durable { #expect(try engine.get(key) == value) }
        let contents = try engine.read { try $0.contents() }
        #expect(!isDone || contents.count == harness.model.count)
        #expect(try engine.verify().findings == [])
        try engine.close()
      }
    }
    #expect(isDone && images > 20)
  }

  // MARK: The reserve

  @Test func `a transaction that deletes uses the reserve for each of its frames`() throws {
    let harness = try FullDiskHarness.withReserve()
    harness.options.frameBytes = 4 << 10
    _ = harness.close()
    try harness.open()
    harness.leaveRoom(0)
    _ = harness.fill(from: 5000, bytes: 3000)
    #expect(harness.delete(0..<2400) == nil)
    try harness.verify()
    harness.kill()
    try harness.open()
    try harness.verify()
  }

  @Test func `a store whose process is killed on a full disk before its first checkpoint opens again`() throws
  {
    let harness = try FullDiskHarness()
    harness.options.checkpointBytes = 64 << 20
    _ = harness.close()
    try harness.open()
    harness.leaveRoom(100 << 20)
    for key in 0..<2400 { #expect(harness.put(key, bytes: 1000, .deferred) == nil) }
    #expect(try harness.reserveBytes() != nil)
    harness.leaveRoom(0)
    _ = harness.fill(from: 5000, bytes: 1000)
    harness.kill()
    #expect(harness.tryOpen() == nil)
    try harness.verify()
  }

  @Test func `deletes, reclamation and opening use the room that the store keeps in reserve`() throws {
    let harness = try FullDiskHarness.withReserve()
    let reserve = try #require(try harness.reserveBytes())
    harness.leaveRoom(0)
    _ = harness.fill(from: 5000, bytes: 3000)
    #expect(harness.put(1, bytes: 5000) == .noSpace)
    #expect(try harness.reserveBytes() == reserve, "what grows the store does not get it")
    // Opening after an unclean end needs no room.
    harness.kill()
    try harness.open()
    try harness.verify()
    #expect(try harness.reserveBytes() == reserve)
    let used = harness.disk.usedBytes
    #expect(harness.delete(0..<900) == nil)
    #expect(harness.reclaim() == nil)
    #expect(harness.disk.usedBytes < used - 800_000)
    try harness.verify()
    harness.leaveRoom(10 << 20)
    _ = harness.put(7000, bytes: 10)
    try harness.engine?.checkpoint()
    #expect(try harness.reserveBytes() != nil, "laid again when there is room")
  }

  @Test func `commits that fill the disk repeatedly never take the room that deletes need`() throws {
    let harness = try FullDiskHarness.withReserve()
    harness.leaveRoom(0)
    for round in 0..<8 {
      _ = harness.fill(from: 5000 + 1000 * round, bytes: 900)
      #expect(harness.delete((round * 150)..<(round * 150 + 150)) == nil, "round \(round)")
      _ = harness.fill(from: 5500 + 1000 * round, bytes: 900)
      if round % 2 == 1 { #expect(harness.reclaim() == nil, "round \(round)") }
      harness.kill()
      #expect(harness.tryOpen() == nil, "round \(round)")
      try harness.verify()
    }
  }

  @Test func `a transaction that deletes is committed at once, and a power cut then loses no commit`() throws
  {
    let harness = try FullDiskHarness.withReserve()
    harness.leaveRoom(0)
    _ = harness.fill(from: 5000, bytes: 3000)
    _ = harness.fill(from: 5000, bytes: 10)
    #expect(harness.delete(0..<2000) == nil)
    #expect(try harness.reserveBytes() == nil)
    for image in harness.disk.crashImages().sampled(every: 5) {
      let engine = try Engine(at: "/store", options: harness.options, fileSystem: image.mounted())
      #expect(try engine.read { try $0.model() } == harness.model)
    }
    try harness.verify()
  }

  @Test(arguments: [120_000, 400_000, 1_500_000])
  func `reclamation that does not fit at once is done in parts`(room: Int) throws {
    let harness = try FullDiskHarness.withReserve()
    #expect(harness.delete(stride(from: 0, to: 2400, by: 2)) == nil)
    harness.leaveRoom(room)
    let used = harness.disk.usedBytes
    #expect(harness.reclaim() == nil)
    #expect(harness.disk.usedBytes < used - 500_000, "\(used) → \(harness.disk.usedBytes)")
    try harness.verify()
    #expect(harness.put(1, bytes: 5000) == nil)
    harness.leaveRoom(nil)
    harness.kill()
    try harness.open()
    try harness.verify()
  }

  @Test func `reclamation without room reports that, and takes no room`() throws {
    // One segment, half of which is live.
    let harness = try FullDiskHarness.withReserve(segmentBytes: 16 << 20)
    #expect(harness.delete(stride(from: 0, to: 2400, by: 2)) == nil)
    harness.leaveRoom(200_000)
    let used = harness.disk.usedBytes
    // At first some old pages are reclaimed. Then nothing more fits.
    _ = harness.reclaim()
    for _ in 0..<4 { #expect(harness.reclaim() == .noSpace) }
    #expect(harness.disk.usedBytes < used + 50_000)
    harness.leaveRoom(8 << 20)
    #expect(harness.reclaim() == nil)
    #expect(harness.disk.usedBytes < used - 500_000)
    try harness.verify()
  }

  @Test func `a reserve that is cut, too long or not a file of zeros does no harm`() throws {
    for bytes in [[], [UInt8](repeating: 7, count: 100_000)] as [[UInt8]] {
      let harness = try FullDiskHarness.withReserve()
      harness.kill()
      let directory = try harness.disk.openDirectory("/store")
      try directory.unlink(StoreFolder.reserveName)
      let file = try directory.open(StoreFolder.reserveName, .createNew)
      try file.write(all: bytes, at: 0)
      try harness.open()
      try harness.verify()
      #expect(harness.close() == nil)
    }
  }
}

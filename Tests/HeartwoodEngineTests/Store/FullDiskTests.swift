import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import HeartwoodEngine

/// What is refused for want of room takes no room.
@Suite struct `On a full disk` {
  @Test(arguments: [500, 40_000, 300_000])
  func `commits that are refused leave no files and take no room`(bytes: Int) throws {
    let rig = try FullDiskRig()
    rig.options.frameBytes = 16 << 10
    _ = rig.close()
    try rig.open()
    for key in 0..<20 { #expect(rig.put(key, bytes: 900) == nil) }
    rig.leaveRoom(200_000)
    _ = rig.fill(from: 100, bytes: bytes)
    let (files, used) = (try rig.segmentCount(), rig.disk.usedBytes)
    for key in 0..<30 { #expect(rig.put(5000 + key, bytes: bytes) == .noSpace) }
    #expect(try rig.segmentCount() == files)
    #expect(rig.disk.usedBytes <= used)
    try rig.check()
    rig.leaveRoom(nil)
    #expect(rig.put(7000, bytes: bytes) == nil)
    try rig.verify()
    rig.kill()
    try rig.open()
    try rig.verify()
  }

  @Test(arguments: [400_000, 1_200_000])
  func `commits that are refused again and again begin no new files, whatever room comes free`(
    bytes: Int
  ) throws {
    let rig = try FullDiskRig()
    rig.options.frameBytes = 16 << 10
    _ = rig.close()
    try rig.open()
    #expect(rig.put(1, bytes: 900) == nil)
    rig.leaveRoom(bytes / 20)
    #expect(rig.put(2, bytes: bytes) == .noSpace)
    let files = try rig.segmentCount()
    for _ in 0..<10 {
      rig.leaveRoom(bytes / 20)
      #expect(rig.put(2, bytes: bytes) == .noSpace)
      #expect(try rig.segmentCount() == files)
    }
    rig.leaveRoom(bytes / 2)
    #expect(rig.put(2, bytes: bytes) == nil, "what refused commits took is used by the next")
    try rig.verify()
    rig.leaveRoom(nil)
    rig.kill()
    try rig.open()
    try rig.verify()
  }

  @Test func `a power cut after refused commits leaves what was acknowledged`() throws {
    let rig = try FullDiskRig()
    rig.leaveRoom(30_000)
    _ = rig.fill(bytes: 700)
    #expect(rig.put(9000, bytes: 900) == .noSpace)
    rig.leaveRoom(60_000)
    #expect(rig.put(9001, bytes: 600) == nil)
    for image in rig.disk.crashImages() {
      let engine = try Engine(at: "/store", options: rig.options, fileSystem: image.mounted())
      let found = try engine.read { try $0.contents() }
      #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.key, $0.value) }) == rig.model)
    }
  }

  @Test func `a checkpoint that finds no room gives back what it wrote`() throws {
    let rig = try FullDiskRig()
    for key in 0..<2000 { #expect(rig.put(key, bytes: 20, .deferred) == nil) }
    try rig.engine?.checkpoint()
    for key in stride(from: 0, to: 2000, by: 20) { #expect(rig.put(key, bytes: 30) == nil) }
    let used = rig.disk.usedBytes
    for room in stride(from: 4096, to: 8 * 4096, by: 4096) {
      rig.leaveRoom(room)
      #expect(code { try rig.engine?.checkpoint() } == .noSpace)
      #expect(rig.disk.usedBytes <= used + Int64(Format.pageBytes))
    }
    try rig.verify()
    rig.leaveRoom(nil)
    try rig.engine?.checkpoint()
    try rig.verify()
    #expect(rig.close() == nil)
    try rig.open()
    try rig.verify()
  }

  @Test func `a store that is closed without room for its checkpoint opens without recovery`() throws {
    let rig = try FullDiskRig()
    for key in 0..<500 { #expect(rig.put(key, bytes: 20) == nil) }
    rig.leaveRoom(0)
    let used = rig.disk.usedBytes
    for _ in 0..<5 {
      #expect(rig.close() == nil, "everything that was committed is on disk")
      try rig.open()
      try rig.check()
    }
    #expect(rig.disk.usedBytes == used)
    #expect(rig.put(1, bytes: 100) == nil, "the zeros ahead are used")
    rig.leaveRoom(nil)
    try rig.verify()
  }

  @Test func `an opening that finds no room to recover leaves no files`() throws {
    let rig = try FullDiskRig()
    for key in 0..<60 { #expect(rig.put(key, bytes: 2000, .deferred) == nil) }
    rig.kill()
    let (files, used) = (try rig.segmentCount(), rig.disk.usedBytes)
    for room in stride(from: 0, to: 120_000, by: 17_000) {
      rig.leaveRoom(room)
      #expect(rig.tryOpen() == .noSpace, "\(room)")
      #expect(try rig.segmentCount() == files)
      #expect(rig.disk.usedBytes == used)
    }
    rig.leaveRoom(nil)
    try rig.open()
    try rig.verify()
  }

  // MARK: The reserve

  @Test func `a transaction that deletes has the reserve for its frames in the middle, too`() throws {
    let rig = try FullDiskRig.withReserve()
    rig.options.frameBytes = 4 << 10
    _ = rig.close()
    try rig.open()
    rig.leaveRoom(0)
    _ = rig.fill(from: 5000, bytes: 3000)
    #expect(rig.delete(0..<2400) == nil)
    try rig.verify()
    rig.kill()
    try rig.open()
    try rig.verify()
  }

  @Test func `a store that is killed on a full disk before its first checkpoint opens again`() throws {
    let rig = try FullDiskRig()
    rig.options.checkpointBytes = 64 << 20
    _ = rig.close()
    try rig.open()
    rig.leaveRoom(100 << 20)
    for key in 0..<2400 { #expect(rig.put(key, bytes: 1000, .deferred) == nil) }
    #expect(try rig.reserveBytes() != nil)
    rig.leaveRoom(0)
    _ = rig.fill(from: 5000, bytes: 1000)
    rig.kill()
    #expect(rig.tryOpen() == nil)
    try rig.verify()
  }

  @Test func `deleting, reclaiming and opening have the room that the store keeps in reserve`() throws {
    let rig = try FullDiskRig.withReserve()
    let reserve = try #require(try rig.reserveBytes())
    rig.leaveRoom(0)
    _ = rig.fill(from: 5000, bytes: 3000)
    #expect(rig.put(1, bytes: 5000) == .noSpace)
    #expect(try rig.reserveBytes() == reserve, "what grows the store does not get it")
    // An opening after an unclean end recovers, which takes a segment.
    rig.kill()
    try rig.open()
    try rig.verify()
    #expect(try rig.reserveBytes() == nil)
    let used = rig.disk.usedBytes
    #expect(rig.delete(0..<900) == nil)
    #expect(rig.reclaim() == nil)
    #expect(rig.disk.usedBytes < used - 800_000)
    try rig.verify()
    rig.leaveRoom(10 << 20)
    _ = rig.put(7000, bytes: 10)
    try rig.engine?.checkpoint()
    #expect(try rig.reserveBytes() != nil, "laid again when there is room")
  }

  @Test func `a transaction that deletes is committed at once, and none is lost by a power cut then`() throws
  {
    let rig = try FullDiskRig.withReserve()
    rig.leaveRoom(0)
    _ = rig.fill(from: 5000, bytes: 3000)
    _ = rig.fill(from: 5000, bytes: 10)
    #expect(rig.delete(0..<2000) == nil)
    #expect(try rig.reserveBytes() == nil)
    for image in rig.disk.crashImages() {
      let engine = try Engine(at: "/store", options: rig.options, fileSystem: image.mounted())
      let found = try engine.read { try $0.contents() }
      #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.key, $0.value) }) == rig.model)
    }
    try rig.verify()
  }

  @Test(arguments: [120_000, 400_000, 1_500_000])
  func `reclamation that does not fit gives back part by part`(room: Int) throws {
    let rig = try FullDiskRig.withReserve()
    #expect(rig.delete(stride(from: 0, to: 2400, by: 2)) == nil)
    rig.leaveRoom(room)
    let used = rig.disk.usedBytes
    #expect(rig.reclaim() == nil)
    #expect(rig.disk.usedBytes < used - 500_000, "\(used) → \(rig.disk.usedBytes)")
    try rig.verify()
    #expect(rig.put(1, bytes: 5000) == nil)
    rig.leaveRoom(nil)
    rig.kill()
    try rig.open()
    try rig.verify()
  }

  @Test func `reclamation for which there is no room says so, and takes none`() throws {
    // One segment, half of which lives.
    let rig = try FullDiskRig.withReserve(segmentBytes: 16 << 20)
    #expect(rig.delete(stride(from: 0, to: 2400, by: 2)) == nil)
    rig.leaveRoom(200_000)
    let used = rig.disk.usedBytes
    // Some old pages at first; then there is nothing that fits.
    _ = rig.reclaim()
    for _ in 0..<4 { #expect(rig.reclaim() == .noSpace) }
    #expect(rig.disk.usedBytes < used + 50_000)
    rig.leaveRoom(8 << 20)
    #expect(rig.reclaim() == nil)
    #expect(rig.disk.usedBytes < used - 500_000)
    try rig.verify()
  }

  @Test func `a reserve that is cut, too long or no file of zeros does no harm`() throws {
    for bytes in [[], [UInt8](repeating: 7, count: 100_000)] as [[UInt8]] {
      let rig = try FullDiskRig.withReserve()
      rig.kill()
      let directory = try rig.disk.openDirectory("/store")
      try directory.unlink(StoreFolder.reserveName)
      let file = try directory.open(StoreFolder.reserveName, .createNew)
      try file.write(all: bytes, at: 0)
      try rig.open()
      try rig.verify()
      #expect(rig.close() == nil)
    }
  }
}

import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite struct `Shipping` {
  @Test(arguments: StoreKind.allCases)
  func `a store is restored as it was shipped`(kind: StoreKind) throws {
    try kind.withPlace { fileSystem, path in
      var random = SplitMix64(seed: 1)
      let store = try ShippedStore(kind, fileSystem, path)
      for _ in 0..<5 { try store.write(&random) }
      let report = try store.ship()
      #expect(report.isBase && report.piece == 1)
      try store.expectRestored()
      try store.write(&random)
      #expect(try !store.ship().isBase)
      #expect(try store.ship().bytes == 0)
      try store.expectRestored()
      try store.engine.close()
    }
  }

  /// With some seeds a copy ends between a checkpoint and the end of its piece: it has the frame of the checkpoint and not its pages.
  /// Such copies could not be opened once.
  @Test(arguments: zip(StoreKind.allCases, [1, 2, 4, 1, 2, 4, 1] as [UInt64]))
  func `a store is restored to every generation that was shipped`(kind: StoreKind, seed: UInt64) throws {
    try kind.withPlace { fileSystem, path in
      var random = SplitMix64(seed: seed)
      let store = try ShippedStore(kind, fileSystem, path)
      try store.ship()
      let oldest = store.engine.newestGeneration.rawValue
      for step in 0..<(LongRun.isWanted ? 400 : 80) {
        switch random.below(20) {
        case 0...11: try store.write(&random, durability: random.below(3) == 0 ? .deferred : .full)
        case 12: try store.deleteRange(&random)
        case 13: try store.reclaim()
        case 14: try store.checkpoint()
        case 15: try store.reopen()
        case 16: try store.restartShipper()
        default:
          try store.ship()
          try store.expectRestored(.newest, "seed \(seed), step \(step)")
        }
        // Log that is reclaimed before it is shipped cannot be restored.
        try store.ship()
      }
      let newest = store.engine.newestGeneration.rawValue
      for number in oldest...newest {
        try store.expectRestored(
          .generation(Generation(rawValue: number)), "seed \(seed), generation \(number)")
        if number % 6 == 0 { try store.expectGoesOn("seed \(seed), generation \(number)") }
      }
      try store.engine.close()
    }
  }
}

/// Places that are symbolic links.
extension `Shipping` {
  @Test func `a link to a folder is followed, and one that leads elsewhere later is an error`() throws {
    try TemporaryFolder.with { folder in
      let files = FileManager.default
      for name in ["first", "second"] {
        try files.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: false)
      }
      let link = folder + "/current"
      try files.createSymbolicLink(atPath: link, withDestinationPath: "first")
      let place = try FolderDestination(link, creates: true)
      try place.put("lock") { (write) throws(EngineError) in }
      #expect(try files.contentsOfDirectory(atPath: folder + "/first") == ["lock"])
      try files.removeItem(atPath: link)
      #expect(code { _ = try place.list() } == .wentBack)
      try files.createSymbolicLink(atPath: link, withDestinationPath: "second")
      #expect(code { _ = try place.list() } == .wentBack)
      #expect(code { try place.put("lock") { (write) throws(EngineError) in } } == .wentBack)
      #expect(try files.contentsOfDirectory(atPath: folder + "/second") == [])
      #expect(try FolderDestination(link).list() == [])
    }
  }

  @Test func `a link that leads nowhere, and one to a file, are named`() throws {
    try TemporaryFolder.with { folder in
      let files = FileManager.default
      try files.createSymbolicLink(atPath: folder + "/dangling", withDestinationPath: "nowhere")
      try Data().write(to: URL(fileURLWithPath: folder + "/file"))
      try files.createSymbolicLink(atPath: folder + "/linked", withDestinationPath: "file")
      #expect(code { _ = try FolderDestination(folder + "/dangling", creates: true) } == .notFound)
      #expect(try !files.contentsOfDirectory(atPath: folder).contains("nowhere"))
      for name in ["file", "linked"] {
        #expect(code { _ = try FolderDestination(folder + "/" + name, creates: true) } == .notAStore)
      }
    }
  }
}

/// Restores by time, and the pieces that are kept.
extension `Shipping` {
  /// The clock of the store counts commits, and its clock went back once.
  @Test func `a store is restored to a time, and the later transaction counts where the clock went back`()
    throws
  {
    let fileSystem = MemoryFileSystem()
    let clock = SetClock()
    var options = StoreKind.memoryMapped.processOptions
    options.clock = clock
    let engine = try Engine(at: "/store", options: options, fileSystem: fileSystem)
    let place = try FolderDestination("/place", creates: true, fileSystem: fileSystem)
    let shipper = Shipper(engine, to: place, options: .testing)
    let times: [Int64] = [100, 200, 150, 300, 300, 400]
    for (number, time) in times.enumerated() {
      clock.time = time
      try engine.write { try $0.put("time", [UInt8(number)]) }
      if number % 2 == 0 { try shipper.ship() }
    }
    try shipper.ship()
    try engine.close()
    let wanted: [(Int64, Int)] = [
      (100, 0), (149, 0), (150, 2), (250, 2), (300, 4), (399, 4), (400, 5), (.max, 5),
    ]
    for (time, number) in wanted {
      let path = "/at \(time)"
      try Restoration(from: place).restore(to: path, at: .time(time), fileSystem: fileSystem)
      let restored = try Engine(at: path, options: options, fileSystem: fileSystem)
      #expect(try restored.get("time") == [UInt8(number)], "\(time)")
      try restored.close()
    }
    #expect(
      code { try Restoration(from: place).restore(to: "/none", at: .time(99), fileSystem: fileSystem) }
        == .generationUnavailable)
  }

  @Test func `pieces are removed when a base is older than the retention, and none before that`() throws {
    var random = SplitMix64(seed: 8)
    let fileSystem = MemoryFileSystem()
    let clock = SetClock()
    var shipping = ShippingOptions.testing
    (shipping.clock, shipping.baseSeconds, shipping.retentionSeconds) = (clock, 10, 30)
    let store = try ShippedStore(.memoryMapped, fileSystem, "/store", shipping: shipping)
    var oldest: [UInt64] = []
    for second in 0..<100 {
      clock.time = Int64(second) * 1_000_000_000
      try store.write(&random)
      try store.ship()
      oldest.append(try PieceList(store.place()).numbers[0])
      let bases = try PieceList(store.place()).bases
      let ages = try bases.map { number in
        let header = try PieceList(store.place()).open(number).header
        return second - Int(header.shipped / 1_000_000_000)
      }
      // One base is older, so that each moment of the time can be restored; before that, all are there.
      #expect(ages.count { $0 >= 30 } <= 1 && (second < 40 || ages[0] >= 30), "second \(second): \(ages)")
    }
    #expect(oldest[30] == 1 && oldest[99] > 1)
    try store.expectRestored()
    try store.engine.close()
  }

  @Test func `two processes do not ship to one folder`() throws {
    var random = SplitMix64(seed: 9)
    let fileSystem = MemoryFileSystem()
    let store = try ShippedStore(.memoryMapped, fileSystem, "/store")
    try store.write(&random)
    try store.ship()
    let other = Shipper(store.engine, to: try store.place(), options: store.shipping)
    try store.write(&random)
    #expect(code { try other.ship() } == .locked)
    try store.ship()
    try store.engine.close()
  }
}

/// A clock that shows what it is set to.
private final class SetClock: WallClock, @unchecked Sendable {
  private let now = Guarded<Int64>(0)

  var time: Int64 {
    get { now.withLock { $0 } }
    set { now.withLock { $0 = newValue } }
  }

  var nanosecondsSince1970: Int64 { time }
}

import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite struct `Following a store` {
  @Test(arguments: zip(StoreKind.allCases, [1, 2, 3, 1, 2, 3, 1] as [UInt64]))
  func `readers of a follower see each generation that it copies`(kind: StoreKind, seed: UInt64) throws {
    try kind.withPlace { fileSystem, path in
      var random = SplitMix64(seed: seed)
      let store = try ShippedStore(kind, fileSystem, path)
      try store.ship()
      var follower = try store.follower()
      try follower.advance()
      var options = kind.processOptions
      options.access = .readOnly
      let reader = try Engine(at: store.followerPath, options: options, fileSystem: fileSystem)
      var held: [Snapshot] = []
      for step in 0..<(LongRun.isWanted ? 600 : 150) {
        let comment: Comment = "seed \(seed), step \(step)"
        switch random.below(20) {
        case 0...9: try store.write(&random, durability: random.below(3) == 0 ? .deferred : .full)
        case 10: try store.deleteRange(&random)
        case 11: try store.reclaim()
        case 12: try store.checkpoint()
        case 13: try store.reopen()
        case 14: try store.restartShipper()
        case 15:
          follower.close()
          follower = try store.follower()
        default:
          let shipped = try store.ship()
          let copied = try follower.advance()
          #expect(copied.generation == shipped.generation, comment)
          #expect(copied.piece == shipped.piece, comment)
          let snapshot = try reader.snapshot()
          #expect(snapshot.generation == copied.generation, comment)
          try snapshot.expect(try #require(store.models[snapshot.generation], comment), comment)
          try store.open(store.followerPath) { newcomer in
            #expect(newcomer.newestGeneration == copied.generation, comment)
            try newcomer.snapshot().expect(store.models[copied.generation] ?? [:], comment)
            let report = try newcomer.verify()
            #expect(report.isSound, "\(comment): \(report.findings)")
          }
          if random.below(4) == 0 { held.append(snapshot) }
        }
      }
      for snapshot in held {
        try snapshot.expect(store.models[snapshot.generation] ?? [:], "held, seed \(seed)")
      }
      held = []
      try reader.close()
      follower.close()
      try store.engine.close()
    }
  }

  @Test
  func `a follower's store can be opened for writing when it is released, and is not followed any more then`()
    throws
  {
    var random = SplitMix64(seed: 4)
    let fileSystem = MemoryFileSystem()
    let store = try ShippedStore(.memoryMapped, fileSystem, "/store")
    try store.write(&random)
    try store.ship()
    let follower = try store.follower()
    try follower.advance()
    let options = store.kind.processOptions
    var impatient = options
    impatient.busyTimeout = 0
    #expect(
      code { _ = try Engine(at: store.followerPath, options: impatient, fileSystem: fileSystem) } == .locked)
    follower.close()
    let promoted = try Engine(at: store.followerPath, options: options, fileSystem: fileSystem)
    try promoted.snapshot().expect(store.model, "promoted")
    try promoted.write { try $0.put("mine", [1]) }
    try promoted.close()
    #expect(code { try follower.advance() } == .diverged)
    try store.engine.close()
  }

  @Test func `a follower waits for what was not shipped yet`() throws {
    var random = SplitMix64(seed: 5)
    let fileSystem = MemoryFileSystem()
    let store = try ShippedStore(.memoryMapped, fileSystem, "/store")
    try store.write(&random)
    try store.ship()
    let follower = try store.follower()
    let first = try follower.advance()
    try store.write(&random)
    for _ in 0..<3 {
      let again = try follower.advance()
      #expect(again.bytes == 0 && again.generation == first.generation)
    }
    try store.ship()
    #expect(try follower.advance().generation == store.engine.newestGeneration)
    follower.close()
    try store.engine.close()
  }

  @Test func `the first report counts the bytes of the first copy, and running reports it`() throws {
    var random = SplitMix64(seed: 6)
    let fileSystem = MemoryFileSystem()
    let store = try ShippedStore(.memoryMapped, fileSystem, "/store")
    try store.write(&random)
    let shipped = try store.ship()
    let follower = try store.follower()
    var first: FollowingReport?
    follower.run { outcome in
      first = try? outcome.get()
      return false
    }
    let report = try #require(first)
    #expect(report.bytes > 0 && report.bytes <= shipped.bytes, "\(report.bytes) of \(shipped.bytes)")
    #expect(try follower.advance().bytes == 0)
    follower.close()
    try store.engine.close()
  }

  @Test(arguments: [false, true])
  func `a place that was moved away is an error for both sides, also where a copy is put there`(
    isReplaced: Bool
  ) throws {
    try TemporaryFolder.with { folder in
      var random = SplitMix64(seed: 7)
      let store = try ShippedStore(.posixMapped, PosixFileSystem(), folder + "/store")
      try store.write(&random)
      try store.ship()
      let follower = try store.follower()
      try follower.advance()
      let files = FileManager.default
      try files.moveItem(atPath: store.placePath, toPath: folder + "/moved")
      if isReplaced { try files.copyItem(atPath: folder + "/moved", toPath: store.placePath) }
      #expect(code { try follower.advance() } == .wentBack)
      try store.write(&random)
      #expect(code { try store.ship() } == .wentBack)
      if isReplaced { try files.removeItem(atPath: store.placePath) }
      try files.moveItem(atPath: folder + "/moved", toPath: store.placePath)
      try store.ship()
      #expect(try follower.advance().generation == store.engine.newestGeneration)
      follower.close()
      try store.engine.close()
    }
  }

  @Test(arguments: ["anchor", "following", "folder", "exchanged"])
  func `a follower says once that its copy is not what it wrote any more, and makes it again`(lost: String)
    throws
  {
    try TemporaryFolder.with { folder in
      var random = SplitMix64(seed: 8)
      let store = try ShippedStore(.posixMapped, PosixFileSystem(), folder + "/store")
      try store.write(&random)
      try store.ship()
      let follower = try store.follower()
      try follower.advance()
      let files = FileManager.default
      switch lost {
      case "folder": try files.moveItem(atPath: store.followerPath, toPath: folder + "/moved")
      case "exchanged":
        try files.copyItem(atPath: store.followerPath, toPath: folder + "/other")
        try files.moveItem(atPath: store.followerPath, toPath: folder + "/moved")
        try files.moveItem(atPath: folder + "/other", toPath: store.followerPath)
      case "following":
        try files.removeItem(atPath: store.followerPath + "/" + PieceFormat.followingName)
      default: try files.removeItem(atPath: store.followerPath + "/" + lost)
      }
      #expect(code { try follower.advance() } == .replaced)
      try store.write(&random)
      try store.ship()
      if lost == "following" {
        // It is a store of its own now, which is not overwritten.
        #expect(code { try follower.advance() } == .exists)
      } else {
        #expect(try follower.advance().generation == store.engine.newestGeneration)
        follower.close()
        var options = store.kind.processOptions
        options.access = .readOnly
        let copy = try Engine(at: store.followerPath, options: options, fileSystem: store.fileSystem)
        try copy.snapshot().expect(store.model, "\(lost)")
        try copy.close()
      }
      follower.close()
      try store.engine.close()
    }
  }

  @Test func `a follower of nothing says that nothing was shipped`() throws {
    let fileSystem = MemoryFileSystem()
    let place = try FolderDestination("/place", creates: true, fileSystem: fileSystem)
    let follower = Follower(from: place, to: "/follower", fileSystem: fileSystem)
    #expect(code { try follower.advance() } == .notFound)
  }

  @Test func `a follower that was away for longer than the retention goes on from a base`() throws {
    var random = SplitMix64(seed: 6)
    let fileSystem = MemoryFileSystem()
    var shipping = ShippingOptions.testing
    (shipping.retentionSeconds, shipping.baseBytes) = (0, 16 << 10)
    let store = try ShippedStore(.memoryMapped, fileSystem, "/store", shipping: shipping)
    try store.write(&random)
    try store.ship()
    let follower = try store.follower()
    try follower.advance()
    for _ in 0..<200 {
      try store.write(&random)
      try store.ship()
    }
    #expect(try !store.place().list().contains(PieceName(2, isBase: false).text))
    #expect(try follower.advance().generation == store.engine.newestGeneration)
    try store.open(store.followerPath) { try $0.snapshot().expect(store.model, "after a base") }
    follower.close()
    try store.engine.close()
  }
}

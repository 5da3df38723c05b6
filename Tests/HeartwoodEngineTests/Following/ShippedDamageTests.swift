import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Everything that can happen to a shipped file: the result is what was shipped, or an error with a name.
@Suite struct `Damage of shipped pieces` {
  /// A destination with bases and pieces, and what each generation contained.
  private struct Shipped {
    let files: StoreFiles
    let models: [Generation: Model]
    let newest: Generation
    /// The folder of a follower that has copied about half of the pieces.
    let halfway: StoreFiles

    init(seed: UInt64) throws {
      var random = SplitMix64(seed: seed)
      let fileSystem = MemoryFileSystem()
      var shipping = ShippingOptions.testing
      (shipping.baseBytes, shipping.pieceBytes) = (12 << 10, 3 << 10)
      let store = try ShippedStore(.memoryBuffered, fileSystem, "/store", shipping: shipping)
      try store.ship()
      let follower = try store.follower()
      var half: StoreFiles?
      for step in 0..<26 {
        try store.write(&random)
        if step % 9 == 8 { try store.checkpoint() }
        try store.ship()
        if step == 13 {
          try follower.advance()
          follower.close()
          half = try StoreFiles(fileSystem, at: store.followerPath)
        }
      }
      (models, newest) = (store.models, store.engine.newestGeneration)
      try store.engine.close()
      files = try StoreFiles(fileSystem, at: store.placePath)
      halfway = try #require(half)
    }

    var names: [String] { files.files.keys.filter { PieceName($0) != nil }.sorted() }
  }

  private static let named: Set<EngineError.Code> = [
    .missingPiece, .damaged, .wentBack, .newerFormat, .notFound, .otherStore, .otherLineage, .notAStore,
  ]

  /// Restores from, and follows, the damaged files; then follows the whole ones.
  private func expectEqualOrNamed(
    _ damaged: StoreFiles, _ shipped: Shipped, mayBeOlder: Bool = false, _ comment: Comment
  ) throws {
    let fileSystem = MemoryFileSystem()
    try fileSystem.createDirectory("/place")
    try damaged.replace(in: fileSystem, at: "/place")
    let place: FolderDestination
    do { place = try FolderDestination("/place", fileSystem: fileSystem) } catch {
      #expect(Self.named.contains(error.code), comment)
      return
    }
    do {
      let report = try Restoration(from: place).restore(to: "/restored", fileSystem: fileSystem)
      #expect(report.generation == shipped.newest || mayBeOlder, comment)
      try expect("/restored", shipped, fileSystem, comment)
    } catch let error as EngineError {
      #expect(Self.named.contains(error.code), "\(comment): \(error)")
      #expect(error.file != nil, "\(comment): \(error)")
      #expect(try !fileSystem.openDirectory("/restored").entries().contains("anchor"), comment)
    }
    try fileSystem.createDirectory("/follower")
    try shipped.halfway.replace(in: fileSystem, at: "/follower")
    let follower = Follower(from: place, to: "/follower", fileSystem: fileSystem)
    do {
      let report = try follower.advance()
      #expect(report.generation == shipped.newest || mayBeOlder, comment)
    } catch {
      #expect(Self.named.contains(error.code), "\(comment): \(error)")
      #expect(error.file != nil, "\(comment): \(error)")
    }
    try expect("/follower", shipped, fileSystem, comment)
    try shipped.files.replace(in: fileSystem, at: "/place")
    #expect(try follower.advance().generation == shipped.newest, comment)
    try expect("/follower", shipped, fileSystem, comment)
    follower.close()
  }

  private func expect(
    _ path: String, _ shipped: Shipped, _ fileSystem: MemoryFileSystem, _ comment: Comment
  ) throws {
    var options = StoreKind.memoryBuffered.processOptions
    options.access = .readOnly
    let engine = try Engine(at: path, options: options, fileSystem: fileSystem)
    let model = try #require(shipped.models[engine.newestGeneration], comment)
    try engine.snapshot().expect(model, comment)
    try engine.close()
  }

  @Test func `a piece that is deleted is noticed`() throws {
    let shipped = try Shipped(seed: 1)
    #expect(shipped.names.filter { $0.hasSuffix("base") }.count > 2)
    for name in shipped.names {
      var damaged = shipped.files
      damaged.files[name] = nil
      // Without the newest piece the destination is what it was before that was shipped.
      try expectEqualOrNamed(damaged, shipped, mayBeOlder: name == shipped.names.last, "without \(name)")
    }
  }

  @Test func `where a base or a piece after it is missing, a base is shipped, also when nothing is new`()
    throws
  {
    for (restarts, hasNews) in [(true, true), (true, false), (false, true), (false, false)] {
      for victim in 1..<6 {
        var random = SplitMix64(seed: 5)
        let clock = SimulatedClock()
        var shipping = ShippingOptions.testing
        (shipping.pieceBytes, shipping.clock) = (1, clock)
        let store = try ShippedStore(.memoryBuffered, MemoryFileSystem(), "/store", shipping: shipping)
        for _ in 0..<6 {
          try store.write(&random)
          try store.ship()
        }
        let place = try store.fileSystem.openDirectory(store.placePath)
        let names = try place.entries().filter { PieceName($0) != nil }.sorted()
        try #require(names.count == 6 && names[0].hasSuffix("base"))
        try place.unlink(names[victim - 1])
        if hasNews { try store.write(&random) }
        if restarts { try store.restartShipper() } else { clock.jump(by: 61_000_000_000) }
        let comment: Comment = "piece \(victim), restarts \(restarts), news \(hasNews)"
        let report = try store.ship()
        #expect(report.isBase && report.piece == 7, comment)
        try store.expectRestored(.newest, comment)
        #expect(try store.ship().bytes == 0, comment)
        try store.engine.close()
      }
    }
  }

  @Test func `a piece that is cut or too long is noticed`() throws {
    let shipped = try Shipped(seed: 2)
    for name in shipped.names {
      let bytes = shipped.files.files[name] ?? []
      for length in [0, 1, 100, 255, 256, 300, bytes.count / 2, bytes.count - 1] where length < bytes.count {
        var damaged = shipped.files
        damaged.files[name] = Array(bytes.prefix(length))
        try expectEqualOrNamed(damaged, shipped, "\(name) cut to \(length)")
      }
      var damaged = shipped.files
      damaged.files[name] = bytes + [0]
      try expectEqualOrNamed(damaged, shipped, "\(name) and one byte more")
    }
  }

  @Test(arguments: [3] as [UInt64])
  func `a flipped bit of a piece is noticed`(seed: UInt64) throws {
    let shipped = try Shipped(seed: seed)
    var random = SplitMix64(seed: seed)
    for name in shipped.names {
      let bytes = shipped.files.files[name] ?? []
      let offsets = Array(stride(from: 0, to: 256, by: 8)) + (0..<6).map { _ in random.below(bytes.count) }
      for offset in offsets {
        var damaged = shipped.files
        damaged.files[name]?[offset] ^= 1 << UInt8(random.below(8))
        try expectEqualOrNamed(damaged, shipped, "\(name) at \(offset), seed \(seed)")
      }
    }
  }

  @Test func `a piece under another name, and two that have changed places, are noticed`() throws {
    let shipped = try Shipped(seed: 5)
    let last = try #require(shipped.names.last.flatMap(PieceName.init)?.number)
    for name in shipped.names {
      for (number, isBase) in [(last + 1, false), (last + 1, true), (last + 7, false), (3, true), (4, false)]
      {
        var damaged = shipped.files
        damaged.files[PieceName(number, isBase: isBase).text] = shipped.files.files[name]
        try expectEqualOrNamed(damaged, shipped, "\(name) as \(number), \(isBase)")
      }
      for other in shipped.names where other > name {
        var damaged = shipped.files
        (damaged.files[name], damaged.files[other]) = (damaged.files[other], damaged.files[name])
        try expectEqualOrNamed(damaged, shipped, "\(name) and \(other) exchanged")
      }
    }
  }

  @Test func `a destination that goes back to what it was is noticed by the shipper and the follower`() throws
  {
    var random = SplitMix64(seed: 6)
    let fileSystem = MemoryFileSystem()
    let store = try ShippedStore(.memoryBuffered, fileSystem, "/store")
    try store.write(&random)
    try store.ship()
    let follower = try store.follower()
    try follower.advance()
    let earlier = try StoreFiles(fileSystem, at: store.placePath)
    try store.write(&random)
    try store.ship()
    try follower.advance()
    try earlier.replace(in: fileSystem, at: store.placePath)
    #expect(code { try follower.advance() } == .wentBack)
    try store.write(&random)
    #expect(code { try store.ship() } == .wentBack)
    // A shipper that begins anew goes on; the follower has another piece of that number.
    try store.restartShipper()
    try store.ship()
    try store.expectRestored()
    let outcome = code { try follower.advance() }
    #expect(outcome == nil || outcome == .damaged)
    try store.open(store.followerPath) { copy in
      try copy.snapshot().expect(store.models[copy.newestGeneration] ?? [:], "after \(outcome)")
    }
    follower.close()
    try store.engine.close()
  }
}

import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// A machine with a store, its destination and its follower loses its power, at any call.
@Suite struct `Crashes beside a shipper and a follower` {
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `shipping and following go on after a crash, and nothing that was shipped is lost`(seed: UInt64) throws
  {
    let disk = SimulatedFileSystem()
    var random = SplitMix64(seed: seed)
    let crashes = SampledCrashes(disk, seed: seed)
    let observed = FaultInjectingFileSystem(base: disk) { _ in crashes.noteCall() }
    var shipping = ShippingOptions.testing
    (shipping.baseBytes, shipping.pieceBytes) = (24 << 10, 3 << 10)
    let store = try ShippedStore(.simulated, observed, "/store", shipping: shipping)
    try store.ship()
    let follower = try store.follower()
    for step in 0..<24 {
      try store.write(&random, durability: random.below(2) == 0 ? .deferred : .full)
      if random.below(3) > 0 { crashes.shipped = try store.ship().generation }
      if random.below(2) == 0 { try follower.advance() }
      if step % 8 == 5 { try store.checkpoint() }
      if step % 8 == 7 { try store.reclaim() }
    }
    follower.close()
    try store.engine.close()
    #expect(crashes.images.count > 30)
    for (image, shipped) in crashes.images {
      try expectRecovered(image, shipped, store, "seed \(seed), \(image)")
    }
  }

  private func expectRecovered(
    _ image: CrashImage, _ shipped: Generation, _ store: ShippedStore, _ comment: Comment
  ) throws {
    let disk = image.mounted()
    guard try exists("/place", disk), try !disk.openDirectory("/place").entries().isEmpty else { return }
    let place = try FolderDestination("/place", fileSystem: disk)
    // The pieces at the destination are a backup as they are.
    if try !PieceList(place).numbers.isEmpty {
      let restored = try Restoration(from: place).restore(to: "/restored", fileSystem: disk)
      #expect(restored.generation >= shipped, comment)
      try expect("/restored", store.models, disk, comment)
    }
    // So is what a follower has copied.
    if try exists("/follower", disk), try disk.openDirectory("/follower").entries().contains("anchor") {
      try expect("/follower", store.models, disk, comment)
    }
    // Both go on with the recovered store.
    let engine = try Engine(at: "/store", options: StoreKind.simulated.processOptions, fileSystem: disk)
    #expect(engine.newestGeneration >= shipped, comment)
    let shipper = Shipper(engine, to: place, options: store.shipping)
    let follower = Follower(from: place, to: "/follower", fileSystem: disk)
    for round in 0..<3 {
      let report = try shipper.ship()
      #expect(try follower.advance().generation == report.generation, comment)
      let model = try engine.snapshot().model()
      try expect("/follower", [report.generation: model], disk, comment)
      try engine.write { try $0.put("after \(round)", [1, 2, 3]) }
    }
    follower.close()
    try engine.close()
  }

  private func exists(_ path: String, _ disk: SimulatedFileSystem) throws -> Bool {
    do {
      _ = try disk.openDirectory(path)
      return true
    } catch {
      guard error.code == .notFound else { throw error }
      return false
    }
  }

  private func expect(
    _ path: String, _ models: [Generation: Model], _ disk: SimulatedFileSystem, _ comment: Comment
  ) throws {
    var options = StoreKind.simulated.processOptions
    options.access = .readOnly
    let engine = try Engine(at: path, options: options, fileSystem: disk)
    let model = try #require(models[engine.newestGeneration], comment)
    try engine.snapshot().expect(model, comment)
    try engine.close()
  }
}

/// Images of crashes at some of the calls of a test.
private final class SampledCrashes: @unchecked Sendable {
  private let disk: SimulatedFileSystem
  private var random: SplitMix64
  private(set) var images: [(image: CrashImage, shipped: Generation)] = []
  /// The newest generation that is at the destination for certain.
  var shipped = Generation(rawValue: 0)

  init(_ disk: SimulatedFileSystem, seed: UInt64) {
    self.disk = disk
    random = SplitMix64(seed: seed)
  }

  func noteCall() {
    guard random.below(LongRun.isWanted ? 2 : 30) == 0 else { return }
    var limits = CrashImageLimits()
    limits.imageCount = 3
    images += Array(disk.crashImages(limits)).map { ($0, shipped) }
  }
}

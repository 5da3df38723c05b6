import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// A store that is shipped to a folder, with what each generation contained.
final class ShippedStore {
  let kind: StoreKind
  let fileSystem: any FileSystem
  let path: String
  private(set) var engine: Engine
  private(set) var model: Model = [:]
  private(set) var models: [Generation: Model] = [:]
  private(set) var shipper: Shipper
  var shipping: ShippingOptions

  var placePath: String { path.replacing("/store", with: "/place") }
  var followerPath: String { path.replacing("/store", with: "/follower") }
  var restoredPath: String { path.replacing("/store", with: "/restored") }

  init(
    _ kind: StoreKind, _ fileSystem: any FileSystem, _ path: String,
    shipping: ShippingOptions = ShippingOptions.testing
  ) throws {
    self.kind = kind
    self.fileSystem = fileSystem
    self.path = path
    self.shipping = shipping
    engine = try Engine(at: path, options: kind.processOptions, fileSystem: fileSystem)
    shipper = try Self.shipper(engine, path.replacing("/store", with: "/place"), shipping, fileSystem)
    models[engine.newestGeneration] = model
  }

  private static func shipper(
    _ engine: Engine, _ place: String, _ options: ShippingOptions, _ fileSystem: any FileSystem
  ) throws -> Shipper {
    let place = try FolderDestination(place, creates: true, fileSystem: fileSystem)
    return Shipper(engine, to: place, options: options)
  }

  // MARK: The store

  /// Changes some keys in one transaction.
  func write(_ random: inout SplitMix64, durability: Durability? = nil) throws {
    var next = model
    try engine.write(durability: durability) { transaction in
      for _ in 0..<(1 + random.below(20)) {
        let key = [UInt8]("key \(random.below(60))".utf8)
        if random.below(5) == 0 {
          try transaction.delete(key)
          next[key] = nil
        } else {
          let count = random.below(random.below(8) == 0 ? 6000 : 200)
          next[key] = random.below(2) == 0 ? random.bytes(count) : random.compressibleBytes(count)
          try transaction.put(key, next[key] ?? [])
        }
      }
    }
    note(next)
  }

  /// Deletes a range of keys in one transaction.
  func deleteRange(_ random: inout SplitMix64) throws {
    let first = [UInt8]("key \(random.below(60))".utf8)
    var next = model
    _ = try engine.write { try $0.deleteRange(KeyRange(from: first, to: [UInt8]("key 5".utf8))) }
    for key in model.keys
    where !key.lexicographicallyPrecedes(first) && key.lexicographicallyPrecedes([UInt8]("key 5".utf8)) {
      next[key] = nil
    }
    note(next)
  }

  private func note(_ next: Model) {
    noteInternal()
    model = next
    models[engine.newestGeneration] = next
  }

  /// Generations that the store makes itself have the contents of the one before.
  private func noteInternal() {
    let known = models.keys.max()?.rawValue ?? 0
    let newest = engine.newestGeneration.rawValue
    guard newest > known + 1 else { return }
    for number in known + 1..<newest { models[Generation(rawValue: number)] = model }
  }

  func reclaim() throws {
    try engine.reclaim()
    let newest = engine.newestGeneration
    noteInternal()
    models[newest] = model
  }

  func checkpoint() throws { try engine.checkpoint() }

  func reopen() throws {
    try engine.close()
    engine = try Engine(at: path, options: kind.processOptions, fileSystem: fileSystem)
    models[engine.newestGeneration] = model
    noteInternal()
    try restartShipper()
  }

  // MARK: Shipping

  @discardableResult
  func ship() throws -> ShippingReport { try shipper.ship() }

  func restartShipper() throws { shipper = try Self.shipper(engine, placePath, shipping, fileSystem) }

  func place() throws -> FolderDestination { try FolderDestination(placePath, fileSystem: fileSystem) }

  func follower() throws -> Follower {
    Follower(from: try place(), to: followerPath, fileSystem: fileSystem)
  }

  /// Restores to a new folder, and calls `body` with the restored store, open for reading.
  @discardableResult
  func restore(_ target: RestoreTarget = .newest, _ body: (Engine) throws -> Void) throws -> RestoreReport {
    try Engine.destroy(at: restoredPath, fileSystem: fileSystem)
    let report = try Restoration(from: try place()).restore(
      to: restoredPath, at: target, fileSystem: fileSystem)
    try open(restoredPath, body)
    return report
  }

  func open(_ path: String, _ body: (Engine) throws -> Void) throws {
    var options = kind.processOptions
    options.access = .readOnly
    let engine = try Engine(at: path, options: options, fileSystem: fileSystem)
    try body(engine)
    try engine.close()
  }

  func expectRestored(_ target: RestoreTarget = .newest, _ comment: Comment = "") throws {
    try restore(target) { restored in
      let generation = restored.newestGeneration
      if case .generation(let wanted) = target { #expect(generation == wanted, comment) }
      let model = try #require(models[generation], comment)
      try restored.snapshot().expect(model, comment)
      let report = try restored.verify()
      #expect(report.isSound, "\(comment): \(report.findings)")
    }
  }

  /// Expects that the restored store can be written, and is read beside the writer and after it.
  func expectGoesOn(_ comment: Comment) throws {
    let writer = try Engine(at: restoredPath, options: kind.processOptions, fileSystem: fileSystem)
    var expected = try writer.snapshot().model()
    let key = [UInt8]("later".utf8)
    expected[key] = [UInt8](repeating: 1, count: 100)
    try writer.write { try $0.put(key, expected[key] ?? []) }
    try open(restoredPath) { try $0.snapshot().expect(expected, comment) }
    try writer.close()
    try open(restoredPath) { restored in
      try restored.snapshot().expect(expected, comment)
      #expect(try restored.verify().isSound, comment)
    }
  }
}

extension ShippingOptions {
  /// Small pieces, and bases that are due after few bytes.
  static var testing: ShippingOptions {
    ShippingOptions(
      baseBytes: 96 << 10, pieceBytes: 8 << 10, pauseSeconds: 0, clock: CountingClock(),
      entropy: SeededEntropy(seed: 11))
  }
}

extension StoreFiles {
  /// Replaces everything in a folder by these files.
  func replace(in fileSystem: any FileSystem, at path: String) throws {
    let directory = try fileSystem.openDirectory(path)
    for name in try directory.entries() { try directory.unlink(name) }
    for (name, bytes) in files {
      let file = try directory.open(name, .createNew)
      try bytes.withUnsafeBytes { try file.writeFully($0, at: 0) }
      try file.close()
    }
  }
}

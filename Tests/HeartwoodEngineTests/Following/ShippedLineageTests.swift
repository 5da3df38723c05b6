import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite struct `Lineages of shipped stores` {
  @Test func `a restored store is not shipped to the place of the former one`() throws {
    var random = SplitMix64(seed: 1)
    let fileSystem = MemoryFileSystem()
    let store = try ShippedStore(.memoryMapped, fileSystem, "/store")
    for _ in 0..<5 { try store.write(&random) }
    try store.ship()
    try store.restore { _ in }
    let restored = try Engine(
      at: store.restoredPath, options: store.kind.processOptions, fileSystem: fileSystem)
    let shipper = Shipper(restored, to: try store.place(), options: store.shipping)
    #expect(code { try shipper.ship() } == .otherLineage)
    let elsewhere = try FolderDestination("/elsewhere", creates: true, fileSystem: fileSystem)
    try Shipper(restored, to: elsewhere, options: store.shipping).ship()
    try restored.close()
    // A follower of the former one does not follow the restored one.
    let follower = try store.follower()
    try follower.advance()
    follower.close()
    let astray = Follower(from: elsewhere, to: store.followerPath, fileSystem: fileSystem)
    #expect(code { try astray.advance() } == .otherLineage)
    try store.engine.close()
  }

  @Test func `another store is not shipped to the place of the first`() throws {
    var random = SplitMix64(seed: 2)
    let fileSystem = MemoryFileSystem()
    let store = try ShippedStore(.memoryMapped, fileSystem, "/store")
    try store.write(&random)
    try store.ship()
    var options = store.kind.processOptions
    options.entropy = SeededEntropy(seed: 99)
    let other = try Engine(at: "/other", options: options, fileSystem: fileSystem)
    #expect(code { try Shipper(other, to: try store.place(), options: store.shipping).ship() } == .otherStore)
    try other.close()
    try store.engine.close()
  }

  @Test func `a damaged file of the lineage is named, and no other lineage begins`() throws {
    var random = SplitMix64(seed: 4)
    let fileSystem = MemoryFileSystem()
    let store = try ShippedStore(.memoryMapped, fileSystem, "/store")
    try store.write(&random)
    try store.ship()
    let file = try fileSystem.openDirectory("/store").open("lineage", .readWrite)
    try file.write(all: [1], at: 20)
    try file.close()
    try store.write(&random)
    try store.restartShipper()
    #expect(code { try store.ship() } == .damaged)
    #expect(try store.engine.verify().findings.contains { $0.contains("lineage") })
    try store.engine.close()
  }

  @Test func `a store that was replaced by an older copy of its folder is not shipped on`() throws {
    var random = SplitMix64(seed: 3)
    let fileSystem = MemoryFileSystem()
    let store = try ShippedStore(.memoryMapped, fileSystem, "/store")
    try store.write(&random)
    try store.ship()
    try store.engine.close()
    let copy = try StoreFiles(fileSystem)
    try store.reopen()
    for _ in 0..<3 { try store.write(&random) }
    try store.ship()
    try store.engine.close()
    try copy.replace(in: fileSystem, at: "/store")
    let older = try Engine(at: "/store", options: store.kind.processOptions, fileSystem: fileSystem)
    let shipper = Shipper(older, to: try store.place(), options: store.shipping)
    #expect(code { try shipper.ship() } == .diverged)
    for _ in 0..<6 { try older.write { try $0.put("other", [1]) } }
    #expect(code { try shipper.ship() } == .diverged)
    try older.close()
  }
}

import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct StoreOpeningTests {
  private func fill(_ url: URL, _ world: StoreWorld, seed: UInt64) throws -> StoreWorkload {
    let store = try LogStore.open(at: url, model: world.model, options: .quick)
    var script = StoreWorkload(world, seed: seed)
    for _ in 0..<20 { try script.save(to: store) }
    try store.close()
    return script
  }

  @Test func `a store opened with another model reports the differences`() throws {
    try StorePlace.disk.use { url in
      _ = try fill(url, StoreWorld(), seed: 1)
      let other = StoreWorld()
      other.country.ownProperties.append(AttributeDescription(name: "flag", type: .binaryData))
      other.village.ownProperties = []
      let error = #expect(throws: HeartwoodError.self) { try LogStore.open(at: url, model: other.model) }
      #expect(error?.code == .persistentStoreIncompatibleVersionHash)
      #expect(error?.message.contains("Country.flag is new") == true)
      #expect(error?.message.contains("Village.founded is missing") == true)
      #expect(error?.message.contains("Tour") == false)
    }
  }

  @Test func `an index that is new in the model is built when the store is opened, and dropped again`() throws
  {
    try StorePlace.disk.use { url in
      let script = try fill(url, StoreWorld(), seed: 2)
      let world = StoreWorld(extraIndex: true)
      let store = try LogStore.open(at: url, model: world.model, options: .quick)
      let index = try #require(store.indexes(of: world.country).first { $0.name == "byArea" })
      #expect(try store.view().indexCount(index, .all) == script.mirror.keys(world.country).count)
      #expect(try store.verify().findings == [])
      try store.close()

      let plain = try LogStore.open(at: url, model: StoreWorld().model, options: .quick)
      #expect(try plain.verify().findings == [])
      try plain.close()
    }
  }

  @Test func `a store open for reading only refuses saves and works without new indexes`() throws {
    try StorePlace.disk.use { url in
      let script = try fill(url, StoreWorld(), seed: 3)
      let world = StoreWorld(extraIndex: true)
      let store = try LogStore.open(at: url, model: world.model, options: LogStoreOptions(isReadOnly: true))
      #expect(!store.indexes(of: world.country).contains { $0.name == "byArea" })
      try script.mirror.check(try store.view(), world, store.identity)
      #expect(throws: HeartwoodError.self) { try store.save { _ in } }
      #expect(throws: HeartwoodError.self) { try store.reserveKeys(world.country, 1) }
      try store.close()
    }
  }

  @Test func `two stores on one path share an engine, and the last one closes it`() throws {
    try StorePlace.disk.use { url in
      let world = StoreWorld()
      let first = try LogStore.open(at: url, model: world.model, options: .quick)
      let second = try LogStore.open(at: url, model: StoreWorld().model, options: .quick)
      var script = StoreWorkload(world, seed: 4)
      try script.save(to: first)
      #expect(second.newestGeneration == first.newestGeneration)
      #expect(second.identity == first.identity)
      try first.close()
      try script.mirror.check(try second.view(), world, second.identity)
      try second.close()
      let third = try LogStore.open(at: url, model: world.model, options: .quick)
      try script.mirror.check(try third.view(), world, third.identity)
      try third.close()
    }
  }

  @Test func `a missing store is not created where creation is ruled out`() throws {
    try StorePlace.disk.use { url in
      let world = StoreWorld()
      for options in [LogStoreOptions(createsStore: false), LogStoreOptions(isReadOnly: true)] {
        let error = #expect(throws: HeartwoodError.self) {
          try LogStore.open(at: url, model: world.model, options: options)
        }
        #expect(error?.code == .persistentStoreOpen)
        #expect(error?.underlying != nil)
      }
      #expect(!FileManager.default.fileExists(atPath: url.path))
    }
  }

  @Test func `the model's record is decoded unchanged, and damaged bytes never cause a crash`() throws {
    let world = StoreWorld()
    try world.model.freeze()
    let record = try SchemaRecord(numbering: world.model)
    let bytes = record.encoded()
    #expect(try bytes.withUnsafeBytes { try SchemaRecord(decoding: $0) } == record)
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 0x81
      _ = damaged.withUnsafeBytes { try? SchemaRecord(decoding: $0) }
      _ = bytes[..<index].withUnsafeBytes { try? SchemaRecord(decoding: $0) }
    }
  }
}

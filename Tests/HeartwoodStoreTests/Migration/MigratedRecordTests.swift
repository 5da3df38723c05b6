import Foundation
import GraphTestSupport
import HeartwoodEngine
import TestSupport
import Testing

@testable import Heartwood

/// The record of the model of a migrated store, as bytes.
@Suite struct MigratedRecordTests {
  /// The record after two migrations, with rows of both former layouts.
  private func record() throws -> (ManagedObjectModel, [UInt8]) {
    let folder = try TemporaryFolder()
    func model(_ version: Int) -> ManagedObjectModel {
      let size = AttributeDescription(name: "size", type: [.integer16, .integer64, .string][version])
      let item = EntityDescription(name: "Item", properties: [size])
      if version > 0 {
        item.ownProperties.append(
          AttributeDescription(name: "note", type: .string, isOptional: false, defaultValue: "none"))
      }
      if version > 1 {
        size.isOptional = false
        size.defaultValue = "nothing"
        item.ownProperties.append(AttributeDescription(name: "id", type: .uuid))
      }
      let other = EntityDescription(name: "Before")
      return ManagedObjectModel(entities: version > 1 ? [item, other] : [item])
    }
    var last = model(0)
    for version in 0...2 {
      last = model(version)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: last)
      try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
      let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      _ = ManagedObject(entity: try #require(last.entitiesByName["Item"]), insertInto: context)
      try context.save()
      try coordinator.close()
    }
    let bytes = try LogStore.withEngine(at: folder.store, options: LogStoreOptions(isReadOnly: true)) {
      engine in
      try engine.snapshot().get(KeySpace.schemaKey)
    }
    return (last, try #require(bytes))
  }

  // MIG-19
  @Test func `the record of a migrated store is decoded unchanged, and damaged bytes never cause a crash`()
    throws
  {
    let (model, bytes) = try record()
    let decoded = try bytes.withUnsafeBytes { try SchemaRecord(decoding: $0) }
    #expect(bytes[0] == SchemaRecord.migratedFormat && decoded.isMigrated && decoded.encoded() == bytes)
    let item = try #require(decoded.entities.first { $0.name == "Item" })
    #expect(item.number == 1 && item.storage.former.count == 2)
    #expect(item.storage.former[0].columns.first?.kinds == [.int16, .int64, .string])
    let start = try #require(bytes.lastIndex(of: UInt8(ascii: "}")))
    var refused = 0
    for index in start..<bytes.count {
      for mask: UInt8 in [0x01, 0x81, 0xFF] {
        var damaged = bytes
        damaged[index] ^= mask
        do {
          let record = try damaged.withUnsafeBytes { try SchemaRecord(decoding: $0) }
          _ = try StoreSchema(model, record)
          _ = record.encoded()
        } catch { refused += 1 }
      }
      _ = bytes[..<index].withUnsafeBytes { try? SchemaRecord(decoding: $0) }
    }
    #expect(refused > 0)
  }
}

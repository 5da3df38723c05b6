import Foundation
import GraphTestSupport
import HeartwoodBytes
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Metadata of a store` {
  private typealias Key = PersistentStore.MetadataKey
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ url: URL? = nil) throws -> (PersistentContainer, PersistentStore) {
    let container = try PersistentContainer(
      name: "Library", types: libraryTypes, at: url ?? folder.store)
    return (container, try #require(container.persistentStoreCoordinator.persistentStores.first))
  }

  private static var noted: [String: Any] {
    [
      "text": "ä", "number": 7, "fraction": 0.5, "flag": true, "date": Date(timeIntervalSince1970: 1),
      "data": Data([1, 2]), "list": ["a", 2, [true]] as [Any], "nested": ["inner": ["x": 1]],
      "id": UUID(uuidString: "00000000-0000-0000-0000-000000000001") as Any,
    ]
  }

  private func isNoted(_ metadata: [String: Any]) -> Bool {
    let list = metadata["list"] as? [Any]
    return metadata["text"] as? String == "ä" && metadata["number"] as? Int == 7
      && metadata["fraction"] as? Double == 0.5 && metadata["flag"] as? Bool == true
      && metadata["date"] as? Date == Date(timeIntervalSince1970: 1)
      && metadata["data"] as? Data == Data([1, 2]) && list?[0] as? String == "a" && list?[1] as? Int == 2
      && list?[2] as? [Bool] == [true]
      && metadata["nested"] as? [String: [String: Int]] == ["inner": ["x": 1]]
      && (metadata["id"] as? UUID)?.uuidString.hasSuffix("1") == true
  }

  // PSC-07, T74
  @Test func `metadata is written with the next save, and not without one`() throws {
    let (lost, unsaved) = try open()
    try lost.persistentStoreCoordinator.setMetadata(Self.noted, for: unsaved)
    #expect(isNoted(try lost.persistentStoreCoordinator.metadata(for: unsaved)))
    try lost.close()

    let (container, store) = try open()
    let coordinator = container.persistentStoreCoordinator
    #expect(try coordinator.metadata(for: store)["text"] == nil)
    try coordinator.setMetadata(Self.noted, for: store)
    let context = container.newBackgroundContext()
    context.makeBook("1", "a")
    try context.save()
    try coordinator.setMetadata(["later": 1], for: store)
    try container.close()

    let (again, kept) = try open()
    #expect(isNoted(try kept.metadata))
    #expect(try kept.metadata["later"] == nil)
    #expect(try again.persistentStoreCoordinator.verify().findings == [])
    try again.close()
  }

  // PSC-07
  @Test func `a save that fails keeps metadata for the next one, also for one without changed objects`()
    throws
  {
    let (container, store) = try open()
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    context.makeBook("1", "a")
    try context.save()
    try coordinator.setMetadata(["version": 2], for: store)
    let twin = context.makeBook("1", "b")
    #expect(throws: HeartwoodError.self) { try context.save() }
    #expect(try PersistentStoreCoordinator.metadataForPersistentStore(at: folder.store)["version"] == nil)
    context.delete(twin)
    try context.save()
    #expect(
      try PersistentStoreCoordinator.metadataForPersistentStore(at: folder.store)["version"] as? Int == 2)
    try coordinator.setMetadata(nil, for: store)
    try context.save()
    #expect(try PersistentStoreCoordinator.metadataForPersistentStore(at: folder.store)["version"] == nil)
    try container.close()
  }

  // PSC-09
  @Test func `metadata has the store's own values, which cannot be changed`() throws {
    let model = try ManagedObjectModel(types: libraryTypes)
    model.versionIdentifiers = ["2", "10"]
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(at: folder.store)
    try coordinator.setMetadata([Key.storeUUID: "mine", "own": 1], for: store)
    let metadata = try coordinator.metadata(for: store)
    #expect(metadata["own"] as? Int == 1)
    #expect(metadata[Key.storeType] as? String == "Log")
    #expect(metadata[Key.storeUUID] as? String == store.identifier)
    #expect(metadata[Key.modelVersionHashes] as? [String: Data] == model.entityVersionHashesByName)
    #expect(metadata[Key.modelVersionIdentifiers] as? [String] == ["10", "2"])
    #expect(metadata[Key.modelVersionChecksum] as? String == model.versionChecksum)
    try coordinator.close()
    let closed = try PersistentStoreCoordinator.metadataForPersistentStore(at: folder.store)
    #expect(closed[Key.storeUUID] as? String == store.identifier)
    #expect(closed[Key.modelVersionChecksum] as? String == model.versionChecksum)
  }

  // PSC-08
  @Test func `metadata of a store that is not open is read and set without creating or altering data`() throws
  {
    #expect(throws: HeartwoodError.self) {
      try PersistentStoreCoordinator.metadataForPersistentStore(at: folder.store)
    }
    #expect(throws: HeartwoodError.self) {
      try PersistentStoreCoordinator.setMetadata(["a": 1], at: folder.store)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.store.path))
    let (container, _) = try open()
    let context = container.newBackgroundContext()
    context.makeBook("1", "a")
    try context.save()
    try container.close()
    try PersistentStoreCoordinator.setMetadata(["a": 1], at: folder.store)
    #expect(try PersistentStoreCoordinator.metadataForPersistentStore(at: folder.store)["a"] as? Int == 1)
    let (again, store) = try open()
    // Also beside a coordinator that has it open.
    try PersistentStoreCoordinator.setMetadata(["a": 2], at: folder.store)
    #expect(try store.metadata["a"] as? Int == 2)
    #expect(try again.newBackgroundContext().fetch(Book.self).map(\.isbn) == ["1"])
    #expect(try again.history().count == 1)
    try again.close()
  }

  @Test func `values that metadata cannot hold are refused by name, and a read-only store keeps its own`()
    throws
  {
    let (container, store) = try open()
    let error = heartwoodError {
      try container.persistentStoreCoordinator.setMetadata(["plain": 1, "odd": folder], for: store)
    }
    #expect(error?.message.contains("TemporaryFolder") == true && error?.message.contains("odd") == true)
    #expect(try store.metadata["plain"] == nil)
    try container.close()
    #expect(throws: HeartwoodError.self) {
      try container.persistentStoreCoordinator.setMetadata(["a": 1], for: store)
    }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    let reading = try coordinator.addPersistentStore(at: folder.store, options: [.readOnly: true])
    let refusal = heartwoodError { try coordinator.setMetadata(["a": 1], for: reading) }
    #expect(refusal?.code == .persistentStoreSave)
    try coordinator.close()
  }

  // PSC-09, T75
  @Test func `a copied store has the same identifier and metadata, and its URIs lead to its own objects`()
    throws
  {
    let (container, store) = try open()
    let coordinator = container.persistentStoreCoordinator
    try coordinator.setMetadata(["a": 1], for: store)
    let context = container.newBackgroundContext()
    let book = context.makeBook("1", "original")
    try context.save()
    let copy = folder.url.appending(path: "Copy.heartwood")
    try coordinator.backup(to: copy)
    book.title = "changed"
    try context.save()
    #expect(throws: HeartwoodError.self) { try coordinator.addPersistentStore(at: copy) }

    let (other, twin) = try open(copy)
    #expect(twin.identifier == store.identifier)
    #expect(try twin.metadata["a"] as? Int == 1)
    for (each, title) in [(container, "changed"), (other, "original")] {
      let id = try #require(
        each.persistentStoreCoordinator.managedObjectID(
          forURIRepresentation: book.objectID.uriRepresentation()))
      #expect(try (each.newBackgroundContext().existingObject(with: id) as? Book)?.title == title)
    }
    try other.close()
    try container.close()
  }

  @Test func `damaged metadata is an error, and a finding`() throws {
    let metadata = try StoreMetadata(Self.noted)
    let bytes = metadata.encoded()
    #expect(try bytes.withUnsafeBytes { try StoreMetadata(decoding: $0) } == metadata)
    for length in 0..<bytes.count {
      let error = heartwoodError {
        _ = try Array(bytes.prefix(length)).withUnsafeBytes { try StoreMetadata(decoding: $0) }
      }
      #expect(error?.code == .persistentStoreDamaged, "\(length) bytes")
    }
    // Deeper than any program can have set it.
    var deep: [UInt8] = [1, 1, 1, 0x61]
    for _ in 0..<100_000 { deep += [0x20, 1] }
    deep += [0]
    #expect(throws: HeartwoodError.self) { try deep.withUnsafeBytes { try StoreMetadata(decoding: $0) } }

    let (container, _) = try open()
    let store = try container.persistentStoreCoordinator.openStore()
    try store.engine.write { try $0.put(KeySpace.metadataKey, Array(bytes.dropLast())) }
    #expect(throws: HeartwoodError.self) { try store.metadata() }
    #expect(try container.persistentStoreCoordinator.verify().findings.count == 1)
    try container.close()
  }
}

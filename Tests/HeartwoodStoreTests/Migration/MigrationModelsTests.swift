import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Models that are found in files, and merged.
@Suite struct MigrationModelsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func model(_ names: [String], size: AttributeType = .integer64) -> ManagedObjectModel {
    ManagedObjectModel(
      entities: names.map {
        EntityDescription(name: $0, properties: [AttributeDescription(name: "size", type: size)])
      })
  }

  private func write(_ model: ManagedObjectModel, _ name: String) throws {
    try model.encodedDocument().write(to: folder.url.appending(path: name))
  }

  // MOD-02, MOD-05, MIG-03
  @Test func `the model of a store is found in folders, or put together from the models there`() throws {
    try write(model(["A", "B"], size: .string), "1.json")
    try write(model(["A"]), "2.json")
    try write(model(["B", "C"]), "3.json")
    try write(model(["Unread"]), "4.txt")
    try Data("{}".utf8).write(to: folder.url.appending(path: "5.json"))
    let models = try ManagedObjectModel.models(in: [folder.url, folder.url.appending(path: "4.txt")])
    #expect(models.map { $0.entities.count } == [2, 1, 2, 1])
    func metadata(_ model: ManagedObjectModel) throws -> [String: Any] {
      let url = folder.url.appending(path: "store-\(UUID().uuidString)")
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(with: PersistentStoreDescription(url: url))
      try coordinator.close()
      return try PersistentStoreCoordinator.metadataForPersistentStore(at: url)
    }
    func found(_ model: ManagedObjectModel) throws -> ManagedObjectModel? {
      try ManagedObjectModel.mergedModel(from: [folder.url], forStoreMetadata: metadata(model))
    }
    let whole = model(["A", "B"], size: .string)
    #expect(try found(whole)?.versionChecksum == whole.versionChecksum)
    let joined = model(["A", "B"])
    #expect(try found(joined)?.versionChecksum == joined.versionChecksum)
    #expect(try found(model(["A", "D"])) == nil)
    let reference = ManagedObjectModelReference(
      searching: [folder.url], versionChecksum: model(["B", "C"]).versionChecksum)
    #expect(try reference.resolvedModel.entitiesByName.keys.sorted() == ["B", "C"])
    let absent = ManagedObjectModelReference(searching: [folder.url], versionChecksum: joined.versionChecksum)
    #expect(heartwoodError { _ = try absent.resolvedModel }?.code == .stagedMigrationModelReference)
    let none = folder.url.appending(path: "5.json")
    #expect(heartwoodError { _ = try ManagedObjectModel(contentsOf: none) }?.code == .coreData)
    #expect(
      heartwoodError { _ = try ManagedObjectModel.models(in: [none]) }?.message.contains("5.json") == true)
  }

  // MOD-02, MOD-05, MIG-02, MIG-03, MIG-23
  @Test func `models and mapping models are found in the resources of bundles`() throws {
    let (first, second) = (model(["A"], size: .string), model(["A"]))
    try write(first, "1.json")
    try write(second, "2.json")
    let mapping = EntityMapping(from: "A", to: "A")
    (mapping.sourceEntityVersionHash, mapping.destinationEntityVersionHash) = (
      first.entityVersionHashesByName["A"], second.entityVersionHashesByName["A"]
    )
    try MappingModel(entityMappings: [mapping]).encodedDocument().write(
      to: folder.url.appending(path: "3.json"))
    let bundle = try #require(Bundle(url: folder.url))
    let metadata = [PersistentStore.MetadataKey.modelVersionHashes: second.entityVersionHashesByName]
    let found = try ManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata)
    #expect(found?.versionChecksum == second.versionChecksum)
    #expect(
      MappingModel.mappingModel(from: [bundle], forSourceModel: first, destinationModel: second)?
        .entityMappings.map(\.name) == ["A->A"])
    #expect(
      MappingModel.mappingModel(from: [bundle], forSourceModel: second, destinationModel: first) == nil)
    let reference = ManagedObjectModelReference(
      name: "1", in: bundle, versionChecksum: first.versionChecksum)
    #expect(try reference.resolvedModel.versionChecksum == first.versionChecksum)
    let absent = ManagedObjectModelReference(name: "9", in: bundle, versionChecksum: first.versionChecksum)
    #expect(heartwoodError { _ = try absent.resolvedModel }?.code == .stagedMigrationModelReference)
    #expect(heartwoodError { _ = try ManagedObjectModel.mergedModel(from: [bundle]) }?.code == .coreData)
    try FileManager.default.removeItem(at: folder.url.appending(path: "1.json"))
    #expect(
      try ManagedObjectModel.mergedModel(from: [bundle]).versionChecksum == second.versionChecksum)
  }

  // MIG-01, MIG-29, PSC-08
  @Test func `the model and the metadata of a store whose program was killed are those that it recovers to`()
    throws
  {
    let (first, second) = (model(["A"]), model(["A", "B"]))
    func open(_ model: ManagedObjectModel, _ url: URL, isReadOnly: Bool = false) throws
      -> PersistentStoreCoordinator
    {
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      let description = PersistentStoreDescription(url: url)
      description.isReadOnly = isReadOnly
      try coordinator.addPersistentStore(with: description)
      return coordinator
    }
    // A program that has the store open keeps the migration from being proven by an orderly end.
    let running = try open(first, folder.store)
    try PersistentStoreCoordinator.migrateStore(at: folder.store, to: second)
    // The files that a killed program leaves.
    let copy = folder.url.appending(path: "copy")
    try FileManager.default.copyItem(at: folder.store, to: copy)
    func files() throws -> [String: Data] {
      let names = try FileManager.default.contentsOfDirectory(atPath: copy.path)
      return try Dictionary(
        uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: copy.appending(path: $0))) })
    }
    let before = try files()
    func checksum(_ options: PersistentStore.Options? = nil) throws -> String {
      try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: copy, options: options).versionChecksum
    }
    #expect(try checksum() == second.versionChecksum)
    #expect(try checksum([PersistentStore.OptionKey.readOnly: true]) == second.versionChecksum)
    func hashes(_ options: PersistentStore.Options? = nil) throws -> [String: Data]? {
      let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: copy, options: options)
      return metadata[PersistentStore.MetadataKey.modelVersionHashes] as? [String: Data]
    }
    #expect(try hashes() == second.entityVersionHashesByName)
    // A read-only opening shows what the store recovers to, and changes nothing.
    #expect(try hashes([PersistentStore.OptionKey.readOnly: true]) == second.entityVersionHashesByName)
    try open(second, copy, isReadOnly: true).close()
    #expect(try files() == before)
    try open(second, copy).close()
    #expect(try hashes([PersistentStore.OptionKey.readOnly: true]) == second.entityVersionHashesByName)
    try running.close()
  }

  private final class Note: ManagedObject {}

  // MOD-04
  @Test func `models are merged, with their classes, and entities of one name must be the same`() throws {
    let first = model(["A", "B"])
    first.versionIdentifiers = ["one"]
    first.entitiesByName["A"]?.managedObjectClass = Note.self
    let merged = try ManagedObjectModel(byMerging: [first, model(["B", "C"])])
    #expect(merged.entitiesByName.keys.sorted() == ["A", "B", "C"] && merged.versionIdentifiers == ["one"])
    let coordinator = PersistentStoreCoordinator(managedObjectModel: merged)
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let note = Note(context: context)
    note.setValue(3, forKey: "size")
    try context.save()
    #expect(note.entity.name == "A")
    try coordinator.close()
    let error = heartwoodError {
      _ = try ManagedObjectModel(byMerging: [first, model(["B"], size: .string)])
    }
    #expect(error?.code == .coreData && error?.message.contains("an entity B, and these differ") == true)
    try write(model(["X"]), "x.json")
    #expect(try ManagedObjectModel.mergedModel(from: [folder.url]).entitiesByName.keys.sorted() == ["X"])
  }
}

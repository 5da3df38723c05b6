import Foundation
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
